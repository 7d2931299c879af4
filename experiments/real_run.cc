#include "experiments/real_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

#include "experiments/base_run.h"
#include "experiments/manifest.h"
#include "experiments/publication.h"
#include "experiments/rank_layout.h"
#include "experiments/read_run.h"
#include "experiments/real_row.h"
#include "experiments/recorder.h"
#include "experiments/result_directory.h"
#include "experiments/row_text.h"
#include "experiments/sweep_plan.h"
#include "experiments/told_nodes.h"
#include "experiments/version.h"
#include "policies/errors.h"
#include "runtime/curve_copies.h"
#include "runtime/mean_check.h"
#include "training/memory_check.h"

namespace cohort {
namespace {

std::string failed_row(const Scenario& scenario, const std::string& error) {
  return failed_row_json(scenario, error, {.clock = Clock::Measured})
      .dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

// What --verify found wrong; empty when nothing.
std::string wrong_mean(const RunRecord& record) {
  for (const auto& sync : record.syncs)
    if (sync.largest_error && *sync.largest_error > kMeanTolerance)
      return fmt::format("synchronisation {} is off the exact mean by {:.2g} of its largest input",
                         index(sync.id), *sync.largest_error);
  return "";
}

std::string key_text(std::uint64_t key) { return fmt::format("{:016x}", key); }

}  // namespace

RanksNeeded ranks_needed(const Experiment& experiment) {
  RanksNeeded needed;
  for (std::uint64_t number = 0; number < experiment.axes().cells(); ++number) {
    const Cell cell = experiment.cell(number);
    try {
      check_runnable(cell);
    } catch (const InputError& error) {
      throw InputError(experiment.file().string() + ": " + error.where(), error.complaint());
    }
    if (number > 0 && cell.workers() != needed.workers)
      throw InputError(experiment.file().string() + ": /sweep",
                       fmt::format("cells have {} and {} workers; allowed in a real run: the same "
                                   "number, for one job of ranks",
                                   needed.workers, cell.workers()));
    needed.workers = cell.workers();
    for (const auto& policy : cell.policies)
      needed.servers = std::max(needed.servers, servers_needed(*policy.entry, policy.options));
  }
  return needed;
}

std::shared_ptr<const TrainingPlan> training_plan(const Experiment& experiment,
                                                  std::uint32_t number) {
  return experiment.cell(number).training.plan;
}

struct RealRun::State {
  State(const Experiment& spec, RealRunOptions given)
      : experiment(spec), options(std::move(given)), needed(ranks_needed(spec)) {
    check_ranks();
    layout = lay_out(options.hosts, needed.servers);
    told = tell_nodes(experiment, layout);
    const auto here = std::ranges::count(options.hosts, options.hosts.front());
    const auto warning =
        oversubscribed(static_cast<std::size_t>(here), std::thread::hardware_concurrency());
    if (!warning.empty()) told.warnings.push_back(warning);
    if (options.warn)
      for (const auto& line : told.warnings) options.warn(line);
    check_memory(static_cast<double>(here));
    plan = plan_rows(experiment, Cells::All,
                     fmt::format("real {} {}", name_of(options.backend), told.circumstances));
    cpu.resize(options.hosts.size());
    if (!options.out) return;
    directory.emplace(*options.out, version());
    check_same_spec(plan, *directory);
    for (const char* folder : {"events", "steps"})
      std::filesystem::create_directories(directory->path() / folder);
    rows = directory->journal().rows();
  }

  void check_ranks() const {
    if (options.hosts.size() == needed.total()) return;
    throw InputError("the number of ranks",
                     fmt::format("found {}; allowed: {}, for {} workers and {} servers of {}",
                                 options.hosts.size(), needed.total(), needed.workers,
                                 needed.servers, experiment.file().string()));
  }

