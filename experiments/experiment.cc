#include "experiments/experiment.h"

#include <fmt/format.h>

#include "experiments/read_cell.h"
#include "policies/errors.h"

namespace cohort {
namespace {

// Runs `read` and puts the file in front of the place of an InputError.
template <typename Read>
auto in_file(const std::filesystem::path& file, const std::string& context, Read read) {
  try {
    return read();
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", file.string(), error.where()),
                     error.complaint() + context);
  }
}

}  // namespace

Experiment::Experiment(std::filesystem::path file, const std::vector<std::string>& sets)
    : file_(std::move(file)),
      document_(read_json_file(file_)),
      files_(std::make_unique<SpecFiles>(file_.parent_path())) {
  if (!document_.is_object()) {
    throw InputError(file_.string() + ": /",
                     fmt::format("found {}; allowed: an object", shown(document_)));
  }
  for (const auto& argument : sets) {
    const auto setting = parse_setting(argument);
    in_file(file_, " (--set)", [&] { apply(setting, document_); });
  }
  name_ = file_.stem().string();
  without_sweep_ = document_;
  without_sweep_.erase("sweep");
  in_file(file_, "", [&] {
    base_ = read_cell(document_, *files_);
    const SpecNode root(document_);
    if (const auto name = root.find("name")) name_ = name->name();
    if (const auto sweep = root.find("sweep")) axes_ = SweepAxes(*sweep);
    refuse_swept_and_tuned();
  });
}

// A value that is tuned in every cell has no effect when it is swept.
void Experiment::refuse_swept_and_tuned() const {
  for (const auto* key : {"learning_rate", "momentum"}) {
    const auto tuned = Json::json_pointer("/measure/tune") / key;
    if (!document_.contains(tuned)) continue;
    const auto swept = fmt::format("/workload/training/{}", key);
    for (const auto& pointer : axes_.pointers())
      if (pointer == swept)
        throw InputError("/sweep", fmt::format("{} is tuned in every cell ({}); allowed: one of "
                                               "the two",
                                               swept, tuned.to_string()));
  }
}

Cell Experiment::cell(std::uint64_t number) const {
  const auto settings = axes_.settings(number);
  if (settings.empty()) return base_;
  const auto context = fmt::format(" (in the cell {})", shown(settings));
  return in_file(file_, context, [&] {
    Json document = without_sweep_;
    for (const auto& setting : settings) apply(setting, document);
    return read_cell(document, *files_);
  });
}

}  // namespace cohort
