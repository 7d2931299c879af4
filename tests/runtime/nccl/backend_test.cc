#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <string>

#include "policies/errors.h"
#include "runtime/nccl_module.h"
#include "tests/runtime/nccl/ranks.h"

namespace cohort {
namespace {

using Clock = std::chrono::steady_clock;

std::string refusal(const std::string& module) {
  try {
    (void)load_nccl_backend(module, {});
  } catch (const EnvironmentError& error) {
    return error.what();
  }
  return "none";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Set for one test case.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    ::setenv(name, value.c_str(), 1);
  }
  ~Variable() { ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

}  // namespace

TEST_CASE("nccl backend: it says its name and which GPU it is on") {
  const auto backend = load_nccl_backend(stand_in_module(), {.rank = 5, .local_rank = 3});
  CHECK(backend->name() == "nccl");
  CHECK(backend->device() == "0000:03:00.0 00000000000000000000000000000003");
}

TEST_CASE("nccl backend: ranks beyond the number of GPUs start again at the first") {
  const Variable gpus("COHORT_STAND_IN_GPUS", "2");
  const auto backend = load_nccl_backend(stand_in_module(), {.rank = 2, .local_rank = 2});
  CHECK(backend->device().starts_with("0000:00:00.0 "));
}

TEST_CASE("nccl backend: without a GPU it is refused, and by which rank") {
  const Variable gpus("COHORT_STAND_IN_GPUS", "0");
  CHECK(contains(refusal(stand_in_module()), "rank 0 finds no GPU on its host"));
}

TEST_CASE("nccl backend: NCCL refuses two ranks on one GPU, unless sharing is meant") {
  for (const bool shared : {false, true}) {
    CAPTURE(shared);
    const auto complaints = run_ranks(2, [&](const Rank& rank) {
      const auto backend = load_nccl_backend(
          stand_in_module(), {.rank = rank.rank, .local_rank = 0, .share_gpus = shared});
      finish(*Rank{rank.rank, 2, *backend, rank.board}.create(1, 0, {0, 1}));
    });
    CHECK(complaints.empty() == shared);
  }
}

TEST_CASE("nccl backend: the variable names the module where the caller does not") {
  const Variable named("COHORT_NCCL_MODULE", stand_in_module());
  CHECK(load_nccl_backend("", {})->name() == "nccl");
}

TEST_CASE("nccl backend: a module that is not there is named") {
  CHECK(refusal("/nowhere/module.so") == "the nccl backend /nowhere/module.so does not exist");
}

TEST_CASE("nccl backend: a file that is no module is refused with the loader's words") {
  const auto text = refusal("/proc/self/exe");
  CHECK(contains(text, "cannot be loaded: "));
}

TEST_CASE("nccl backend: communicators that take long to make stand in the end") {
  CHECK(run_ranks(2,
                  [](const Rank& rank) {
                    finish(*rank.create(1, 0, {0, 1}));
                  },
                  {{"COHORT_STAND_IN_INIT_MS", "100"}}) == "");
}

TEST_CASE("nccl backend: emulated compute lasts at least as long as it is told") {
  const auto backend = load_nccl_backend(stand_in_module(), {});
  const auto step = backend->emulated_step();
  message::Prepare prepare;
  prepare.workers = 1;
  prepare.entries = 8;
  Replica replica(prepare, backend->vectors());
  const auto begin = Clock::now();
  CHECK(step->compute(replica, 1, std::chrono::milliseconds(30)));
  // Half a product less, and products may have been measured slow on a loaded machine.
  CHECK(Clock::now() - begin > std::chrono::milliseconds(15));
}

}  // namespace cohort
