#include "experiments/file_descriptor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "policies/errors.h"

namespace cohort {

void throw_errno(const std::filesystem::path& path, std::string_view what) {
  throw EnvironmentError(
      fmt::format("{}: cannot {}: {}", path.string(), what, std::strerror(errno)));
}

FileDescriptor::FileDescriptor(const std::filesystem::path& path, int flags)
    : descriptor_(::open(path.c_str(), flags | O_CLOEXEC, 0666)), path_(path) {
  if (descriptor_ < 0) throw_errno(path, "open");
}

FileDescriptor::~FileDescriptor() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void FileDescriptor::write_all(std::string_view bytes) const {
  while (!bytes.empty()) {
    const auto written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw_errno(path_, "write");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void FileDescriptor::truncate(std::size_t size) const {
  if (::ftruncate(descriptor_, static_cast<off_t>(size)) != 0) throw_errno(path_, "truncate");
}

void FileDescriptor::sync() const {
  if (::fsync(descriptor_) != 0) throw_errno(path_, "flush");
}

void replace_file(const std::filesystem::path& path, std::string_view content) {
  const auto beside = std::filesystem::path(path).concat(".part");
  try {
    const FileDescriptor file(beside, O_WRONLY | O_CREAT | O_TRUNC);
    file.write_all(content);
    file.sync();
  } catch (const EnvironmentError&) {
    ::unlink(beside.c_str());
    throw;
  }
  if (::rename(beside.c_str(), path.c_str()) != 0) throw_errno(path, "rename into place");
}

}  // namespace cohort
