// Owns a POSIX file descriptor, and writes to it without losing errors.
#pragma once

#include <filesystem>
#include <string_view>
#include <utility>

namespace cohort {

class FileDescriptor {
 public:
  FileDescriptor() = default;
  // open(2). Throws EnvironmentError with path and reason.
  FileDescriptor(const std::filesystem::path& path, int flags);
  ~FileDescriptor();
  FileDescriptor(FileDescriptor&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    std::swap(path_, other.path_);
    return *this;
  }

  [[nodiscard]] int get() const { return descriptor_; }
  // These throw EnvironmentError with path and reason.
  void write_all(std::string_view bytes) const;
  void truncate(std::size_t size) const;
  void sync() const;

 private:
  int descriptor_ = -1;
  std::filesystem::path path_;
};

// Writes a file beside `path`, flushes it to the disk and renames it into place: readers see the
// old or the new content, whole.
void replace_file(const std::filesystem::path& path, std::string_view content);

// EnvironmentError "PATH: cannot WHAT: reason", from errno.
[[noreturn]] void throw_errno(const std::filesystem::path& path, std::string_view what);

}  // namespace cohort
