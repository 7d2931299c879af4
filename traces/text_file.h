// Text files: a whole one in memory, as the readers of traces want it, or line by line.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "policies/errors.h"

namespace cohort {

inline constexpr std::size_t kLargestTextBytes = std::size_t{1} << 30;

// A pipe is read to its end; one that nobody writes to is empty. Throws InputError when the file is
// missing, a directory, not readable or larger than `most_bytes`, EnvironmentError when reading
// fails.
[[nodiscard]] std::string read_text(const std::filesystem::path& file,
                                    std::size_t most_bytes = kLargestTextBytes);

// A file read whole, with the name that messages give it.
struct TextFile {
  std::string name;
  std::string text;

  [[nodiscard]] InputError complaint(std::size_t line, std::string what) const;  // lines from 1
};
// Throws as read_text() does.
[[nodiscard]] TextFile read_text_file(const std::filesystem::path& file);

// Takes the first line off `text`, without its line end (LF or CRLF).
[[nodiscard]] std::string_view take_line(std::string_view& text);

// Calls `read(line, number)` for every line of `text`; numbers count from 1.
template <typename Read>
void each_line(std::string_view text, Read read) {
  for (std::size_t number = 1; !text.empty(); ++number) read(take_line(text), number);
}

[[nodiscard]] inline bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// What stands between blanks and tabs; views into `line`.
using Words = std::vector<std::string_view>;
[[nodiscard]] Words split_words(std::string_view line);

class OpenFile;  // text_file.cc

// The lines of a file that need not fit into memory, one after the other.
class LineReader {
 public:
  // Throws as read_text() does.
  explicit LineReader(std::filesystem::path file);
  ~LineReader();

  // False at the end of the file. Throws InputError, with the line's number, on a line longer than
  // `most_bytes` or the last one without its line end, EnvironmentError when reading fails.
  [[nodiscard]] bool next(std::size_t most_bytes);
  // The line without its line end; valid until next(). Numbers count from 1.
  [[nodiscard]] std::string_view line() const { return line_; }
  [[nodiscard]] std::size_t number() const { return number_; }

 private:
  std::filesystem::path path_;
  std::unique_ptr<OpenFile> source_;
  std::vector<char> chunk_;
  std::size_t at_ = 0, filled_ = 0;  // of the chunk
  std::string line_;
  std::size_t number_ = 0;
};

// `text` cut to a length that fits a message, other than printable characters replaced.
[[nodiscard]] std::string excerpt(std::string_view text);

}  // namespace cohort
