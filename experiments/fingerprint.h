// 64-bit FNV-1a of text: names the content of a result row and of an input file. Not for security.
#pragma once

#include <cstdint>
#include <string_view>

namespace cohort {

class Fingerprint {
 public:
  Fingerprint& add(std::string_view bytes) {
    for (const char c : bytes) value_ = (value_ ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    return *this;
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325U;
};

}  // namespace cohort
