// The loop over the rows of a real run, on a stand-in for the ranks: what is run, kept, resumed,
// refused, published.
#include "experiments/real_run.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "experiments/rank_layout.h"
#include "experiments/replay.h"
#include "policies/errors.h"
#include "sim/scenario.h"
#include "tests/experiments/base_spec.h"

namespace cohort {
namespace {

using testing::content;
using testing::TemporaryDirectory;

Json spec_of(const Json& changes = Json::object()) {
  auto document = testing::base_spec();
  document["policies"] = {"all-reduce", "parameter-server"};
  document["run"] = {{"nodes", "spec"}};
  document.update(changes);
  return document;
}

// Ranks that do one step each; a failure or a loss may be ordered for the run of a number.
struct FakeRanks {
  std::vector<std::pair<RunSetup, std::vector<std::uint32_t>>> runs;
  std::size_t fails_at = SIZE_MAX;
  std::size_t loses_at = SIZE_MAX;
  double error = 0;

  RunRecord operator()(const RunSetup& setup, const std::vector<std::uint32_t>& ranks,
                       ActionLog* log) {
    const auto number = runs.size();
    runs.emplace_back(setup, ranks);
    if (log != nullptr) {
      Actions actions;
      log->record(Event::joined(Time{}, WorkerId{0}), actions);
    }
    RunRecord record;
    for (std::uint32_t worker = 0; worker < setup.topology.workers(); ++worker)
      record.steps.push_back({.worker = WorkerId{worker},
                              .work = Time{10},
                              .began = Time{0},
                              .ended = Time{10},
                              .arrived = Time{11},
                              .resumed = Time{20},
                              .sync = {}});
    record.elapsed = Time{20};
    record.cpu.assign(ranks.size(), std::chrono::seconds(1));
    if (setup.verify) record.syncs.emplace_back().largest_error = error;
    if (number == fails_at) record.failure = "it broke";
    if (number == loses_at) record.lost = {"worker 1 was lost"}, record.failure = "a loss";
    return record;
  }
};

struct Job {
  TemporaryDirectory directory;
  Experiment experiment;
  FakeRanks ranks;
  std::vector<std::string> warnings;

  explicit Job(const Json& document = spec_of())
      : experiment(directory.write("spec.json", document.dump()), {}) {}

