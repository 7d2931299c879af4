#include "traces/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "policies/errors.h"
#include "traces/csv_reader.h"
#include "traces/profiler_ranks.h"
#include "traces/renumbering.h"
#include "traces/text_file.h"

namespace cohort {
namespace {

struct Row {
  std::uint64_t step;
  std::uint64_t replica;
  std::uint64_t stage;
  Time time;
  std::size_t line;
};

bool has_stages(const CsvReader& rows) {
  return std::ranges::find(rows.header(), "dp_rank") != rows.header().end();
}

std::vector<Row> read_rows(CsvReader& rows, bool staged) {
  const std::size_t step = rows.column("step");
  const std::size_t replica = rows.column(staged ? "dp_rank" : "worker");
  const std::size_t stage = staged ? rows.column("pp_rank") : replica;
  const std::size_t time = rows.column(staged ? "compute_s" : "seconds");
  std::vector<Row> read;
  while (rows.next()) {
    read.push_back({rows.whole(step), rows.whole(replica), staged ? rows.whole(stage) : 0,
                    rows.seconds(time), rows.line()});
  }
  return read;
}

double spread(const ComputeTrace& trace, std::uint32_t worker) {
  const auto steps = static_cast<double>(trace.steps());
  double mean = 0;
  double squares = 0;  // of the deviations [Welford 1962]
  for (std::uint64_t step = 0; step < trace.steps(); ++step) {
    const auto time = static_cast<double>(trace.at(worker, step).count());
    const double off = time - mean;
    mean += off / static_cast<double>(step + 1);
    squares += off * (time - mean);
  }
  return steps < 2 || mean == 0 ? 0 : std::sqrt(squares / (steps - 1)) / mean;
}

Recording read_table(TextFile file) {
  const std::string name = file.name;
  CsvReader rows(std::move(file));
  const bool staged = has_stages(rows);
  const std::vector<Row> read = read_rows(rows, staged);
  Renumbering steps;
  Renumbering replicas;
  Renumbering stages;
  for (const Row& row : read) {
    steps.add(row.step);
    replicas.add(row.replica);
    stages.add(row.stage);
  }
  for (Renumbering* numbers : {&steps, &replicas, &stages}) numbers->close();
  std::vector<TraceEntry> entries;
  entries.reserve(read.size());
  for (const Row& row : read) {
    entries.push_back({replicas(row.replica) * stages.size() + stages(row.stage), steps(row.step),
                       row.time, row.line});
  }
  Recording recording{
      dense_trace(std::move(entries), name), static_cast<std::uint32_t>(stages.size()), {}};
  const auto note = [&recording](std::optional<std::string> text) {
    if (text) recording.notes.push_back(std::move(*text));
  };
  note(steps.note("steps"));
  note(replicas.note(staged ? "replicas (dp_rank)" : "workers"));
  note(stages.note("stages (pp_rank)"));
  if (staged) {
    note(
        fmt::format("{} replicas x {} pipeline stages: worker = dp_rank * {} + pp_rank; seconds = "
                    "compute_s",
                    replicas.size(), stages.size(), stages.size()));
  }
  return recording;
}

}  // namespace

bool is_recording(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  const std::string_view header = take_line(text);
  return header.starts_with("worker,step,") || header.starts_with("step,dp_rank,");
}

Recording read_recording(const std::vector<std::filesystem::path>& files) {
  std::vector<ProfilerTrace> ranks;
  for (const auto& path : files) {
    TextFile file = read_text_file(path);
    if (is_profiler_trace(file.text)) {
      ranks.push_back(read_profiler_trace(file));
    } else if (files.size() == 1) {
      return read_table(std::move(file));
    } else {
      throw InputError(file.name,
                       "is no profiler trace; allowed: several of these, one per rank, or one "
                       "table of compute times");
    }
  }
  return recording_of(std::move(ranks));
}

Recording read_recording(const std::filesystem::path& file) {
  return read_recording(std::vector{file});
}

std::vector<WorkerSummary> summarise(const ComputeTrace& trace) {
  std::vector<WorkerSummary> workers(trace.workers());
  std::vector<Time> medians;
  for (std::uint32_t w = 0; w < trace.workers(); ++w) {
    std::vector<Time> times;
    for (std::uint64_t step = 0; step < trace.steps(); ++step) times.push_back(trace.at(w, step));
    workers[w].median = median_of(std::move(times));
    workers[w].spread = spread(trace, w);
    medians.push_back(workers[w].median);
  }
  const auto typical = static_cast<double>(median_of(std::move(medians)).count());
  for (WorkerSummary& worker : workers) {
    if (typical > 0) worker.ratio = static_cast<double>(worker.median.count()) / typical;
  }
  return workers;
}

std::vector<std::uint32_t> slow_stages(const std::vector<WorkerSummary>& workers,
                                       std::uint32_t stages) {
  std::vector<std::uint32_t> slow;
  if (stages < 2 || workers.size() < std::size_t{2} * stages) return slow;
  const auto is_slow = [&](std::size_t worker) { return workers[worker].ratio > kSlowRatio; };
  for (std::uint32_t stage = 0; stage < stages; ++stage) {
    bool all = true;
    bool any = false;
    for (std::size_t worker = stage; worker < workers.size(); worker += stages) {
      all = all && is_slow(worker);
      any = any || is_slow(worker);
    }
    if (any && !all) return {};
    if (all) slow.push_back(stage);
  }
  if (slow.size() == stages) slow.clear();
  return slow;
}

}  // namespace cohort
