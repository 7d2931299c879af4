// Models on the device, by the code that runs on a GPU, on its test double.
#include <doctest/doctest.h>

#include <cmath>

#include "runtime/nccl_module.h"
#include "tests/runtime/nccl/device_comparison.h"
#include "tests/runtime/nccl/ranks.h"

namespace cohort {

TEST_CASE("nccl models: loss and gradient of each are the host's") {
  const auto backend = load_nccl_backend(stand_in_module(), {});
  for (const auto& [name, plan] : small_plans()) {
    CAPTURE(name);
    const auto found = compare_with_host(plan, *backend, 1);
    CHECK(found.loss < 1e-5);
    CHECK(found.gradient < 1e-5);
  }
}

TEST_CASE(
    "nccl models: after twenty steps, with momentum and decay, the parameters are the host's") {
  const auto backend = load_nccl_backend(stand_in_module(), {});
  for (const auto& [name, plan] : small_plans()) {
    CAPTURE(name);
    CHECK(compare_with_host(plan, *backend, 20).parameters < 1e-5);
  }
}

TEST_CASE("nccl models: without momentum, too, and with or without decay") {
  const auto backend = load_nccl_backend(stand_in_module(), {});
  auto plan = small_plans().front().plan;
  plan.training.sgd.momentum = 0;
  for (const double decay : {0.0, 0.1}) {
    CAPTURE(decay);
    plan.training.sgd.weight_decay = decay;
    CHECK(compare_with_host(plan, *backend, 20).parameters < 1e-5);
  }
}

TEST_CASE("nccl models: parameters that are not finite give a loss that is not") {
  const auto backend = load_nccl_backend(stand_in_module(), {});
  auto& unit = backend->vectors();
  const std::vector<std::uint32_t> samples{0, 1, 2, 3, 4, 5, 6};
  for (const auto& [name, plan] : small_plans()) {
    CAPTURE(name);
    const auto model = backend->model(plan);
    const std::vector<float> values(1 << 16, NAN);
    const Buffer parameters(unit, values.size());
    const Buffer gradient(unit, values.size());
    unit.write(values, parameters.entries());
    model->follow();
    CHECK_FALSE(std::isfinite(
        model->gradient(parameters.entries(), {.samples = samples}, gradient.entries())));
  }
}

TEST_CASE("nccl models: a kernel that fails names rank and GPU") {
  const auto complaints = run_ranks(2,
                                    [](const Rank& rank) {
                                      const auto plan = small_plans().front().plan;
                                      static_cast<void>(compare_with_host(plan, rank.backend, 1));
                                    },
                                    {{"COHORT_STAND_IN_FAIL", "1:for_each:1:error"}});
  CHECK(complaints.starts_with("rank 1: a kernel failed on rank 1, GPU 0000:01:00.0 ("));
}

}  // namespace cohort
