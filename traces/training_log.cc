#include "traces/training_log.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "policies/errors.h"
#include "traces/number.h"

namespace cohort {
namespace {

constexpr double kLeastSeconds = 1e-9;
constexpr double kMostSeconds = 1e9;
constexpr std::string_view kWorker = "I am worker ";
constexpr std::string_view kThroughput = "Throughput:";
constexpr std::string_view kAverage = "Average batch time:";

// The words between a label and the next comma.
Words words_of(std::string_view line, std::string_view label) {
  const std::size_t at = line.find(label);
  if (at == std::string_view::npos) return {};
  line.remove_prefix(at + label.size());
  return split_words(line.substr(0, line.find(',')));
}

// A number and its unit: seconds, anything per second (`/s`) or none; empty when one of them is
// missing or cut.
std::optional<double> value_of(std::string_view line, std::string_view label,
                               std::string_view unit) {
  const Words words = words_of(line, label);
  if (words.size() != (unit.empty() ? 1 : 2)) return std::nullopt;
  const bool whole = unit.empty() || (unit == "/s" ? words[1].ends_with(unit) : words[1] == unit);
  return whole ? parse_number<double>(words[0]) : std::nullopt;
}

// The first few of the workers that are not in `listed`, ascending.
std::string missing(const std::map<std::uint64_t, std::size_t>& listed, std::uint64_t workers) {
  constexpr std::size_t kShown = 8;
  const std::uint64_t count = workers - listed.size();
  std::vector<std::string> names;
  for (std::uint64_t w = 0; w < workers && names.size() < kShown; ++w) {
    if (!listed.contains(w)) names.push_back(std::to_string(w));
  }
  if (count > kShown) names.emplace_back("...");
  return fmt::to_string(fmt::join(names, ", "));
}

class TrainingLogReader {
 public:
  explicit TrainingLogReader(const TextFile& file) : file_(file) { log_.file = file.name; }

  TrainingLog read() {
    each_line(file_.text, [this](std::string_view line, std::size_t number) {
      line_ = number;
      if (holds(line, kWorker)) read_worker(words_of(line, kWorker));
      if (holds(line, kThroughput)) read_epoch(line);
    });
    if (log_.epochs.empty()) {
      throw InputError(file_.name,
                       "has no whole line of an epoch (Throughput: ..., Average batch time: ...)");
    }
    count_workers();
    return std::move(log_);
  }

 private:
  // WORKER of WORKERS, with a full stop or not
  void read_worker(const Words& words) {
    std::optional<std::uint64_t> worker;
    std::optional<std::uint64_t> workers;
    if (words.size() >= 3 && words[1] == "of") {
      worker = parse_number<std::uint64_t>(words[0]);
      workers = parse_number<std::uint64_t>(words[2].substr(0, words[2].find('.')));
    }
    if (!worker || !workers) return warn("a damaged line of a worker, left out");
    if (log_.workers != 0 && *workers != log_.workers) {
      refuse(fmt::format("found {} workers; the lines before say {}", *workers, log_.workers));
    }
    if (*worker >= *workers) {
      refuse(
          fmt::format("found worker {} of {}; expected one below {}", *worker, *workers, *workers));
    }
    log_.workers = *workers;
    const auto [first, added] = listed_.try_emplace(*worker, line_);
    if (!added) {
      refuse(fmt::format("worker {} stands on line {} already; expected one run in a file", *worker,
                         first->second));
    }
  }

  void read_epoch(std::string_view line) {
    const auto throughput = value_of(line, kThroughput, "/s");
    const auto batch = value_of(line, "Batch size:", "");
    const auto gpus = value_of(line, "Num of GPUs:", "");
    const auto total = value_of(line, "Total time:", "s");
    const auto average = value_of(line, kAverage, "s");
    const auto first = value_of(line, "First batch time:", "s");
    if (!throughput || !batch || !gpus || !total || !average || !first) {
      const bool cut = line.data() + line.size() == file_.text.data() + file_.text.size();
      return warn(cut ? "the file was cut off within this epoch, which is left out"
                      : "a damaged line of an epoch, left out");
    }
    log_.epochs.push_back({positive(*throughput, "throughput"), whole(*batch, "batch size"),
                           whole(*gpus, "number of GPUs"), seconds(*total, "total time"),
                           seconds(*average, "average batch time"),
                           *first == 0 ? 0 : seconds(*first, "first batch time"), line_});
  }

