// A training step allocates nothing once warm. Counted: malloc, aligned_alloc and posix_memalign of
// the whole program, libraries included; they stand in for glibc's and lead there.
#include <doctest/doctest.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <vector>

#include "training/synthetic.h"
#include "training/worker_training.h"

namespace {

std::atomic<std::uint64_t> allocations{0};

}  // namespace

extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  *memory = aligned_alloc(alignment, size);
  return *memory == nullptr ? ENOMEM : 0;
}
}

namespace cohort {
namespace {

// In steps 2 to 7, which begin a second epoch, with an evaluation in each.
template <typename T>
std::uint64_t allocations_when_warm(const ModelOptions& model) {
  const auto set = make_synthetic({.side = 28, .training_samples = 6 * 32, .test_samples = 40});
  const TrainingTask task({.model = model, .sgd = {.momentum = 0.9, .weight_decay = 1e-4}}, set, 1,
                          1);
  Trainer<T> trainer(task);
  std::vector<T> x(trainer.parameters());
  trainer.initialise(x);
  WorkerTraining<T> worker(task, WorkerId{0}, x.size());
  std::uint64_t before = 0;
  for (std::uint64_t step = 0; step < 8; ++step) {
    if (step == 2) before = allocations;
    (void)worker.compute(trainer, x, step);
    worker.apply(x, step * 32);
    (void)trainer.evaluate(x, set.test);
  }
  return allocations - before;
}

TEST_CASE("allocation: the counter sees a vector") {
  const auto before = allocations.load();
  const std::vector<int> seen(1000);
  CHECK(allocations > before);
}

TEST_CASE("allocation: no step of any model allocates once warm") {
  CHECK(allocations_when_warm<float>(QuadraticOptions{}) == 0);
  CHECK(allocations_when_warm<float>(SoftmaxOptions{}) == 0);
  CHECK(allocations_when_warm<float>(MlpOptions{{256}}) == 0);
  CHECK(allocations_when_warm<float>(MlpOptions{{1500, 40}}) == 0);
  CHECK(allocations_when_warm<float>(CnnOptions{}) == 0);
}

TEST_CASE("allocation: nor in double precision") {
  CHECK(allocations_when_warm<double>(MlpOptions{{600}}) == 0);
  CHECK(allocations_when_warm<double>(CnnOptions{}) == 0);
}

}  // namespace
}  // namespace cohort
