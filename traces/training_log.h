// Reader of the text log of a data-parallel training: every worker says who it is, one line an
// epoch says how fast it went.
//
//   ... I am worker 6 of 8. ...
//   Throughput: 1925.1 images/s, Batch size: 16, Num of GPUs: 8, Total time: 7.565 s,
//     Average batch time: 0.075 s, First batch time: 0.983 s             (one line)
//
// Other lines and prefixes are passed over. A batch is the whole step of a worker: communication
// and waiting for others are in it. An epoch's first batch is warm-up. Averages are no
// distribution: how a step's time spreads, and over workers, is not in such a log.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "traces/text_file.h"

namespace cohort {

struct TrainingEpoch {
  double samples_per_second = 0;     // over all workers; > 0
  std::uint64_t batch_size = 0;      // per worker; > 0
  std::uint64_t gpus = 0;            // > 0
  double total_seconds = 0;          // > 0
  double average_batch_seconds = 0;  // > 0
  double first_batch_seconds = 0;
  std::size_t line = 0;
};

struct TrainingLog {
  std::string file;
  std::uint64_t workers = 0;
  std::vector<TrainingEpoch> epochs;  // in order of the file, not empty
  std::vector<std::string> warnings;  // missing workers, damaged lines
};

// Whether a text has a line of a worker or an epoch.
[[nodiscard]] bool is_training_log(std::string_view text);

// Throws InputError, with the line: a worker twice or beyond their number, numbers of workers or
// GPUs that disagree, impossible numbers, no whole epoch.
[[nodiscard]] TrainingLog read_training_log(const TextFile& file);

// The median of the epochs' average batch times.
[[nodiscard]] double median_batch_seconds(const TrainingLog& log);

// About how many batches an epoch's average is of: total time over average, the median of the
// epochs, to two digits.
[[nodiscard]] double batches_per_epoch(const TrainingLog& log);

// A batch without the first ones, the median over the epochs of batch size * GPUs / throughput.
// Empty unless total - first = (total / average - 1) * that, within 3 %, in every epoch: then the
// throughput leaves the first batch out and the average holds it.
[[nodiscard]] std::optional<double> batch_seconds_behind_first(const TrainingLog& log);

}  // namespace cohort
