// A binary file, plain or compressed by gzip (zlib tells them apart by the first bytes), read from
// its start to its end. Places in messages count the bytes of the unpacked content.
//
// Bad content is an InputError: where, what was found, what is allowed. A disk that fails is an
// EnvironmentError.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace cohort {

class PackedFile {
 public:
  // Throws InputError when there is no such file or it is a directory or not readable.
  explicit PackedFile(std::filesystem::path path);

  // `what` is read, for messages: "the number of images". Throw InputError when the file ends
  // before or its compressed form is damaged. Memory grows with what is there, not with `count`.
  [[nodiscard]] std::uint32_t big_endian(const std::string& what);
  [[nodiscard]] std::vector<std::uint8_t> bytes(std::size_t count, const std::string& what);
  // All that is left; at most `most` bytes, more is an InputError.
  [[nodiscard]] std::vector<std::uint8_t> rest(std::size_t most);
  // Throws InputError when something is left, or the checksum of the compressed form is wrong.
  void expect_end();

  // "FILE, byte 16": the place `back` bytes before the next one.
  [[nodiscard]] std::string place(std::size_t back = 0) const;

 private:
  struct Close {
    void operator()(gzFile_s* file) const { gzclose_r(file); }
  };
  std::size_t read_some(std::uint8_t* into, std::size_t most);

  std::filesystem::path path_;
  std::unique_ptr<gzFile_s, Close> file_;
  std::size_t offset_ = 0;
};

}  // namespace cohort