  [[nodiscard]] std::filesystem::path out() const { return directory.path() / "out"; }
  [[nodiscard]] RealRunOptions options(std::size_t count = 5) {
    RealRunOptions options;
    options.hosts.assign(count, "host");
    options.out = out();
    options.warn = [this](const std::string& line) { warnings.push_back(line); };
    return options;
  }
  RealRunReport run(const RealRunOptions& options) {
    return RealRun(experiment, options).run(std::ref(ranks));
  }
  RealRunReport run() { return run(options()); }
};

TEST_CASE("layout: workers host by host, servers on the host of node j mod N") {
  const auto layout = lay_out({"a", "b", "a", "b", "a"}, 2);
  CHECK(layout.servers == std::vector<std::uint32_t>{4, 3});
  CHECK(layout.workers == std::vector<std::uint32_t>{0, 2, 1});
  CHECK(layout.workers_per_host == std::vector<std::uint32_t>{2, 1});
  CHECK(layout.servers_in_place);
}

TEST_CASE("layout: a host with one rank keeps its worker while another has more") {
  const auto layout = lay_out({"a", "b", "b"}, 1);
  CHECK(layout.servers == std::vector<std::uint32_t>{2});
  CHECK(layout.workers_per_host == std::vector<std::uint32_t>{1, 1});
  CHECK_FALSE(layout.servers_in_place);
}

TEST_CASE("layout: a host whose ranks are all servers is no node") {
  const auto layout = lay_out({"a", "b", "c"}, 1);
  CHECK(layout.servers == std::vector<std::uint32_t>{0});
  CHECK(layout.workers == std::vector<std::uint32_t>{1, 2});
  CHECK(layout.workers_per_host == std::vector<std::uint32_t>{1, 1});
}

TEST_CASE("real run: every row is run on its ranks, and published with measured seconds") {
  Job job;
  const auto report = job.run();
  CHECK(report.computed == 4);
  CHECK(report.published);
  REQUIRE(job.ranks.runs.size() == 4);
  CHECK(job.ranks.runs[0].second == std::vector<std::uint32_t>{0, 1, 2, 3});
  CHECK(job.ranks.runs[2].second == std::vector<std::uint32_t>{0, 1, 2, 3, 4});
  const auto rows = content(job.out() / "results.jsonl");
  CHECK(std::count(rows.begin(), rows.end(), '\n') == 4);
  CHECK(rows.find("measured_seconds") != std::string::npos);
  CHECK(rows.find("simulated_seconds") == std::string::npos);
  CHECK(content(job.out() / "results.csv").find("measured_seconds") != std::string::npos);
  const auto manifest = Json::parse(content(job.out() / "manifest.json"));
  CHECK(manifest["command"] == "run");
  CHECK(manifest["run"]["cpu_seconds_of_rank"] == Json{4.0, 4.0, 4.0, 4.0, 2.0});
  CHECK(manifest["run"]["rows"].size() == 4);
  CHECK(manifest["resolved"]["run"]["nodes"] == "spec");
}

TEST_CASE("real run: the logs of all rows are joined in their order, and replay") {
  Job job;
  static_cast<void>(job.run());
  const auto runs = replay(job.out());
  REQUIRE(runs.size() == 4);
  CHECK(runs[3].label == "parameter-server");
  CHECK(runs[3].seed == 2);
}

TEST_CASE("real run: a finished directory needs no ranks and is left alone") {
  Job job;
  static_cast<void>(job.run());
  const auto manifest = content(job.out() / "manifest.json");
  RealRun again(job.experiment, job.options());
  CHECK(again.finished());
  const auto report = again.run({});
  CHECK_FALSE(report.published);
  CHECK(report.cells[0].size() == 4);
  CHECK(content(job.out() / "manifest.json") == manifest);
}

TEST_CASE("real run: after a loss finished rows and the partial record are there; it resumes") {
  Job job;
  job.ranks.loses_at = 1;
  const auto report = job.run();
  CHECK(report.broken == "a loss");
  CHECK(report.finished == 1);
  CHECK_FALSE(report.published);
  CHECK(std::ranges::count(job.warnings, "worker 1 was lost") == 1);
  CHECK(std::distance(std::filesystem::directory_iterator(job.out() / "steps"), {}) == 2);
  job.ranks = {};
  const auto rest = job.run();
  CHECK(rest.computed == 3);
  CHECK(rest.published);
  CHECK(replay(job.out()).size() == 4);
}

TEST_CASE("real run: a run that fails without a loss is a row that says so") {
  Job job;
  job.ranks.fails_at = 1;
  const auto report = job.run();
  CHECK(report.finished == 4);
  CHECK(report.failed == 1);
  CHECK(content(job.out() / "results.jsonl").find(R"("error":"it broke")") != std::string::npos);
}

TEST_CASE("real run: stopped by the user, the row in progress is not kept") {
  Job job;
  job.ranks.fails_at = 1;
  std::atomic<bool> stop = false;
  auto options = job.options();
  options.stop = &stop;
  const auto report = RealRun(job.experiment, options)
                          .run([&](const RunSetup& setup, const auto& ranks, ActionLog* log) {
                            stop = job.ranks.runs.size() == 1;
                            return job.ranks(setup, ranks, log);
                          });
  CHECK(report.stopped);
  CHECK(report.finished == 1);
}

TEST_CASE("real run: a mean that is off fails its row") {
  Job job;
  job.ranks.error = 1e-3;
  auto options = job.options();
  options.verify = true;
  const auto report = job.run(options);
  CHECK(report.failed == 4);
  CHECK(report.means_verified == 4);
  CHECK(report.largest_error == 1e-3);
}

TEST_CASE("real run: rows of another backend, of other hosts or of a simulation are not mixed") {
  Job job(spec_of({{"run", {{"nodes", "hosts"}}}}));
  static_cast<void>(job.run());
  auto nccl = job.options();
  nccl.backend = BackendKind::Nccl;
  CHECK_THROWS_AS(RealRun(job.experiment, nccl), InputError);
  auto spread = job.options();
  spread.hosts = {"a", "a", "b", "b", "a"};
  CHECK_THROWS_AS(RealRun(job.experiment, spread), InputError);
}

TEST_CASE(
    "real run: policies are told of the hosts, or of the spec's nodes, and a mismatch is named") {
  Job of_hosts(spec_of({{"run", {{"nodes", "hosts"}}}}));
  static_cast<void>(of_hosts.run());
  CHECK(of_hosts.ranks.runs[0].first.topology.nodes() == 1);
  CHECK(of_hosts.warnings[0].find("told of the hosts") != std::string::npos);
  Job of_spec;
  static_cast<void>(of_spec.run());
  CHECK(of_spec.ranks.runs[0].first.topology.nodes() == 2);
  CHECK(of_spec.warnings[0].find("told of the spec's nodes") != std::string::npos);
}

std::string refusal_of_run(const Json& document, std::size_t ranks = 5) {
  try {
    Job job(document);
    RealRun(job.experiment, job.options(ranks));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("real run: what only a simulation can do is refused with its place") {
  const auto says = [](const std::string& message, const char* words) {
    CAPTURE(message);
    CHECK(message.find(words) != std::string::npos);
  };
  says(refusal_of_run(spec_of(), 4), "found 4; allowed: 5, for 4 workers and 1 servers");
  says(refusal_of_run(spec_of({{"policies", {{{"kind", "all-reduce"}, {"overlap", true}}}}}), 4),
       "/policies/0: overlap");
  says(refusal_of_run(
           spec_of({{"policies", {{{"kind", "smart"}, {"endpoint_bandwidth", "1GB/s"}}}}}), 4),
       "/policies/0: endpoint_bandwidth");
  says(refusal_of_run(
           spec_of({{"stragglers", Json::parse(R"([{"kind": "link", "nodes": [0], "enter": 1,
                                                       "leave": 1, "factor": 2}])")}})),
       "/stragglers: slow links");
  says(refusal_of_run(spec_of({{"workload", {{"compute", "1ms"}, {"payload", "9GB"}}}})),
       "/workload/payload");
  says(refusal_of_run(spec_of({{"workload", {{"compute", "1ms"}, {"payload", "0B"}}}})),
       "/workload/payload");
  says(refusal_of_run(spec_of({{"sweep", {{"/cluster/gpus_per_node", {1, 2}}}}})),
       "/sweep: cells have");
  says(refusal_of_run(
           spec_of({{"workload", {{"compute", "1ms"}, {"training", {{"model", "quadratic"}}}}},
                    {"measure", {{"tune", {{"learning_rate", {0.1, 0.2}}}}}}})),
       "/measure/tune: is simulated only");
}

}  // namespace
}  // namespace cohort
