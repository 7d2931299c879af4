// A strict reader of comma-separated tables of numbers: a header line, then rows with as many
// fields as the header; no quoting, no spaces. LF or CRLF, and the last row may lack it; a number
// whose point has no digit on both sides was cut off. Every complaint is an InputError with file
// and line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "policies/errors.h"
#include "policies/synchronisation.h"
#include "traces/text_file.h"

namespace cohort {

class CsvReader {
 public:
  // Reads the header. Throws InputError on an empty file.
  explicit CsvReader(TextFile file);
  CsvReader(const CsvReader&) = delete;  // fields are views into the text
  CsvReader& operator=(const CsvReader&) = delete;

  [[nodiscard]] const std::vector<std::string_view>& header() const { return header_; }
  [[nodiscard]] std::string header_text() const;  // for a message
  // Throws InputError when the header lacks the column or has it twice.
  [[nodiscard]] std::size_t column(std::string_view name) const;

  // Goes to the next row; false at the end. Throws InputError on a row of another length.
  [[nodiscard]] bool next();
  [[nodiscard]] std::size_t line() const { return line_; }  // of the current row, from 1

  // Fields of the current row.
  [[nodiscard]] std::uint64_t whole(std::size_t column) const;
  [[nodiscard]] Time seconds(std::size_t column) const;  // rounded up to ns

  [[nodiscard]] InputError complaint(std::size_t line, std::string what) const;

 private:
  void split(std::string_view row);

  TextFile file_;
  std::string_view rest_;
  std::vector<std::string_view> header_;
  std::vector<std::string_view> fields_;
  std::size_t line_ = 1;
};

}  // namespace cohort
