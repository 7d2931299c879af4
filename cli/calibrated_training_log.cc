#include <fmt/format.h>

#include <iterator>
#include <optional>
#include <string>

#include "cli/calibrated_file.h"
#include "experiments/spec_json.h"
#include "traces/training_log.h"
#include "traces/units.h"

namespace cohort {
namespace {

std::vector<std::string> refusals(const TrainingLog& log) {
  return {fmt::format("how a step's time spreads, over steps or workers: an epoch gives an average "
                      "over about {} batches, which is no distribution",
                      batches_per_epoch(log)),
          "computing alone: a batch is a whole step, communication and waiting for others "
          "included; as compute it is effective"};
}

OrderedJson epochs_json(const TrainingLog& log) {
  OrderedJson epochs = OrderedJson::array();
  for (const TrainingEpoch& epoch : log.epochs) {
    epochs.push_back({{"throughput_per_second", epoch.samples_per_second},
                      {"batch_size", epoch.batch_size},
                      {"gpus", epoch.gpus},
                      {"total_seconds", epoch.total_seconds},
                      {"average_batch_seconds", epoch.average_batch_seconds},
                      {"first_batch_seconds", epoch.first_batch_seconds}});
  }
  return epochs;
}

OrderedJson workload(const TrainingLog& log) {
  return {{"compute", format_time(from_seconds_up(median_batch_seconds(log)))}};
}

OrderedJson to_json(const TrainingLog& log) {
  const auto behind_first = batch_seconds_behind_first(log);
  return {{"kind", "training-log"},
          {"file", log.file},
          {"workers", log.workers},
          {"epochs", epochs_json(log)},
          {"warm_up_seconds", log.epochs.front().first_batch_seconds},
          {"batches_per_epoch", batches_per_epoch(log)},
          {"batch_seconds_behind_first",
           behind_first ? OrderedJson(*behind_first) : OrderedJson(nullptr)},
          {"effective", true},
          {"workload", workload(log)},
          {"refused", refusals(log)},
          {"warnings", log.warnings}};
}

std::string to_text(const TrainingLog& log) {
  std::string text = fmt::format("{}: a training, {} workers, {} epochs of about {} batches\n",
                                 log.file, log.workers, log.epochs.size(), batches_per_epoch(log));
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "  warm-up  {} s (the first batch of the first epoch)\n",
                 log.epochs.front().first_batch_seconds);
  fmt::format_to(out, "  batch    {} (median of the epochs' averages)\n",
                 workload(log)["compute"].get<std::string>());
  if (const auto behind_first = batch_seconds_behind_first(log)) {
    fmt::format_to(out,
                   "           the averages hold the first batch of each epoch; the throughput "
                   "leaves it out: {:.3g} ms\n",
                   *behind_first * 1e3);
  }
  text += refusals_text(refusals(log));
  fmt::format_to(out, "\n{:>14} {:>12} {:>12} {:>12}\n", "throughput /s", "total s", "average s",
                 "first s");
  for (const TrainingEpoch& epoch : log.epochs) {
    fmt::format_to(out, "{:>14} {:>12} {:>12} {:>12}\n", epoch.samples_per_second,
                   epoch.total_seconds, epoch.average_batch_seconds, epoch.first_batch_seconds);
  }
  return text + spec_text("for a spec (effective: the whole step)", "workload", workload(log));
}

}  // namespace

CalibratedFile calibrate_training_log(const TextFile& file) {
  const TrainingLog log = read_training_log(file);
  return {to_json(log), to_text(log)};
}

}  // namespace cohort