  void count_workers() {
    if (log_.workers == 0) {
      log_.workers = log_.epochs.front().gpus;
      log_.warnings.emplace_back("no worker says who it is: their number is that of the GPUs");
    } else if (listed_.size() != log_.workers) {
      log_.warnings.push_back(fmt::format("{} of {} workers say who they are; missing: {}",
                                          listed_.size(), log_.workers,
                                          missing(listed_, log_.workers)));
    }
    for (const TrainingEpoch& epoch : log_.epochs) {
      if (epoch.gpus == log_.workers) continue;
      throw file_.complaint(epoch.line, fmt::format("found {} GPUs; expected {}, one per worker",
                                                    epoch.gpus, log_.workers));
    }
  }

  double positive(double number, std::string_view what) {
    if (!(number > 0 && std::isfinite(number))) {
      refuse(fmt::format("found {} as {}; expected a number above 0", number, what));
    }
    return number;
  }

  double seconds(double number, std::string_view what) {
    if (number > 0 && !(number >= kLeastSeconds && number <= kMostSeconds)) {
      refuse(fmt::format("found {} s as {}; expected {} s to {} s", number, what, kLeastSeconds,
                         kMostSeconds));
    }
    return positive(number, what);
  }

  std::uint64_t whole(double number, std::string_view what) {
    if (!(number >= 1 && number <= std::numeric_limits<std::uint32_t>::max() &&
          number == std::floor(number))) {
      refuse(fmt::format("found {} as {}; expected a whole number from 1", number, what));
    }
    return static_cast<std::uint64_t>(number);
  }

  void warn(std::string_view what) {
    log_.warnings.push_back(fmt::format("line {}: {}", line_, what));
  }
  [[noreturn]] void refuse(std::string what) const {
    throw file_.complaint(line_, std::move(what));
  }

  const TextFile& file_;
  TrainingLog log_;
  std::size_t line_ = 0;
  std::map<std::uint64_t, std::size_t> listed_;  // workers and their lines
};

template <typename Value>
double median_over_epochs(const TrainingLog& log, Value value) {
  std::vector<double> values;
  for (const TrainingEpoch& epoch : log.epochs) values.push_back(value(epoch));
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double by_throughput(const TrainingEpoch& epoch) {
  return static_cast<double>(epoch.batch_size * epoch.gpus) / epoch.samples_per_second;
}

bool leaves_first_out(const TrainingEpoch& epoch) {
  const double behind_first = epoch.total_seconds - epoch.first_batch_seconds;
  const double batches = epoch.total_seconds / epoch.average_batch_seconds - 1;
  return std::abs(batches * by_throughput(epoch) - behind_first) <= 0.03 * behind_first;
}

}  // namespace

bool is_training_log(std::string_view text) {
  bool found = false;
  each_line(text, [&found](std::string_view line, std::size_t) {
    found = found || (holds(line, kWorker) && holds(line, " of ")) ||
            (holds(line, kThroughput) && holds(line, "Batch size:"));
  });
  return found;
}

TrainingLog read_training_log(const TextFile& file) { return TrainingLogReader(file).read(); }

double median_batch_seconds(const TrainingLog& log) {
  return median_over_epochs(log,
                            [](const TrainingEpoch& epoch) { return epoch.average_batch_seconds; });
}

double batches_per_epoch(const TrainingLog& log) {
  const double batches = median_over_epochs(log, [](const TrainingEpoch& epoch) {
    return epoch.total_seconds / epoch.average_batch_seconds;
  });
  const double unit = std::pow(10, std::max(0.0, std::floor(std::log10(batches)) - 1));
  return std::round(batches / unit) * unit;
}

std::optional<double> batch_seconds_behind_first(const TrainingLog& log) {
  if (!std::ranges::all_of(log.epochs, leaves_first_out)) return std::nullopt;
  return median_over_epochs(log, by_throughput);
}

}  // namespace cohort
