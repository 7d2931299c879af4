// Files for the tests of traces/: own samples, the shared cases where they are at hand, files
// written for one test; and what is said of them.
#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace cohort::test {

inline std::filesystem::path sample(std::string_view name) {
  return std::filesystem::path(COHORT_SOURCE_ROOT) / "tests/traces/samples" / name;
}

// COHORT_CASES, else ../shared/cases beside the source tree.
inline std::filesystem::path cases() {
  if (const char* folder = std::getenv("COHORT_CASES")) return folder;
  return std::filesystem::path(COHORT_SOURCE_ROOT) / "../shared/cases";
}

inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// `text` with the first `what`, which stands in it, replaced.
inline std::string replaced(std::string text, std::string_view what, std::string_view by) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

// Whether one of the notes or warnings has these words.
inline bool mentions(const std::vector<std::string>& notes, std::string_view words) {
  return std::ranges::any_of(
      notes, [&](const std::string& note) { return note.find(words) != std::string::npos; });
}

// A file that lives as long as this object.
class WrittenFile {
 public:
  explicit WrittenFile(std::string_view text) {
    static int number = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("cohort-traces-" + std::to_string(::getpid()) + "-" + std::to_string(++number));
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~WrittenFile() { std::filesystem::remove(path_); }
  WrittenFile(const WrittenFile&) = delete;
  WrittenFile& operator=(const WrittenFile&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace cohort::test
