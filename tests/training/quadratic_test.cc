// The quadratic model against its closed forms: the optimum, the loss SGD settles at, and how fast
// replicas come together when nothing but averaging happens.
#include "training/quadratic.h"

#include <doctest/doctest.h>

#include <cmath>

#include "policies/registry.h"
#include "tests/training/random_batch.h"
#include "training/idle_run.h"
#include "training/mixing.h"
#include "training/worker_training.h"

namespace cohort {
namespace {

const Dataset kNoData{};

TEST_CASE("quadratic: eigenvalues run from 1 to the reciprocal of the condition number") {
  const auto values = eigenvalues({.dimensions = 3, .condition_number = 100});
  CHECK(values[0] == 1);
  CHECK(values[1] == doctest::Approx(0.1));
  CHECK(values[2] == doctest::Approx(0.01));
}

TEST_CASE("quadratic: without noise SGD finds the optimum, where the loss is 0") {
  const auto model = make_quadratic<double>({.noise_variance = 0});
  auto x = test::initial_parameters(*model);
  const Batch<double> batch{.size = 1};
  std::vector<double> gradient(x.size());
  CHECK(model->evaluate(x, batch).loss_sum > 1);
  for (int step = 0; step < 1000; ++step) {
    (void)model->gradient(x, batch, gradient);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] -= gradient[i];
  }
  CHECK(model->evaluate(x, batch).loss_sum < 1e-20);
}

TEST_CASE("quadratic: the noise is another at each worker and step, with the stated variance") {
  const auto model = make_quadratic<double>({.dimensions = 2000, .noise_variance = 8});
  const auto x = test::initial_parameters(*model);
  std::vector<double> one(x.size()), other(x.size());
  (void)model->gradient(x, {.size = 2, .worker = WorkerId{0}}, one);
  for (const auto& batch : {Batch<double>{.size = 2, .worker = WorkerId{1}},
                            Batch<double>{.size = 2, .worker = WorkerId{0}, .step = 1}}) {
    (void)model->gradient(x, batch, other);
    double squares = 0;
    for (std::size_t i = 0; i < x.size(); ++i) squares += std::pow(one[i] - other[i], 2);
    // Twice 8 / 2; relative deviation of the sum sqrt(2 / 2000), three of them.
    CHECK(squares / 2000 == doctest::Approx(8).epsilon(0.1));
  }
}

// Mean loss of the mean model over the second part of a run of all-reduce.
double settled_loss(const QuadraticOptions& options, const SgdOptions& sgd, std::uint32_t workers) {
  constexpr std::uint64_t kSettling = 3000, kSteps = 40000;
  const TrainingTask task({.model = options, .batch = 4, .sgd = sgd}, kNoData, workers, 11);
  Trainer<double> trainer(task);
  std::vector<double> x(trainer.parameters()), sum(x.size());
  trainer.initialise(x);
  std::vector<WorkerTraining<double>> all;
  for (std::uint32_t w = 0; w < workers; ++w) all.emplace_back(task, WorkerId{w}, x.size());
  double total = 0;
  for (std::uint64_t step = 0; step < kSettling + kSteps; ++step) {
    std::ranges::fill(sum, 0);
    for (auto& worker : all) {
      (void)worker.compute(trainer, x, step);
      for (std::size_t i = 0; i < x.size(); ++i) sum[i] += worker.gradient()[i] / workers;
    }
    std::ranges::copy(sum, all[0].gradient().begin());
    all[0].apply(x, 0);
    if (step >= kSettling) total += trainer.evaluate(x, kNoData.test).loss_sum;
  }
  return total / kSteps;
}

// The loss is correlated over about 1 / (rate * smallest eigenvalue) = 50 steps: 800 independent
// values of a sum of 16 squares, relative deviation below 1.5 %; three of them.
constexpr double kTolerance = 0.045;

TEST_CASE("quadratic: all-reduce settles at the closed form of the stationary loss") {
  const QuadraticOptions options{.dimensions = 16, .noise_variance = 2};
  CHECK(settled_loss(options, {.learning_rate = 0.2}, 4) ==
        doctest::Approx(stationary_loss(options, 0.2, 0, 2.0 / (4 * 4))).epsilon(kTolerance));
}

TEST_CASE("quadratic: momentum settles at its closed form too") {
  const QuadraticOptions options{.dimensions = 16, .noise_variance = 2};
  CHECK(settled_loss(options, {.learning_rate = 0.1, .momentum = 0.5}, 1) ==
        doctest::Approx(stationary_loss(options, 0.1, 0.5, 2.0 / 4)).epsilon(kTolerance));
}

// One row per worker: the parameters of its quadratic model, drawn from a seed of its own.
MixingMatrix different_replicas(std::uint32_t workers) {
  const auto model = make_quadratic<double>({});
  MixingMatrix replicas(workers, static_cast<Eigen::Index>(model->parameters()));
  for (std::uint32_t w = 0; w < workers; ++w) {
    const auto x = test::initial_parameters(*model, w);
    for (std::size_t i = 0; i < x.size(); ++i) replicas(w, static_cast<Eigen::Index>(i)) = x[i];
  }
  return replicas;
}

double squared_distance(const MixingMatrix& replicas) {
  return (replicas.rowwise() - replicas.colwise().mean()).squaredNorm();
}

MixingMatrix group(std::uint32_t workers, const std::vector<std::uint32_t>& members) {
  std::vector<Member> all;
  for (const auto w : members)
    all.push_back({WorkerId{w}, Role::Blocking, 1.0 / static_cast<double>(members.size())});
  return mixing_matrix(workers, SyncKind::GroupMean, all);
}

// What the policy's own object starts while everybody is idle, as one matrix.
MixingMatrix rounds_of(const std::string& policy, std::uint32_t nodes, std::uint32_t per_node,
                       std::uint32_t rounds) {
  const Topology topology(nodes, per_node);
  const auto* entry = find_policy(policy);
  REQUIRE(entry != nullptr);
  const auto object = make_policy(*entry, resolve(*entry, {}), topology, 1);
  const auto n = topology.workers();
  MixingMatrix product = MixingMatrix::Identity(n, n);
  for (const auto& round : idle_run(*object, topology, rounds)) {
    MixingMatrix w = MixingMatrix::Identity(n, n);
    for (const auto& sync : round) {
      const auto one = mixing_matrix(n, sync.kind, sync.members);
      if (sync.kind == SyncKind::NeighbourMix) {
        w.row(index(sync.members.front().worker)) = one.row(index(sync.members.front().worker));
      } else {
        w = one * w;
      }
    }
    product = w * product;
  }
  return product;
}

// Replicas that lie in the direction which the product shrinks least.
MixingMatrix slowest_replicas(const MixingMatrix& product) {
  const auto n = product.rows();
  const MixingMatrix square =
      product.transpose() * product - MixingMatrix::Constant(n, n, 1.0 / static_cast<double>(n));
  MixingMatrix direction = different_replicas(static_cast<std::uint32_t>(n)).leftCols(1);
  direction.array() -= direction.mean();
  for (int i = 0; i < 2000; ++i) direction = (square * direction).normalized();
  return direction;
}

TEST_CASE("consensus: one all-reduce brings different replicas together") {
  const auto start = different_replicas(16);
  const MixingMatrix mixed = rounds_of("all-reduce", 4, 4, 1) * start;
  CHECK(squared_distance(mixed) < 1e-24 * squared_distance(start));
  CHECK((mixed.colwise().mean() - start.colwise().mean()).norm() < 1e-13);
}

TEST_CASE("consensus: a uniform pair keeps (n-2)/(n-1) of the squared distance in the mean") {
  constexpr std::uint32_t kWorkers = 8;
  const auto start = different_replicas(kWorkers);
  double sum = 0;
  for (std::uint32_t a = 0; a < kWorkers; ++a)
    for (std::uint32_t b = 0; b < a; ++b) sum += squared_distance(group(kWorkers, {a, b}) * start);
  CHECK(sum / (kWorkers * (kWorkers - 1) / 2) ==
        doctest::Approx(uniform_pair_rate(kWorkers) * squared_distance(start)).epsilon(1e-12));
}

TEST_CASE("consensus: a D-PSGD ring shrinks at its rate in the slowest direction, faster else") {
  const auto ring = rounds_of("d-psgd", 16, 1, 1);
  const auto slow = slowest_replicas(ring);
  CHECK(squared_distance(ring * slow) ==
        doctest::Approx(ring_mix_rate(16) * squared_distance(slow)).epsilon(1e-9));
  const auto start = different_replicas(16);
  CHECK(squared_distance(ring * start) < ring_mix_rate(16) * squared_distance(start));
}

TEST_CASE("consensus: a period of the static schedule shrinks at 27/64 in the slowest direction") {
  const auto period = rounds_of("static", 4, 4, 4);
  const auto slow = slowest_replicas(period);
  CHECK(squared_distance(period * slow) ==
        doctest::Approx(27.0 / 64 * squared_distance(slow)).epsilon(1e-9));
  const auto start = different_replicas(16);
  CHECK(squared_distance(period * start) < 27.0 / 64 * squared_distance(start));
}

}  // namespace
}  // namespace cohort
