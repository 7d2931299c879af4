#include "traces/training_log.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "policies/errors.h"
#include "tests/skip.h"
#include "tests/traces/files.h"

namespace cohort {
namespace {

const std::string kEpoch =
    "Throughput: 1280.0 images/s, Batch size: 32, Num of GPUs: 2, Total time: 2.0 s, "
    "Average batch time: 0.05 s, First batch time: 0.2 s\n";
const std::string kTwoWorkers = "I am worker 0 of 2. \nI am worker 1 of 2\n";

TrainingLog training_log_of(std::string text) {
  return read_training_log({"log", std::move(text)});
}

TEST_CASE("training log: workers, epochs, warm-up and the averages as printed") {
  const TrainingLog log = read_training_log(read_text_file(test::sample("training_4_workers.log")));
  CHECK(log.workers == 4);
  REQUIRE(log.epochs.size() == 3);
  CHECK(log.epochs[0].first_batch_seconds == 1.2);
  CHECK(log.epochs[0].line == 7);
  CHECK(log.epochs[1].samples_per_second == 2461.538);
  CHECK(log.epochs[1].batch_size == 32);
  CHECK(log.epochs[2].total_seconds == 2.647);
  CHECK(median_batch_seconds(log) == 0.054);
  CHECK(batches_per_epoch(log) == 50);
  CHECK(log.warnings.empty());
}

TEST_CASE("training log: a throughput without the first batch gives a batch without warm-up") {
  const TrainingLog log = read_training_log(read_text_file(test::sample("training_4_workers.log")));
  REQUIRE(batch_seconds_behind_first(log));
  CHECK(std::abs(*batch_seconds_behind_first(log) - 0.051) < 1e-5);
  CHECK_FALSE(batch_seconds_behind_first(training_log_of(kTwoWorkers + kEpoch)));
}

TEST_CASE("training log: missing workers, no workers and damaged lines are said, not hidden") {
  CHECK(test::mentions(training_log_of("I am worker 1 of 2.\n" + kEpoch).warnings,
                       "1 of 2 workers say who they are; missing: 0"));
  CHECK(test::mentions(
      training_log_of("I am worker 1 of 40.\n" + test::replaced(kEpoch, "GPUs: 2", "GPUs: 40"))
          .warnings,
      "missing: 0, 2, 3, 4, 5, 6, 7, 8, ..."));
  const TrainingLog alone = training_log_of(kEpoch);
  CHECK(alone.workers == 2);
  CHECK(test::mentions(alone.warnings, "their number is that of the GPUs"));
  CHECK(test::mentions(training_log_of("I am worker -1 of 2.\n" + kTwoWorkers + kEpoch).warnings,
                       "line 1: a damaged line of a worker"));
  const TrainingLog damaged = training_log_of(kTwoWorkers + "Throughput: 12I am here\n" + kEpoch);
  CHECK(damaged.epochs.size() == 1);
  CHECK(test::mentions(damaged.warnings, "line 3: a damaged line of an epoch, left out"));
  CHECK(test::mentions(
      training_log_of(kTwoWorkers + test::replaced(kEpoch, "2.0 s", "2.0 ms") + kEpoch).warnings,
      "line 3: a damaged"));
}

TEST_CASE(
    "training log: a last line that was cut off is left out; a missing line end alone is not") {
  const std::string whole = kTwoWorkers + kEpoch + kEpoch;
  for (const std::size_t cut : {2, 3, 5, 20, 60, 100}) {
    CAPTURE(cut);
    const TrainingLog log = training_log_of(whole.substr(0, whole.size() - cut));
    CHECK(log.epochs.size() == 1);
    CHECK(test::mentions(log.warnings, "line 4: the file was cut off within this epoch"));
  }
  const TrainingLog log = training_log_of(whole.substr(0, whole.size() - 1));
  CHECK(log.epochs.size() == 2);
  CHECK(log.warnings.empty());
}

TEST_CASE("training log: what cannot be is refused with its line") {
  struct Case {
    std::string text;
    const char* says;
  };
  for (const Case& c :
       {Case{kTwoWorkers + "I am worker 1 of 2.\n" + kEpoch, "log:3: worker 1 stands on line 2"},
        Case{"I am worker 2 of 2.\n" + kEpoch, "log:1: found worker 2 of 2"},
        Case{kTwoWorkers + "I am worker 2 of 3.\n" + kEpoch,
             "log:3: found 3 workers; the lines before"},
        Case{kTwoWorkers + test::replaced(kEpoch, "GPUs: 2", "GPUs: 4"),
             "log:3: found 4 GPUs; expected 2"},
        Case{kTwoWorkers + test::replaced(kEpoch, "size: 32", "size: -32"),
             "log:3: found -32 as batch size"},
        Case{kTwoWorkers + test::replaced(kEpoch, "size: 32", "size: 3.5"),
             "found 3.5 as batch size"},
        Case{kTwoWorkers + test::replaced(kEpoch, "0.05 s", "-0.05 s"),
             "log:3: found -0.05 as average"},
        Case{kTwoWorkers + test::replaced(kEpoch, "0.05 s", "nan s"),
             "found nan as average batch time"},
        Case{kTwoWorkers + test::replaced(kEpoch, "0.05 s", "0.0 s"),
             "found 0 as average batch time"},
        Case{kTwoWorkers + test::replaced(kEpoch, "1280.0", "inf"), "found inf as throughput"},
        Case{kTwoWorkers + test::replaced(kEpoch, "0.2 s", "1e300 s"),
             "found 1e+300 s as first batch time"},
        Case{kTwoWorkers, "log: has no whole line of an epoch"}}) {
    CAPTURE(c.text);
    CHECK_THROWS_WITH_AS((void)training_log_of(c.text), doctest::Contains(c.says), InputError);
  }
}

TEST_CASE("cases: the log of 8 workers has 10 epochs of about 100 batches, the first one warm-up") {
  const auto file = test::cases() / "training-logs/resnet50_ddp_8ranks.log";
  if (!std::filesystem::exists(file)) return skip("the shared cases are not at hand");
  const TrainingLog log = read_training_log(read_text_file(file));
  CHECK(log.workers == 8);
  CHECK(log.epochs.size() == 10);
  CHECK(log.epochs[0].average_batch_seconds == 0.075);
  CHECK(log.epochs[1].average_batch_seconds == 0.071);
  CHECK(log.epochs[2].average_batch_seconds == 0.067);
  CHECK(log.epochs[0].first_batch_seconds == 0.983);
  CHECK(batches_per_epoch(log) == 100);
  CHECK(log.warnings.empty());
}

}  // namespace
}  // namespace cohort
