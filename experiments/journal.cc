#include "experiments/journal.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <boost/crc.hpp>
#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>

#include "policies/errors.h"

namespace cohort {
namespace {

constexpr std::string_view kBeforeKey = R"({"key":")";
constexpr std::string_view kBeforeRow = R"(","row":)";
constexpr std::size_t kKeyDigits = 16;
constexpr std::size_t kRowStart = kBeforeKey.size() + kKeyDigits + kBeforeRow.size();

std::string sealed(std::string line) {
  boost::crc_32_type checksum;
  checksum.process_bytes(line.data(), line.size());
  return fmt::format("{},\"crc32\":\"{:08x}\"}}\n", line, checksum.checksum());
}

// The line up to its checksum, if that is right. `line` has no line break.
std::optional<std::string_view> unsealed(std::string_view line) {
  constexpr std::size_t kSeal = std::string_view(R"(,"crc32":"00000000"})").size();
  if (line.size() < kSeal) return std::nullopt;
  const auto covered = line.substr(0, line.size() - kSeal);
  if (sealed(std::string(covered)).substr(0, line.size()) != line) return std::nullopt;
  return covered;
}

}  // namespace

Journal::Journal(const std::filesystem::path& file, const std::string& version) : path_(file) {
  std::string text;
  if (std::ifstream stream(file, std::ios::binary); stream) {
    text.assign(std::istreambuf_iterator<char>(stream), {});
  }
  const auto header = sealed(fmt::format(R"({{"journal":1,"version":"{}")", version));
  load(text, header);
  file_ = FileDescriptor(file, O_WRONLY | O_CREAT | O_APPEND);
  if (good_bytes_ < std::filesystem::file_size(file)) file_.truncate(good_bytes_);
  if (good_bytes_ == 0) {
    file_.write_all(header);
    good_bytes_ = header.size();
  }
}

void Journal::load(const std::string& text, const std::string& header) {
  if (header.starts_with(text)) return;  // new, or torn within its first line
  const auto first = text.substr(0, text.find('\n') + 1);
  const std::string_view first_line(first.data(), first.empty() ? 0 : first.size() - 1);
  if (first != header && unsealed(first_line)) {
    throw InputError(path_.string(), fmt::format("was written by another version: {}; allowed: {}",
                                                 first_line, header.substr(0, header.size() - 1)));
  }
  load_rows(text, first.size());
  if (first == header) return;
  if (rows_.empty()) throw InputError(path_.string(), "is no journal of results");
  ++damaged_lines_;
  const auto rows = text.substr(first.size(), good_bytes_ - first.size());
  replace_file(path_, header + rows);
  good_bytes_ = header.size() + rows.size();
}

void Journal::load_rows(const std::string& text, std::size_t from) {
  for (auto to = text.find('\n', from); to != std::string::npos; to = text.find('\n', from)) {
    const auto line = unsealed(std::string_view(text).substr(from, to - from));
    std::uint64_t key = 0;
    const bool good = line && line->size() > kRowStart && line->starts_with(kBeforeKey) &&
                      std::from_chars(line->data() + kBeforeKey.size(),
                                      line->data() + kBeforeKey.size() + kKeyDigits, key, 16)
                              .ec == std::errc{};
    good ? static_cast<void>(rows_.insert_or_assign(key, std::string(line->substr(kRowStart))))
         : static_cast<void>(++damaged_lines_);
    from = to + 1;
  }
  if (from < text.size()) ++damaged_lines_;
  good_bytes_ = from;
}

void Journal::append(std::uint64_t key, const std::string& row) {
  const auto line = sealed(fmt::format("{}{:016x}{}{}", kBeforeKey, key, kBeforeRow, row));
  const std::scoped_lock lock(mutex_);
  try {
    file_.write_all(line);
  } catch (const EnvironmentError&) {
    file_.truncate(good_bytes_);  // a full disk leaves no half a line
    throw;
  }
  good_bytes_ += line.size();
  dirty_ = true;
}

void Journal::sync() {
  {
    const std::scoped_lock lock(mutex_);
    if (!dirty_) return;
    dirty_ = false;
  }
  file_.sync();
}

}  // namespace cohort
