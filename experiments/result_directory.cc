#include "experiments/result_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <cerrno>
#include <fstream>
#include <iterator>

#include "policies/errors.h"

namespace cohort {
namespace {

constexpr const char* kJournal = "journal.jsonl";

// A locked descriptor of the directory, which exists afterwards and holds results or nothing.
FileDescriptor locked(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_directory(status)) {
    throw InputError("--out " + path.string(),
                     "is a file; allowed: a directory of results, or a new one");
  }
  std::filesystem::create_directories(path, error);
  if (error)
    throw EnvironmentError(fmt::format("{}: cannot create: {}", path.string(), error.message()));
  FileDescriptor directory(path, O_RDONLY | O_DIRECTORY);
  if (::flock(directory.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) throw_errno(path, "lock");
    throw EnvironmentError(
        path.string() +
        ": another process writes results there now; wait for it, or name another --out");
  }
  if (!std::filesystem::exists(path / kJournal) && !std::filesystem::is_empty(path)) {
    throw InputError(
        "--out " + path.string(),
        "holds files but no results; allowed: a directory of results, an empty or a new one");
  }
  return directory;
}

}  // namespace

ResultDirectory::ResultDirectory(std::filesystem::path path, const std::string& version)
    : path_(std::move(path)), lock_(locked(path_)), journal_(path_ / kJournal, version) {}

bool ResultDirectory::has(const std::string& name, const std::string& content) const {
  std::ifstream stream(path_ / name, std::ios::binary);
  return stream && std::string(std::istreambuf_iterator<char>(stream), {}) == content;
}

void ResultDirectory::publish(const std::string& name, const std::string& content) const {
  if (!has(name, content)) replace_file(path_ / name, content);
}

}  // namespace cohort
