// What a file looks like after an accident, for tests of readers.
#pragma once

#include <cstdint>
#include <string>

#include "policies/random.h"

namespace cohort::test {

// Cut somewhere, with a few bytes changed: one in three of each alone.
inline std::string damaged(std::string text, Stream& random) {
  const std::uint32_t kind = random.below(3);
  if (kind != 0) text.resize(random.below(static_cast<std::uint32_t>(text.size())));
  if (kind != 1 && !text.empty()) {
    for (std::uint32_t flips = 1 + random.below(4); flips > 0; --flips) {
      text[random.below(static_cast<std::uint32_t>(text.size()))] =
          static_cast<char>(random.below(256));
    }
  }
  return text;
}

}  // namespace cohort::test
