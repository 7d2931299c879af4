#include "traces/text_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "policies/errors.h"

namespace cohort {

std::string read_text(const std::filesystem::path& file) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status)) throw InputError(file.string(), "no such file");
  if (std::filesystem::is_directory(status)) {
    throw InputError(file.string(), "is a directory; expected a file");
  }
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    throw InputError(file.string(), fmt::format("cannot be opened: {}", std::strerror(errno)));
  }
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (stream.bad()) {
    throw EnvironmentError(fmt::format("reading {}: {}", file.string(), std::strerror(errno)));
  }
  return text;
}

std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::string excerpt(std::string_view text) {
  std::string shown(text.substr(0, 60));
  for (char& c : shown) {
    if (c < ' ' || c > '~') c = '?';
  }
  return fmt::format("\"{}{}\"", shown, text.size() > 60 ? "..." : "");
}

}  // namespace cohort
