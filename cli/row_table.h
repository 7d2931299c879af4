// Result rows as a table for people.
#pragma once

#include <string>
#include <vector>

namespace cohort {

// `rows` are JSON objects as row_json makes them. Fractions in per cent; `relative` is throughput
// over that of the first policy with the same seed.
[[nodiscard]] std::string row_table(const std::vector<std::string>& rows);

// {"runs": [ROWS]}, a row a line.
[[nodiscard]] std::string runs_json(const std::vector<std::string>& rows);

// Columns padded to their widest cell, two spaces between; the first line is the head. Text is
// left-aligned where `left` says so.
[[nodiscard]] std::string text_table(const std::vector<std::vector<std::string>>& lines,
                                     const std::vector<bool>& left);

}  // namespace cohort
