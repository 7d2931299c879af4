// Result rows as JSON and CSV text. Names carry units; what is not known is null in JSON and empty
// in CSV, never 0.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiments/cell.h"
#include "experiments/setting.h"
#include "traces/result_row.h"

namespace cohort {

using OrderedJson = nlohmann::ordered_json;  // columns keep their order

// What the elapsed time is called: `simulated_seconds` or `measured_seconds`.
enum class Clock : std::uint8_t { Simulated, Measured };

[[nodiscard]] OrderedJson row_json(const ResultRow& row, Clock clock = Clock::Simulated);

// The same columns, of a run that ended with `error`.
[[nodiscard]] OrderedJson failed_row_json(const Scenario& scenario, const std::string& error,
                                          Clock clock = Clock::Simulated);

// One line of results.jsonl: the cell's settings, keyed by their pointers, in front of the row.
// `row` is the text of an object.
[[nodiscard]] std::string jsonl_line(const std::vector<Setting>& settings, const std::string& row);

// One line of results.csv (RFC 4180) with the same columns; and its header line.
[[nodiscard]] std::string csv_line(const std::vector<Setting>& settings, const std::string& row);
[[nodiscard]] std::string csv_header(const std::vector<std::string>& pointers,
                                     Clock clock = Clock::Simulated);

}  // namespace cohort
