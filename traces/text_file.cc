#include "traces/text_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "policies/errors.h"

namespace cohort {

class OpenFile {
 public:
  // Without O_NONBLOCK, opening a named pipe that nobody writes to would wait for ever.
  explicit OpenFile(const std::filesystem::path& path)
      : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
    if (descriptor_ >= 0) return;
    if (errno == ENOENT) throw InputError(shown_path(), "there is no such file");
    throw InputError(shown_path(), fmt::format("cannot be opened: {}", std::strerror(errno)));
  }
  ~OpenFile() { ::close(descriptor_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  // Bytes read; 0 at the end, which a pipe without a writer has reached.
  [[nodiscard]] std::size_t read(std::vector<char>& chunk) const {
    for (;;) {
      const auto got = ::read(descriptor_, chunk.data(), chunk.size());
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno == EISDIR) throw InputError(shown_path(), "is a directory; allowed: a file");
      if (errno == EAGAIN) {  // a pipe with a writer: from here on its bytes are waited for
        ::fcntl(descriptor_, F_SETFL, ::fcntl(descriptor_, F_GETFL) & ~O_NONBLOCK);
      } else if (errno != EINTR) {
        throw EnvironmentError(fmt::format("reading {}: {}", shown_path(), std::strerror(errno)));
      }
    }
  }

 private:
  [[nodiscard]] std::string shown_path() const { return path_.empty() ? "\"\"" : path_.string(); }

  std::filesystem::path path_;
  int descriptor_;
};

std::string read_text(const std::filesystem::path& file, std::size_t most_bytes) {
  const OpenFile opened(file);
  std::string text;
  std::vector<char> chunk(std::size_t{1} << 16);
  while (const auto got = opened.read(chunk)) {
    text.append(chunk.data(), got);
    if (text.size() > most_bytes) {
      throw InputError(file.string(), fmt::format("larger than {} bytes", most_bytes));
    }
  }
  return text;
}

InputError TextFile::complaint(std::size_t line, std::string what) const {
  return {fmt::format("{}:{}", name, line), std::move(what)};
}

TextFile read_text_file(const std::filesystem::path& file) {
  return {file.string(), read_text(file)};
}

LineReader::LineReader(std::filesystem::path file)
    : path_(std::move(file)),
      source_(std::make_unique<OpenFile>(path_)),
      chunk_(std::size_t{1} << 16) {}

LineReader::~LineReader() = default;

bool LineReader::next(std::size_t most_bytes) {
  line_.clear();
  ++number_;
  for (;;) {
    if (at_ == filled_) {
      at_ = 0;
      filled_ = source_->read(chunk_);
      if (filled_ == 0 && line_.empty()) return false;
    }
    const std::string_view rest(chunk_.data() + at_, filled_ - at_);
    const auto end = std::min(rest.find('\n'), rest.size());
    line_.append(rest.substr(0, end));
    at_ += std::min(end + 1, rest.size());
    const auto refuse = [&](std::string what) {
      throw InputError(fmt::format("{}:{}", path_.string(), number_), std::move(what));
    };
    if (line_.size() > most_bytes) refuse(fmt::format("longer than {} bytes", most_bytes));
    if (end < rest.size()) return true;
    if (filled_ == 0) refuse("the file ends within the line: it was cut off");
  }
}

std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

Words split_words(std::string_view line) {
  Words words;
  constexpr std::string_view kBlank = " \t";
  for (;;) {
    const std::size_t start = line.find_first_not_of(kBlank);
    if (start == std::string_view::npos) return words;
    line.remove_prefix(start);
    const std::size_t end = std::min(line.find_first_of(kBlank), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

std::string excerpt(std::string_view text) {
  std::string shown(text.substr(0, 60));
  for (char& c : shown) {
    if (c < ' ' || c > '~') c = '?';
  }
  return fmt::format("\"{}{}\"", shown, text.size() > 60 ? "..." : "");
}

}  // namespace cohort
