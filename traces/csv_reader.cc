#include "traces/csv_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "traces/number.h"
#include "traces/units.h"

namespace cohort {
namespace {

constexpr double kMaxSeconds = 9223372036.0;

}  // namespace

CsvReader::CsvReader(TextFile file) : file_(std::move(file)), rest_(file_.text) {
  if (rest_.starts_with("\xef\xbb\xbf")) rest_.remove_prefix(3);
  if (rest_.empty()) throw InputError(file_.name, "is empty; expected a header line and rows");
  split(take_line(rest_));
  header_ = fields_;
}

std::string CsvReader::header_text() const {
  return excerpt(fmt::to_string(fmt::join(header_, ",")));
}

std::size_t CsvReader::column(std::string_view name) const {
  const auto found = std::ranges::find(header_, name);
  if (found == header_.end() || std::find(found + 1, header_.end(), name) != header_.end()) {
    throw complaint(1, fmt::format("found the header {}; expected the column \"{}\" once",
                                   header_text(), name));
  }
  return static_cast<std::size_t>(found - header_.begin());
}

bool CsvReader::next() {
  if (rest_.empty()) return false;
  ++line_;
  const std::string_view row = take_line(rest_);
  split(row);
  if (fields_.size() != header_.size()) {
    throw complaint(line_,
                    fmt::format("found {}: {} fields; expected {} as in the header", excerpt(row),
                                row.empty() ? 0 : fields_.size(), header_.size()));
  }
  return true;
}

std::uint64_t CsvReader::whole(std::size_t column) const {
  const auto number = parse_number<std::uint64_t>(fields_[column]);
  if (!number) {
    throw complaint(line_, fmt::format("found {} as {}; expected a whole number from 0",
                                       excerpt(fields_[column]), header_[column]));
  }
  return *number;
}

Time CsvReader::seconds(std::size_t column) const {
  const auto number = parse_number<double>(fields_[column]);
  if (!number || !(*number >= 0 && *number < kMaxSeconds)) {
    throw complaint(line_, fmt::format("found {} as {}; expected seconds, 0 or more, below {}",
                                       excerpt(fields_[column]), header_[column], kMaxSeconds));
  }
  return from_seconds_up(*number);
}

InputError CsvReader::complaint(std::size_t line, std::string what) const {
  return file_.complaint(line, std::move(what));
}

void CsvReader::split(std::string_view row) {
  fields_.clear();
  for (;;) {
    const std::size_t comma = row.find(',');
    fields_.push_back(row.substr(0, comma));
    if (comma == std::string_view::npos) return;
    row.remove_prefix(comma + 1);
  }
}

}  // namespace cohort
