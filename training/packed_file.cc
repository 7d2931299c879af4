#include "training/packed_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "policies/errors.h"

namespace cohort {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 20;

}  // namespace

PackedFile::PackedFile(std::filesystem::path path) : path_(std::move(path)) {
  std::error_code failed;
  const auto status = std::filesystem::status(path_, failed);
  const auto shown = path_.empty() ? std::string("\"\"") : path_.string();
  if (status.type() == std::filesystem::file_type::not_found)
    throw InputError(shown, "there is no such file");
  if (status.type() != std::filesystem::file_type::regular)
    throw InputError(shown, "is not a regular file; allowed: a file, plain or compressed by gzip");
  file_.reset(gzopen(path_.c_str(), "rb"));
  if (!file_) throw InputError(shown, fmt::format("cannot be opened: {}", std::strerror(errno)));
}

std::string PackedFile::place(std::size_t back) const {
  return fmt::format("{}, byte {}", path_.string(), offset_ - back);
}

std::size_t PackedFile::read_some(std::uint8_t* into, std::size_t most) {
  const int got = gzread(file_.get(), into, static_cast<unsigned>(std::min(most, kChunk)));
  int code = Z_OK;
  const std::string text = gzerror(file_.get(), &code);
  if (code == Z_ERRNO)
    throw EnvironmentError(fmt::format("reading {}: {}", path_.string(), std::strerror(errno)));
  if (got > 0) offset_ += static_cast<std::size_t>(got);
  // Content in front of the damage is handed out first: the damage is reported where it is met.
  if (got > 0) return static_cast<std::size_t>(got);
  if (code == Z_BUF_ERROR) throw InputError(place(), "the compressed file is cut off here");
  if (got < 0) throw InputError(place(), fmt::format("damaged gzip file ({})", text));
  return 0;
}

std::vector<std::uint8_t> PackedFile::bytes(std::size_t count, const std::string& what) {
  std::vector<std::uint8_t> all;
  while (all.size() < count) {
    const auto had = all.size();
    all.resize(std::min(count, had + kChunk));
    const auto got = read_some(all.data() + had, all.size() - had);
    if (got == 0)
      throw InputError(
          place(), fmt::format("the file ends after {} of the {} bytes of {}", had, count, what));
    all.resize(had + got);
  }
  return all;
}

std::vector<std::uint8_t> PackedFile::rest(std::size_t most) {
  std::vector<std::uint8_t> all;
  for (;;) {
    const auto had = all.size();
    all.resize(had + kChunk);
    const auto got = read_some(all.data() + had, kChunk);
    all.resize(had + got);
    if (got == 0) return all;
    if (all.size() > most) throw InputError(place(), fmt::format("more than {} bytes", most));
  }
}

std::uint32_t PackedFile::big_endian(const std::string& what) {
  const auto four = bytes(4, what);
  std::uint32_t value = 0;
  for (const auto byte : four) value = value << 8 | byte;
  return value;
}

void PackedFile::expect_end() {
  std::uint8_t byte = 0;
  if (read_some(&byte, 1) > 0)
    throw InputError(place(1), "found more bytes than the header announces; allowed: the end");
}

}  // namespace cohort
