#include "cli/calibrate.h"

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <vector>

#include "cli/calibrate_measure.h"
#include "cli/calibrated_file.h"
#include "cli/exit_codes.h"
#include "experiments/spec_json.h"
#include "policies/errors.h"
#include "traces/file_kind.h"

namespace cohort {
namespace {

CalibratedFile calibrate_file(const TextFile& file) {
  switch (kind_of(file)) {
    case FileKind::NcclTests:
      return calibrate_nccl_tests(file);
    case FileKind::TrainingLog:
      return calibrate_training_log(file);
    case FileKind::ProfilerTrace:
      return calibrate_profiler_trace(file);
    case FileKind::Topology:
      return calibrate_topology(file);
    case FileKind::Hostfile:
      return calibrate_hostfile(file);
    case FileKind::ComputeTrace:
      throw InputError(file.name, "is a table of compute times: cohort trace fit reads it");
  }
  throw ContractError("unknown kind of file");
}

}  // namespace

std::string refusals_text(const std::vector<std::string>& refused) {
  std::string text;
  for (const std::string& refusal : refused) {
    text += fmt::format("  not reported: {}\n", refusal);
  }
  return text;
}

std::string spec_text(std::string_view title, const char* key, const OrderedJson& value) {
  return fmt::format("\n{}:\n\"{}\": {}\n", title, key, value.dump());
}

int calibrate(const CalibrateArguments& arguments) {
  if (arguments.measure) return calibrate_by_measuring(arguments.json);
  if (arguments.files.empty())
    throw InputError("calibrate", "neither files nor --measure; allowed: one of them");
  std::vector<CalibratedFile> read;
  for (const auto& file : arguments.files) read.push_back(calibrate_file(read_text_file(file)));
  OrderedJson logs = OrderedJson::array();
  for (CalibratedFile& file : read) {
    for (const OrderedJson& warning : file.entry["warnings"]) {
      fmt::print(stderr, "cohort: {}: {}\n", file.entry["file"].get<std::string>(),
                 warning.get<std::string>());
    }
    if (!arguments.json) fmt::print("{}\n", file.text);
    logs.push_back(std::move(file.entry));
  }
  if (arguments.json)
    fmt::print("{}\n", OrderedJson{{"logs", std::move(logs)}}.dump(
                           2, ' ', false, OrderedJson::error_handler_t::replace));
  return kDone;
}

}  // namespace cohort
