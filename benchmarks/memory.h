// Counts the bytes of the heap: live ones and their peak. Linking memory.cc replaces the program's
// operator new and delete.
#pragma once

#include <cstddef>

namespace cohort {

[[nodiscard]] std::size_t live_bytes();
[[nodiscard]] std::size_t peak_bytes();  // since the last reset
void reset_peak_bytes();

}  // namespace cohort
