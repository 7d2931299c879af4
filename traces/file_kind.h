// What a file of measurements is, told by what stands in it, never by its name.
#pragma once

#include <cstdint>
#include <string_view>

#include "traces/text_file.h"

namespace cohort {

enum class FileKind : std::uint8_t {
  NcclTests,
  TrainingLog,
  ProfilerTrace,
  Topology,
  Hostfile,
  ComputeTrace,  // a table that read_recording() reads
};

// A damaged file is of its kind too: its reader says what is wrong with it. Throws InputError that
// lists the kinds when the file is of none.
[[nodiscard]] FileKind kind_of(const TextFile& file);

}  // namespace cohort
