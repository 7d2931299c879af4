// Averages alone: what synchronisations make of replicas, against mixing matrices and the rates of
// SEMANTICS 4; no gradient is taken.
#include "sim/replicas.h"

#include <doctest/doctest.h>

#include <cmath>
#include <unordered_map>

#include "policies/random.h"
#include "tests/sim/training_runs.h"
#include "training/idle_run.h"
#include "training/mixing.h"

namespace cohort {
namespace {

void draw(std::span<double> numbers, std::uint32_t worker, std::uint64_t step) {
  Stream stream(7, Purpose::Failure, worker, step);
  for (auto& number : numbers) number = stream.normal();
}

// Replicas that begin unequal.
class Unequal {
 public:
  Unequal(std::uint32_t workers, std::size_t parameters, bool publish = false)
      : workers_(workers),
        rows_(parameters),
        replicas_({.workers = workers, .parameters = parameters, .publish = publish}, rows_,
                  rows_.take()) {
    for (std::uint32_t w = 0; w < workers; ++w) {
      const auto row = rows_.take();
      draw(row->writable(), w, 1'000'000);
      replicas_.set(WorkerId{w}, row);
    }
  }

  Replicas<double>& replicas() { return replicas_; }
  [[nodiscard]] std::span<const double> of(std::uint32_t worker) const {
    return replicas_.of(WorkerId{worker})->numbers();
  }
  // Something is learned.
  void change(std::uint32_t worker, std::uint64_t step) {
    std::vector<double> learned(rows_.length());
    draw(learned, worker, step);
    const auto row = rows_.take();
    for (std::size_t i = 0; i < learned.size(); ++i)
      row->writable()[i] = of(worker)[i] + learned[i];
    replicas_.set(WorkerId{worker}, row);
  }
  [[nodiscard]] std::vector<double> mean() const {
    std::vector<double> mean(rows_.length());
    for (std::uint32_t w = 0; w < workers_; ++w)
      for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += of(w)[i] / workers_;
    return mean;
  }
  [[nodiscard]] double distance() const {
    const auto centre = mean();
    double sum = 0;
    for (std::uint32_t w = 0; w < workers_; ++w)
      sum += squared_distance(of(w), std::span<const double>(centre));
    return sum;
  }

 private:
  std::uint32_t workers_;
  RowPool<double> rows_;
  Replicas<double> replicas_;
};

// Drives replicas by the events and actions of a run; each worker learns something in each step.
class Follow final : public ActionLog {
 public:
  Follow(Unequal& unequal, std::uint32_t workers)
      : unequal_(unequal), expected_(unequal.mean()), workers_(workers) {}

  void record(const Event& event, const Actions& actions) override {
    if (event.kind == EventKind::WorkerReady) learn(index(event.worker), event.step);
    if (event.kind == EventKind::SyncDone) {
      const auto& start = live_.at(index(event.sync));
      (void)unequal_.replicas().synchronise(start.kind, start.step, start.members);
      mixes_ = mixes_ || start.kind == SyncKind::NeighbourMix;
      if (!mixes_) check_mean();
    }
    for (const auto& action : actions.all()) {
      if (action.kind == ActionKind::Start) {
        const auto members = actions.members(action);
        live_[index(action.sync)] = {
            action.sync_kind, action.step, {members.begin(), members.end()}};
      } else if (action.kind == ActionKind::Release && action.snapshot) {
        unequal_.replicas().snapshot(action.worker);
      }
    }
  }

  void check_mean() {
    const auto mean = unequal_.mean();
    double largest = 0;
    for (std::size_t i = 0; i < mean.size(); ++i)
      largest = std::max(largest, std::abs(mean[i] - expected_[i]));
    CHECK(largest < 1e-12);
    ++checks_;
  }
  [[nodiscard]] std::uint32_t checks() const { return checks_; }

 private:
  void learn(std::uint32_t worker, std::uint64_t step) {
    unequal_.change(worker, step);
    unequal_.replicas().ready(WorkerId{worker}, step);
    std::vector<double> learned(expected_.size());
    draw(learned, worker, step);
    for (std::size_t i = 0; i < learned.size(); ++i) expected_[i] += learned[i] / workers_;
  }

