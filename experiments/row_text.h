// Result rows as JSON and CSV text. Names carry units; what is not known is null in JSON and empty
// in CSV, never 0.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/cell.h"
#include "experiments/setting.h"
#include "experiments/spec_json.h"
#include "traces/result_row.h"

namespace cohort {

struct Tuning;  // experiments/tuning.h

template <typename Value>
[[nodiscard]] OrderedJson or_null(const std::optional<Value>& value) {
  return value ? OrderedJson(*value) : OrderedJson(nullptr);
}

// What the elapsed time is called: `simulated_seconds` or `measured_seconds`.
enum class Clock : std::uint8_t { Simulated, Measured };

struct RowExtras {
  Clock clock = Clock::Simulated;
  std::optional<double> target_loss{};  // of runs with training
  const Tuning* tuning = nullptr;       // null: the rates are the spec's
};

// With the target loss of the scenario's own plan.
[[nodiscard]] RowExtras extras_of(const Scenario& scenario, Clock clock = Clock::Simulated);

// A run with training has more columns (experiments/learning_text.h). `error` is the last one.
[[nodiscard]] OrderedJson row_json(const ResultRow& row, const RowExtras& extras = {});

// The same columns, of a run that ended with `error`.
[[nodiscard]] OrderedJson failed_row_json(const Scenario& scenario, const std::string& error,
                                          const RowExtras& extras = {});

// One line of results.jsonl: the cell's settings, keyed by their pointers, in front of the row.
// `row` is the text of an object.
[[nodiscard]] std::string jsonl_line(const std::vector<Setting>& settings, const std::string& row);

// The columns of results.csv, which has no lists; `learning`: with those of training.
[[nodiscard]] std::vector<std::string> csv_columns(Clock clock, bool learning);

// One line of results.csv (RFC 4180): the settings, then these columns, empty where the row has
// none; and the header line.
[[nodiscard]] std::string csv_line(const std::vector<Setting>& settings, const std::string& row,
                                   const std::vector<std::string>& columns);
[[nodiscard]] std::string csv_header(const std::vector<std::string>& pointers,
                                     const std::vector<std::string>& columns);

// Whether the text of a row has the columns of training.
[[nodiscard]] bool has_learning(const std::string& row);

}  // namespace cohort
