// What `cohort calibrate` says of one file, a function and a source file for each kind: as JSON, as
// text, and the part of a spec that follows from it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiments/spec_json.h"
#include "traces/text_file.h"

namespace cohort {

struct CalibratedFile {
  // `kind`, `file`, what the file says, the part of a spec (`cluster`, `workload`), `refused` (what
  // the file cannot show, and why), `warnings`.
  OrderedJson entry;
  std::string text;
};

// Each throws InputError as the reader of that kind does.
[[nodiscard]] CalibratedFile calibrate_nccl_tests(const TextFile& file);
[[nodiscard]] CalibratedFile calibrate_training_log(const TextFile& file);
[[nodiscard]] CalibratedFile calibrate_profiler_trace(const TextFile& file);
[[nodiscard]] CalibratedFile calibrate_topology(const TextFile& file);
[[nodiscard]] CalibratedFile calibrate_hostfile(const TextFile& file);

// For these functions: lines `  not reported: ...`.
[[nodiscard]] std::string refusals_text(const std::vector<std::string>& refused);
// `title`, then the key and its value as they stand in a spec.
[[nodiscard]] std::string spec_text(std::string_view title, const char* key,
                                    const OrderedJson& value);

}  // namespace cohort