  Unequal& unequal_;
  std::vector<double> expected_;
  std::uint32_t workers_;
  std::unordered_map<std::uint64_t, IdleSync> live_;
  bool mixes_ = false;
  std::uint32_t checks_ = 0;
};

TEST_CASE("replicas: every policy in every form keeps the mean of what all have learned") {
  for (const auto& choice : averaging_choices()) {
    auto scenario = scenario_of(2, 4, choice);
    scenario.stragglers = {{.model = Bernoulli{.probability = 0.2, .factor = 3}},
                           {.model = Lognormal{.sigma = 0.1}}};
    scenario.stop.steps_per_worker = 20;
    CAPTURE(scenario.label);
    Unequal unequal(8, 5, true);
    Follow follow(unequal, 8);
    (void)simulate(scenario, {.log = &follow});
    follow.check_mean();  // of neighbour mixes, once all readers of a step are through
    CHECK(follow.checks() > (choice.kind == "d-psgd" ? 0 : 15));
  }
}

TEST_CASE("replicas: every policy does what its mixing matrices say") {
  for (const auto& choice : averaging_choices()) {
    if (in_background(choice)) continue;  // the same matrices, later
    const auto scenario = scenario_of(2, 4, choice);
    CAPTURE(scenario.label);
    const Topology topology(2, 4);
    const auto policy = make_policy(*scenario.policy, scenario.options, topology, 1);
    Unequal unequal(8, 3, true);
    MixingMatrix x(8, 3);
    const auto read = [&](std::uint32_t w) {
      for (std::uint32_t i = 0; i < 3; ++i) x(w, i) = unequal.of(w)[i];
    };
    for (std::uint32_t w = 0; w < 8; ++w) read(w);
    for (const auto& round : idle_run(*policy, topology, 6)) {
      MixingMatrix published = x;
      for (std::uint32_t w = 0; w < 8; ++w)
        unequal.replicas().ready(WorkerId{w}, round.empty() ? 0 : round.front().step);
      for (const auto& sync : round) {
        const MixingMatrix mixed = mixing_matrix(8, sync.kind, sync.members) *
                                   (sync.kind == SyncKind::NeighbourMix ? published : x);
        if (sync.kind == SyncKind::NeighbourMix) {
          x.row(index(sync.members.front().worker)) = mixed.row(index(sync.members.front().worker));
        } else {
          x = mixed;
        }
        (void)unequal.replicas().synchronise(sync.kind, sync.step, sync.members);
      }
      for (std::uint32_t w = 0; w < 8; ++w)
        for (std::uint32_t i = 0; i < 3; ++i)
          CHECK(unequal.of(w)[i] == doctest::Approx(x(w, i)).epsilon(1e-12));
    }
  }
}

// Mean over seeds of how the squared consensus distance shrinks in `rounds` common readies, from
// replicas that differ in all directions.
double decay(const Choice& choice, std::uint32_t nodes, std::uint32_t gpus, std::uint32_t rounds) {
  const auto scenario = scenario_of(nodes, gpus, choice);
  const Topology topology(nodes, gpus);
  constexpr std::uint64_t kSeeds = 5;
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const auto policy = make_policy(*scenario.policy, scenario.options, topology, seed);
    Unequal unequal(topology.workers(), 4000, true);
    const double before = unequal.distance();
    for (const auto& round : idle_run(*policy, topology, rounds)) {
      for (std::uint32_t w = 0; w < topology.workers(); ++w)
        unequal.replicas().ready(WorkerId{w}, round.empty() ? 0 : round.front().step);
      for (const auto& sync : round)
        (void)unequal.replicas().synchronise(sync.kind, sync.step, sync.members);
    }
    sum += unequal.distance() / before;
  }
  return sum / kSeeds;
}

TEST_CASE("replicas: an all-reduce leaves no distance") {
  CHECK(decay({"all-reduce"}, 4, 4, 1) < 1e-28);
}

TEST_CASE("replicas: a division into groups brings replicas together at its mixing rate") {
  const Choice choice{"smart", {{"inter_intra", false}, {"group_size", std::int64_t{4}}}};
  CHECK(decay(choice, 4, 4, 1) == doctest::Approx(division_rate(16, 4)).epsilon(0.02));
}

TEST_CASE("replicas: an inter and an intra phase bring them together at theirs") {
  CHECK(decay({"smart"}, 4, 4, 2) <= inter_intra_rate(4) * 1.02);
}

TEST_CASE("replicas: a period of the static schedule shrinks the distance at least by its rate") {
  CHECK(decay({"static"}, 4, 4, 4) <= 27.0 / 64);
}

TEST_CASE("replicas: d-psgd on a ring shrinks the distance at least by its rate") {
  CHECK(decay({"d-psgd"}, 4, 4, 1) <= ring_mix_rate(16));
}

TEST_CASE("replicas: d-psgd shrinks its slowest mode exactly by its rate") {
  constexpr std::uint32_t kWorkers = 16;
  const auto scenario = scenario_of(4, 4, {"d-psgd"});
  const Topology topology(4, 4);
  const auto policy = make_policy(*scenario.policy, scenario.options, topology, 1);
  Unequal unequal(kWorkers, 1, true);
  RowPool<double> rows(1);
  for (std::uint32_t w = 0; w < kWorkers; ++w) {
    const auto row = rows.take();
    row->writable()[0] = std::cos(2 * 3.14159265358979323846 * w / kWorkers);
    unequal.replicas().set(WorkerId{w}, row);
  }
  const double before = unequal.distance();
  for (const auto& round : idle_run(*policy, topology, 1)) {
    for (std::uint32_t w = 0; w < kWorkers; ++w) unequal.replicas().ready(WorkerId{w}, 0);
    for (const auto& sync : round)
      (void)unequal.replicas().synchronise(sync.kind, sync.step, sync.members);
  }
  CHECK(unequal.distance() == doctest::Approx(ring_mix_rate(16) * before).epsilon(1e-9));
  for (std::uint32_t w = 0; w < kWorkers; ++w) unequal.replicas().forget(WorkerId{w});
}

TEST_CASE("replicas: forwarders and sources keep theirs") {
  Unequal unequal(3, 4, true);
  const std::vector<double> before(unequal.of(2).begin(), unequal.of(2).end());
  const std::vector<Member> group{{WorkerId{0}, Role::Blocking, 0.5},
                                  {WorkerId{1}, Role::Blocking, 0.5},
                                  {WorkerId{2}, Role::Forwarder, 0}};
  const auto distances = unequal.replicas().synchronise(SyncKind::GroupMean, 0, group);
  CHECK(std::ranges::equal(unequal.of(2), before));
  CHECK(std::ranges::equal(unequal.of(0), unequal.of(1)));
  CHECK(distances[0] == doctest::Approx(distances[1]));
  CHECK(distances[2] ==
        doctest::Approx(squared_distance(unequal.of(2), unequal.of(0))).epsilon(1e-12));
}

TEST_CASE("replicas: weights count") {
  Unequal unequal(2, 4);
  const std::vector<double> a(unequal.of(0).begin(), unequal.of(0).end()),
      b(unequal.of(1).begin(), unequal.of(1).end());
  const std::vector<Member> group{{WorkerId{0}, Role::Blocking, 0.75},
                                  {WorkerId{1}, Role::Blocking, 0.25}};
  (void)unequal.replicas().synchronise(SyncKind::GroupMean, 0, group);
  for (std::size_t i = 0; i < 4; ++i)
    CHECK(unequal.of(1)[i] == doctest::Approx(0.75 * a[i] + 0.25 * b[i]));
}

TEST_CASE("replicas: who holds a row keeps its numbers when the replica changes") {
  Unequal unequal(2, 4);
  const auto held = unequal.replicas().of(WorkerId{0});
  const std::vector<double> before(held->numbers().begin(), held->numbers().end());
  const std::vector<Member> pair{{WorkerId{0}, Role::Blocking, 0.5},
                                 {WorkerId{1}, Role::Passive, 0.5}};
  (void)unequal.replicas().synchronise(SyncKind::PairMean, 0, pair);
  CHECK(std::ranges::equal(held->numbers(), before));
  CHECK_FALSE(std::ranges::equal(unequal.of(0), before));
}

}  // namespace
}  // namespace cohort
