#include "cli/trace.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "cli/error_report.h"
#include "cli/exit_codes.h"
#include "experiments/spec_json.h"
#include "policies/errors.h"
#include "traces/recording.h"
#include "traces/trace_fit.h"
#include "traces/units.h"

namespace cohort {
namespace {

namespace fs = std::filesystem;

void say_each(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) say(note);
}

// Empty when the slow workers are no pipeline stages.
std::string stage_warning(const Recording& recording, const std::vector<WorkerSummary>& workers) {
  const auto stages = slow_stages(workers, recording.stages);
  if (stages.empty()) return "";
  return fmt::format(
      "the slow workers are pipeline stage {} of {} (from 0), in every replica: that is the "
      "stage's "
      "own load, and regrouping data-parallel replicas cannot help",
      fmt::to_string(fmt::join(stages, ", ")), recording.stages);
}

void write_text(const fs::path& file, const std::string& text) {
  errno = 0;
  std::ofstream stream(file, std::ios::binary);
  stream << text;
  stream.close();
  if (!stream) {
    throw EnvironmentError(fmt::format("cannot write {}: {}", file.string(), std::strerror(errno)));
  }
}

// A regular file is renamed into place, so that a full disk leaves the old one; a device or pipe is
// written to as it stands, never replaced.
void write_whole(const fs::path& file, const std::string& text) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) return write_text(file, text);
  fs::path unfinished = file;
  unfinished += ".unfinished";
  try {
    write_text(unfinished, text);
    fs::rename(unfinished, file);
  } catch (const fs::filesystem_error& failure) {
    fs::remove(unfinished, error);
    throw EnvironmentError(
        fmt::format("cannot write {}: {}", file.string(), failure.code().message()));
  } catch (const EnvironmentError&) {
    fs::remove(unfinished, error);
    throw;
  }
}

double four_digits(double value) { return std::stod(fmt::format("{:.4g}", value)); }

OrderedJson stragglers_json(const TraceFit& fit) {
  OrderedJson list = OrderedJson::array();
  for (const Fixed& fixed : fit.fixed) {
    list.push_back(
        {{"kind", "fixed"}, {"workers", fixed.workers}, {"factor", four_digits(fixed.factor)}});
  }
  if (fit.bernoulli) {
    list.push_back({{"kind", "bernoulli"},
                    {"probability", four_digits(fit.bernoulli->probability)},
                    {"factor", four_digits(fit.bernoulli->factor)}});
  }
  if (fit.burst) {
    list.push_back({{"kind", "burst"},
                    {"enter", four_digits(fit.burst->enter)},
                    {"leave", four_digits(fit.burst->leave)},
                    {"factor", four_digits(fit.burst->factor)}});
  }
  if (fit.jitter) {
    list.push_back({{"kind", "jitter"},
                    {"distribution", "lognormal"},
                    {"sigma", four_digits(fit.jitter->sigma)}});
  }
  return list;
}

}  // namespace

int import_trace(const TraceArguments& arguments) {
  const Recording recording = read_recording(arguments.files);
  if (fs::is_directory(arguments.out)) {
    throw InputError("--out", arguments.out.string() + " is a directory; expected a file");
  }
  write_whole(arguments.out, to_csv(recording.trace));
  say_each(recording.notes);
  const std::string warning = stage_warning(recording, summarise(recording.trace));
  if (!warning.empty()) say(warning);
  fmt::print("{}: {} workers, {} steps\n", arguments.out.string(), recording.trace.workers(),
             recording.trace.steps());
  return kDone;
}

int show_trace(const TraceArguments& arguments) {
  const Recording recording = read_recording(arguments.files);
  say_each(recording.notes);
  const auto workers = summarise(recording.trace);
  fmt::print("{} workers, {} steps, median step {}\n\n", workers.size(), recording.trace.steps(),
             format_time(recording.trace.median()));
  fmt::print("{:>8} {:>16} {:>24} {:>20}\n", "worker", "median s", "ratio to median worker",
             "spread (sd/mean)");
  for (std::size_t w = 0; w < workers.size(); ++w) {
    fmt::print("{:>8} {:>16.6f} {:>24.2f} {:>18.1f} %{}\n", w, seconds(workers[w].median),
               workers[w].ratio, workers[w].spread * 100,
               workers[w].ratio > kSlowRatio ? "  slow" : "");
  }
  const std::string warning = stage_warning(recording, workers);
  if (!warning.empty()) fmt::print("\n{}\n", warning);
  return kDone;
}

int fit_and_print(const TraceArguments& arguments) {
  const Recording recording = read_recording(arguments.files);
  const TraceFit fit = fit_trace(recording.trace);
  if (fit.compute == Time{0}) throw InputError(arguments.files.front().string(), fit.notes.front());
  say_each(recording.notes);
  say_each(fit.notes);
  const std::string warning = stage_warning(recording, summarise(recording.trace));
  if (!warning.empty()) say(warning);
  const OrderedJson spec{{"workload", {{"compute", format_time(fit.compute)}}},
                         {"stragglers", stragglers_json(fit)}};
  fmt::print("{}\n", spec.dump(2));
  return kDone;
}

}  // namespace cohort