  // Of this host, with so many ranks: each may hold, with training, a few buffers of what is
  // averaged and a copy of the model for each point of the learning curve; without, a worker holds
  // one at least.
  void check_memory(double ranks) const {
    constexpr double kBuffers = 5;
    for (std::uint64_t number = 0; number < experiment.axes().cells(); ++number) {
      const Cell cell = experiment.cell(number);
      if (cell.training.plan) {
        const auto model = static_cast<double>(sizeof(float) * cell.training.parameters);
        require_memory(ranks *
                       (kBuffers * cell.workload.payload + CurveCopies::kMostTicks * model));
      } else if (options.backend != BackendKind::Nccl) {
        require_memory((ranks - needed.servers) * cell.workload.payload,
                       {.where = "/workload/payload",
                        .what = "the payloads of this host's ranks",
                        .allowed = "a smaller payload or fewer ranks on a host"});
      }
    }
  }

  // The row's own rank list: workers, then as many servers as its policy has.
  [[nodiscard]] std::vector<std::uint32_t> ranks_of(const RunSetup& setup) const {
    auto ranks = layout.workers;
    ranks.insert(ranks.end(), layout.servers.begin(),
                 layout.servers.begin() + setup.topology.servers());
    return ranks;
  }

  [[nodiscard]] Scenario scenario_of(const PlannedRow& row) const {
    const Cell cell = experiment.cell(row.cell);
    const auto scenario = cell.scenario(cell.policies[row.policy], row.seed);
    return told.gpus_per_node ? on_nodes(scenario, *told.gpus_per_node) : scenario;
  }

  [[nodiscard]] std::filesystem::path file(const char* folder, const PlannedRow& row,
                                           const char* ending) const {
    return directory->path() / folder / (key_text(row.key) + ending);
  }

  // False: the job goes no further.
  bool run_one(const PlannedRow& row, const CarryOut& carry_out, RealRunReport& report) {
    const auto scenario = scenario_of(row);
    auto setup = setup_of(scenario);
    setup.plan = static_cast<std::uint32_t>(row.cell);
    setup.verify = options.verify;
    setup.on_loss = options.on_loss;
    const auto ranks = ranks_of(setup);
    std::optional<Recorder> recorder;
    if (directory) recorder.emplace(file("events", row, ".jsonl"), scenario);
    const auto record = carry_out(setup, ranks, recorder ? recorder->log() : nullptr);
    if (recorder) write_files(row, scenario, record, *recorder);
    return take(row, scenario, record, ranks, report);
  }

  void write_files(const PlannedRow& row, const Scenario& scenario, const RunRecord& record,
                   Recorder& recorder) const {
    recorder.finish();
    replace_file(file("steps", row, ".csv"), steps_csv(record, needed.workers));
    if (!options.timeline) return;
    const auto at = std::ranges::find(plan, row.key, &PlannedRow::key) - plan.begin();
    write_timeline(directory->path() / timeline_name(static_cast<std::size_t>(at)),
                   real_timeline(record, needed.workers), scenario);
  }

  bool take(const PlannedRow& row, const Scenario& scenario, const RunRecord& record,
            const std::vector<std::uint32_t>& ranks, RealRunReport& report) {
    for (std::size_t member = 0; member < std::min(record.cpu.size(), ranks.size()); ++member)
      cpu[ranks[member]] += record.cpu[member];
    if (options.warn)
      for (const auto& sentence : record.lost) options.warn(sentence);
    report.lost.insert(report.lost.end(), record.lost.begin(), record.lost.end());
    if (!record.failure.empty() && !report.lost.empty()) {
      report.broken = record.failure;
      return false;
    }
    if (!record.failure.empty() && options.stop != nullptr && *options.stop) {
      report.stopped = true;
      return false;
    }
    count_means(record, report);
    const auto error = record.failure.empty() ? wrong_mean(record) : record.failure;
    auto text =
        error.empty()
            ? row_json(real_row(scenario, record), extras_of(scenario, Clock::Measured)).dump()
            : failed_row(scenario, error);
    if (directory) {
      directory->journal().append(row.key, text);
      directory->journal().sync();
    }
    rows.emplace(row.key, std::move(text));
    ++report.computed;
    return true;
  }

