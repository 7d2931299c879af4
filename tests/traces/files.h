// Files for the tests of traces/: own samples, the shared cases where they are at hand, files
// written for one test.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace cohort::test {

inline std::filesystem::path sample(std::string_view name) {
  return std::filesystem::path(COHORT_SOURCE_ROOT) / "tests/traces/samples" / name;
}

// COHORT_CASES, else ../shared/cases beside the source tree.
inline std::filesystem::path cases() {
  if (const char* folder = std::getenv("COHORT_CASES")) return folder;
  return std::filesystem::path(COHORT_SOURCE_ROOT) / "../shared/cases";
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
