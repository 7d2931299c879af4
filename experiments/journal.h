// The finished rows of a sweep, one JSON line each, appended as they come: what kill -9 and full
// disks cannot take back.
//
//   {"journal":1,"version":"0.1.0","crc32":"xxxxxxxx"}
//   {"key":"16 hex digits","row":{...},"crc32":"xxxxxxxx"}
// The checksum (CRC-32) covers the line up to ,"crc32". A line that fails it is ignored; a torn
// last line is cut off before the next is appended. A first line that fails it is written anew when
// whole rows stand behind it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <unordered_map>

#include "experiments/file_descriptor.h"

namespace cohort {

class Journal {
 public:
  using Rows = std::unordered_map<std::uint64_t, std::string>;  // text of the row by key

  // Opens or creates. Throws InputError when the file is no journal, or of another version;
  // EnvironmentError.
  Journal(const std::filesystem::path& file, const std::string& version);

  // As on the disk when it was opened.
  [[nodiscard]] const Rows& rows() const { return rows_; }
  [[nodiscard]] std::size_t damaged_lines() const { return damaged_lines_; }

  // May be called from several threads. Once it has returned, the row survives the end of this
  // process; after sync(), of the machine.
  void append(std::uint64_t key, const std::string& row);
  void sync();

 private:
  void load(const std::string& text, const std::string& header);
  void load_rows(const std::string& text, std::size_t from);

  std::filesystem::path path_;
  FileDescriptor file_;
  std::mutex mutex_;  // guards the file and the two below
  std::size_t good_bytes_ = 0;
  bool dirty_ = false;
  Rows rows_;
  std::size_t damaged_lines_ = 0;
};

}  // namespace cohort
