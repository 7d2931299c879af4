// Expansion of sweeps, --set, and what a sweep leaves in its directory.
#include "experiments/sweep.h"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <set>

#include "experiments/setting.h"
#include "experiments/sweep_plan.h"
#include "policies/errors.h"
#include "tests/experiments/base_spec.h"

namespace cohort {
namespace {

using testing::base_spec;
using testing::content;
using testing::TemporaryDirectory;

Experiment experiment_of(const TemporaryDirectory& directory, const Json& document,
                         const std::vector<std::string>& sets = {}) {
  return Experiment(directory.write("spec.json", document.dump()), sets);
}

std::string refusal_of_sweep(const Json& sweep, const std::vector<std::string>& sets = {}) {
  const TemporaryDirectory directory;
  auto document = base_spec();
  document["sweep"] = sweep;
  try {
    const auto experiment = experiment_of(directory, document, sets);
    static_cast<void>(plan_rows(experiment, Cells::All));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("sweep: an object is all combinations, the last pointer fastest") {
  const Json sweep{{"/a", {1, 2}}, {"/b", {3, 4, 5}}};
  const SweepAxes axes{SpecNode(sweep)};
  CHECK(axes.cells() == 6);
  CHECK(shown(axes.settings(0)) == "/a=1, /b=3");
  CHECK(shown(axes.settings(1)) == "/a=1, /b=4");
  CHECK(shown(axes.settings(5)) == "/a=2, /b=5");
}

TEST_CASE("sweep: lists of one object of an array vary together, objects are combined") {
  const auto sweep = Json::parse(R"([{"/a": [1, 2], "/b": [3, 4]}, {"/c": [5, 6]}])");
  const SweepAxes axes{SpecNode(sweep)};
  CHECK(axes.cells() == 4);
  CHECK(shown(axes.settings(1)) == "/a=1, /b=3, /c=6");
  CHECK(shown(axes.settings(2)) == "/a=2, /b=4, /c=5");
}

TEST_CASE("sweep: wrong axes are refused with their place") {
  const auto says = [](const std::string& message, const char* words) {
    CAPTURE(message);
    CHECK(message.find(words) != std::string::npos);
  };
  says(refusal_of_sweep(Json{{"/workload/compute", Json::array()}}),
       "/sweep/~1workload~1compute: found []");
  says(refusal_of_sweep(Json{{"/workload/compuet", {"1ms"}}}), "nearest: \"compute\"");
  says(refusal_of_sweep(Json{{"/workload/compuet", {"1ms"}}}), "in the cell /workload/compuet=1ms");
  says(refusal_of_sweep(Json{{"/stragglers/1/factor", {2}}}), "/stragglers has no index \"1\"");
  says(refusal_of_sweep(Json{{"/cluster/communicator/setup", {"1s"}}}),
       "/cluster has no value there");
  says(refusal_of_sweep(Json{{"stragglers", {2}}}), "no JSON pointer");
  says(refusal_of_sweep(Json{{"/seeds", {2}}}), "cannot be swept");
  says(refusal_of_sweep(Json{{"/stragglers/0/factor", {2, 2}}}), "stands twice");
  says(refusal_of_sweep(Json{{"/stragglers/0/factor", {2, 0}}}),
       "in the cell /stragglers/0/factor=0");
  says(refusal_of_sweep(Json{{"/workload", {Json::object()}}, {"/workload/compute", {"1ms"}}}),
       "set the same value");
  says(refusal_of_sweep(
           Json::parse(R"([{"/workload/compute": ["1ms", "2ms"], "/workload/payload": ["1MB"]}])")),
       "found 1 values");
  says(refusal_of_sweep(3), "/sweep: found 3");
}

TEST_CASE(
    "set: a known key that the file leaves out may be named, an unknown one or a missing parent "
    "not") {
  const TemporaryDirectory directory;
  const auto experiment = experiment_of(directory, base_spec(),
                                        {"/workload/interference=0.5", "/workload/compute=50ms"});
  CHECK(experiment.base().workload.interference == 0.5);
  CHECK(experiment.base().workload.compute == std::chrono::milliseconds(50));
  CHECK_THROWS_AS(experiment_of(directory, base_spec(), {"/workload/nonsense=1"}), InputError);
  CHECK_THROWS_AS(experiment_of(directory, base_spec(), {"/nothing/there=1"}), InputError);
  CHECK_THROWS_AS(experiment_of(directory, base_spec(), {"/policies/7=smart"}), InputError);
  CHECK_THROWS_AS(experiment_of(directory, base_spec(), {"/policies/00=smart"}), InputError);
  CHECK_THROWS_AS(experiment_of(directory, base_spec(), {"no equals sign"}), InputError);
}

TEST_CASE("set: an option of a policy that stands as a bare name") {
  const TemporaryDirectory directory;
  const auto experiment = experiment_of(directory, base_spec(), {"/policies/0/label=baseline"});
  CHECK(experiment.base().policies[0].label == "baseline");
}

TEST_CASE("plan: keys depend on what a row depends on, not on how the spec says it") {
  const TemporaryDirectory directory;
  const auto key = [&](const std::vector<std::string>& sets) {
    return plan_rows(experiment_of(directory, base_spec(), sets), Cells::BaseOnly).front().key;
  };
  const auto base = key({});
  CHECK(key({"/workload/compute=10000us"}) == base);
  CHECK(key({"/workload/buckets=1"}) == base);
  CHECK(key({"/stragglers/0/probability=0.25"}) == base);
  CHECK(key({"/workload/compute=11ms"}) != base);
  CHECK(key({"/policies/0/label=x"}) != base);
  CHECK(key({"/seeds/0=7"}) != base);
}

TEST_CASE("sweep: every row has a key of its own, in the order cell, policy, seed") {
  const TemporaryDirectory directory;
  auto document = base_spec();
  document["sweep"] = Json{{"/stragglers/0/factor", {1, 2, 5}}};
  const auto plan = plan_rows(experiment_of(directory, document), Cells::All);
  REQUIRE(plan.size() == 12);
  std::set<std::uint64_t> keys;
  for (const auto& row : plan) keys.insert(row.key);
  CHECK(keys.size() == 12);
  CHECK(plan[1].seed == 2);
  CHECK(plan[2].policy == 1);
  CHECK(plan[4].cell == 1);
}

TEST_CASE("sweep: results depend on the spec, not on jobs or on what was there before") {
  const TemporaryDirectory directory;
  auto document = base_spec();
  document["sweep"] = Json{{"/stragglers/0/factor", {1, 2}}};
  const auto small = experiment_of(directory, document);
  const auto once = run_sweep(
      small, {.out = directory.path() / "grown", .jobs = 2, .stop = nullptr, .progress = {}});
  CHECK(once.computed == 8);
  document["seeds"] = {1, 2, 3};
  document["sweep"]["/stragglers/0/factor"] = {1, 2, 5};
  const auto large = experiment_of(directory, document);
  const auto grown = run_sweep(
      large, {.out = directory.path() / "grown", .jobs = 2, .stop = nullptr, .progress = {}});
  CHECK(grown.computed == 10);
  const auto fresh = run_sweep(
      large, {.out = directory.path() / "fresh", .jobs = 1, .stop = nullptr, .progress = {}});
  CHECK(fresh.computed == 18);
  for (const char* name : {"results.jsonl", "results.csv"}) {
    CHECK(content(directory.path() / "grown" / name) == content(directory.path() / "fresh" / name));
    CHECK(!content(directory.path() / "fresh" / name).empty());
  }
  const auto again = run_sweep(
      large, {.out = directory.path() / "grown", .jobs = 1, .stop = nullptr, .progress = {}});
  CHECK(again.computed == 0);
  CHECK(!again.published);
  CHECK_THROWS_AS(
      static_cast<void>(run_sweep(
          small, {.out = directory.path() / "grown", .jobs = 1, .stop = nullptr, .progress = {}})),
      InputError);
}

TEST_CASE("sweep: a request to stop leaves no results, and the journal") {
  const TemporaryDirectory directory;
  const auto experiment = experiment_of(directory, base_spec());
  const std::atomic<bool> stop = true;
  const auto report = run_sweep(
      experiment, {.out = directory.path() / "out", .jobs = 1, .stop = &stop, .progress = {}});
  CHECK(report.finished == 0);
  CHECK(!std::filesystem::exists(directory.path() / "out" / "results.csv"));
  CHECK(std::filesystem::exists(directory.path() / "out" / "journal.jsonl"));
}

}  // namespace
}  // namespace cohort
