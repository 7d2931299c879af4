#include "traces/compute_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <tuple>
#include <utility>

#include "policies/errors.h"
#include "traces/csv_reader.h"

namespace cohort {
namespace {

InputError at_line(const std::string& file, std::size_t line, std::string what) {
  return {fmt::format("{}:{}", file, line), std::move(what)};
}

// `entry` stands where the table of dense numbers wants (`worker`, `step`).
InputError misplaced(const TraceEntry& entry, std::uint64_t worker, std::uint64_t step,
                     const std::string& file) {
  return at_line(file, entry.line,
                 fmt::format("found worker {} step {}, but worker {} step {} is missing; expected "
                             "workers and steps dense from 0, the same steps for every worker",
                             entry.worker, entry.step, worker, step));
}

}  // namespace

Time median_of(std::vector<Time> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  if (times.size() % 2 == 1) return *middle;
  const Time below = *std::max_element(times.begin(), middle);
  return below + (*middle - below) / 2;
}

ComputeTrace::ComputeTrace(std::uint32_t workers, std::uint64_t steps, std::vector<Time> times)
    : workers_(workers), steps_(steps), times_(std::move(times)) {
  if (workers == 0 || steps == 0 || times_.size() / workers != steps ||
      times_.size() % workers != 0 ||
      std::ranges::any_of(times_, [](Time time) { return time < Time{0}; })) {
    throw ContractError("a compute trace is a full table of times");
  }
  median_ = median_of(times_);
}

ComputeTrace dense_trace(std::vector<TraceEntry> entries, const std::string& file) {
  if (entries.empty()) throw InputError(file, "has no rows; expected one per worker and step");
  std::ranges::sort(entries, {}, [](const TraceEntry& entry) {
    return std::tuple(entry.worker, entry.step, entry.line);
  });
  const auto repeat = std::ranges::adjacent_find(entries, [](const auto& a, const auto& b) {
    return a.worker == b.worker && a.step == b.step;
  });
  if (repeat != entries.end()) {
    throw at_line(file, std::next(repeat)->line,
                  fmt::format("worker {} step {} stands on line {} already", repeat->worker,
                              repeat->step, repeat->line));
  }
  const auto steps = static_cast<std::uint64_t>(
      std::ranges::find_if(entries, [](const auto& entry) { return entry.worker != 0; }) -
      entries.begin());
  std::vector<Time> times;
  times.reserve(entries.size());
  for (const TraceEntry& entry : entries) {
    // Worker 0's own steps must be dense; the others have as many.
    const std::uint64_t worker = steps == 0 ? 0 : times.size() / steps;
    const std::uint64_t step = steps == 0 ? 0 : times.size() % steps;
    if (entry.worker != worker || entry.step != step) throw misplaced(entry, worker, step, file);
    times.push_back(entry.time);
  }
  if (times.size() % steps != 0) {
    const TraceEntry& last = entries.back();
    throw at_line(file, last.line,
                  fmt::format("worker {} ends with step {}; expected the {} steps of worker 0",
                              last.worker, last.step, steps));
  }
  const std::uint64_t workers = times.size() / steps;
  if (workers > std::numeric_limits<std::uint32_t>::max()) {
    throw InputError(file, fmt::format("has {} workers; expected fewer than 2^32", workers));
  }
  return {static_cast<std::uint32_t>(workers), steps, std::move(times)};
}

ComputeTrace read_compute_trace(const std::filesystem::path& file) {
  CsvReader rows(read_text_file(file));
  const auto& header = rows.header();
  if (header.size() < 3 || header[0] != "worker" || header[1] != "step" || header[2] != "seconds") {
    throw rows.complaint(
        1, fmt::format("found the header {}; expected worker,step,seconds", rows.header_text()));
  }
  std::vector<TraceEntry> entries;
  while (rows.next()) {
    entries.push_back({rows.whole(0), rows.whole(1), rows.seconds(2), rows.line()});
  }
  return dense_trace(std::move(entries), file.string());
}

std::string to_csv(const ComputeTrace& trace) {
  std::string text = "worker,step,seconds\n";
  for (std::uint32_t worker = 0; worker < trace.workers(); ++worker) {
    for (std::uint64_t step = 0; step < trace.steps(); ++step) {
      const std::int64_t ns = trace.at(worker, step).count();
      fmt::format_to(std::back_inserter(text), "{},{},{}.{:09}\n", worker, step, ns / 1'000'000'000,
                     ns % 1'000'000'000);
    }
  }
  return text;
}

}  // namespace cohort
