#include "experiments/publication.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <unordered_set>

#include "experiments/row_text.h"
#include "policies/errors.h"

namespace cohort {
namespace {

constexpr const char* kManifest = "manifest.json";
constexpr const char* kJsonLines = "results.jsonl";
constexpr const char* kCsv = "results.csv";

bool has_manifest(const ResultDirectory& directory) {
  std::ifstream text(directory.path() / kManifest);
  return text && Json::accept(text);
}

}  // namespace

void check_same_spec(const std::vector<PlannedRow>& plan, ResultDirectory& directory) {
  std::unordered_set<std::uint64_t> keys;
  for (const auto& row : plan) keys.insert(row.key);
  std::size_t foreign = 0;
  std::string example;
  for (const auto& [key, text] : directory.journal().rows()) {
    if (keys.contains(key)) continue;
    if (example.empty() || text < example) example = text;
    ++foreign;
  }
  if (foreign == 0) return;
  const auto row = Json::parse(example);
  throw InputError(
      "--out " + directory.path().string(),
      fmt::format(
          "holds results of another spec: {} rows that this one does not ask for, such as {} with "
          "seed {}; nothing was changed; allowed: another directory, or a spec that only adds "
          "seeds, policies or values",
          foreign, shown(row["label"]), shown(row["seed"])));
}

std::vector<PlannedRow> missing_rows(const std::vector<PlannedRow>& plan,
                                     const Journal::Rows& finished) {
  std::vector<PlannedRow> missing;
  std::unordered_set<std::uint64_t> seen;
  for (const auto& row : plan) {
    if (!finished.contains(row.key) && seen.insert(row.key).second) missing.push_back(row);
  }
  return missing;
}

Results results_of(const Experiment& experiment, const std::vector<PlannedRow>& plan,
                   const Journal::Rows& rows, bool columns, Clock clock) {
  const bool learning = std::ranges::any_of(
      plan, [&](const PlannedRow& row) { return has_learning(rows.at(row.key)); });
  const auto names = csv_columns(clock, learning);
  Results results;
  results.csv =
      csv_header(columns ? experiment.axes().pointers() : std::vector<std::string>{}, names);
  for (const auto& row : plan) {
    const auto settings = columns ? experiment.axes().settings(row.cell) : std::vector<Setting>{};
    const auto& text = rows.at(row.key);
    results.jsonl += jsonl_line(settings, text);
    results.csv += csv_line(settings, text, names);
    if (!text.ends_with(R"("error":null})")) ++results.failed;
  }
  return results;
}

bool is_published(const Results& results, const ResultDirectory& directory) {
  return has_manifest(directory) && directory.has(kJsonLines, results.jsonl) &&
         directory.has(kCsv, results.csv);
}

void publish(const std::string& manifest, const Results& results,
             const ResultDirectory& directory) {
  directory.publish(kManifest, manifest);
  directory.publish(kJsonLines, results.jsonl);
  directory.publish(kCsv, results.csv);
}

}  // namespace cohort