  static void count_means(const RunRecord& record, RealRunReport& report) {
    for (const auto& sync : record.syncs) {
      if (!sync.largest_error) continue;
      ++report.means_verified;
      report.largest_error = std::max(report.largest_error, *sync.largest_error);
    }
  }

  void run_missing(const CarryOut& carry_out, RealRunReport& report) {
    for (const auto& row : missing_rows(plan, rows)) {
      report.stopped = options.stop != nullptr && *options.stop;
      if (report.stopped) return;
      if (options.progress) options.progress(rows.size(), plan.size());
      if (!run_one(row, carry_out, report)) return;
    }
  }

  void gather(RealRunReport& report) const {
    report.rows = plan.size();
    for (const auto& row : plan) {
      const auto found = rows.find(row.key);
      if (found == rows.end()) continue;
      ++report.finished;
      report.cells.resize(std::max<std::size_t>(report.cells.size(), row.cell + 1));
      auto line = jsonl_line(experiment.axes().settings(row.cell), found->second);
      line.pop_back();
      report.cells[row.cell].push_back(std::move(line));
    }
  }

  void publish_all(RealRunReport& report) {
    const auto results = results_of(experiment, plan, rows, true, Clock::Measured);
    report.failed = results.failed;
    if (!directory) return;
    report.published = report.computed > 0 || !is_published(results, *directory);
    if (!report.published) return;
    join_events();
    const RunFacts facts{.command = "run",
                         .rows = plan.size(),
                         .computed = report.computed,
                         .failed = report.failed,
                         .wall = std::chrono::steady_clock::now() - begin,
                         .run = manifest(report)};
    publish(manifest_text(experiment, facts), results, *directory);
  }

  void join_events() const {
    std::vector<std::filesystem::path> parts;
    std::set<std::uint64_t> seen;
    for (const auto& row : plan)
      if (seen.insert(row.key).second) parts.push_back(file("events", row, ".jsonl"));
    join_files(parts, directory->path() / "events.jsonl");
  }

  [[nodiscard]] OrderedJson manifest(const RealRunReport& report) const {
    OrderedJson recorded = OrderedJson::array();
    for (const auto& row : plan) {
      const Cell cell = experiment.cell(row.cell);
      OrderedJson settings = OrderedJson::object();
      for (const auto& [pointer, value] : experiment.axes().settings(row.cell))
        settings[pointer] = value;
      recorded.push_back({{"key", key_text(row.key)},
                          {"cell", settings},
                          {"label", cell.policies[row.policy].label},
                          {"seed", row.seed}});
    }
    std::vector<double> seconds;
    for (const auto time : cpu) seconds.push_back(std::chrono::duration<double>(time).count());
    OrderedJson result{{"backend", name_of(options.backend)}, {"on_loss", name_of(options.on_loss)},
                       {"ranks", options.hosts.size()},       {"host_of_rank", options.hosts},
                       {"worker_ranks", layout.workers},      {"server_ranks", layout.servers},
                       {"cpu_seconds_of_rank", seconds},      {"lost", report.lost},
                       {"warnings", told.warnings},           {"rows", recorded}};
    if (options.verify)
      result["verified"] = {{"means", report.means_verified},
                            {"largest_error", report.largest_error}};
    return result;
  }

  const Experiment& experiment;
  RealRunOptions options;
  RanksNeeded needed;
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  RankLayout layout;
  ToldNodes told;
  std::vector<PlannedRow> plan;
  std::optional<ResultDirectory> directory;
  Journal::Rows rows;     // finished
  std::vector<Time> cpu;  // by rank, of the rows computed now
};

RealRun::RealRun(const Experiment& experiment, RealRunOptions options)
    : state_(std::make_unique<State>(experiment, std::move(options))) {}

RealRun::~RealRun() = default;

bool RealRun::finished() const { return missing_rows(state_->plan, state_->rows).empty(); }

RealRunReport RealRun::run(const CarryOut& carry_out) {
  RealRunReport report;
  state_->run_missing(carry_out, report);
  state_->gather(report);
  if (report.finished == report.rows) state_->publish_all(report);
  return report;
}

}  // namespace cohort
