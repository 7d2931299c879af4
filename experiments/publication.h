// The published files of a result directory, made from finished rows: results.jsonl and
// results.csv, in canonical order, and the manifest.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "experiments/experiment.h"
#include "experiments/journal.h"
#include "experiments/result_directory.h"
#include "experiments/row_text.h"
#include "experiments/sweep_plan.h"

namespace cohort {

struct Results {
  std::string jsonl;
  std::string csv;
  std::size_t failed = 0;
};

// Throws InputError when the directory holds rows that are not in the plan: it belongs to another
// spec.
void check_same_spec(const std::vector<PlannedRow>& plan, ResultDirectory& directory);

// Rows of the plan that `finished` lacks, each key once.
[[nodiscard]] std::vector<PlannedRow> missing_rows(const std::vector<PlannedRow>& plan,
                                                   const Journal::Rows& finished);

// `rows` has every key of the plan. A base-only plan of a spec with a sweep has no columns of
// settings: `columns` false.
[[nodiscard]] Results results_of(const Experiment& experiment, const std::vector<PlannedRow>& plan,
                                 const Journal::Rows& rows, bool columns = true,
                                 Clock clock = Clock::Simulated);

// Whether all files stand there, these results among them.
[[nodiscard]] bool is_published(const Results& results, const ResultDirectory& directory);

// The manifest comes first: wherever this is cut off, the results are not all there yet, and the
// next run publishes again.
void publish(const std::string& manifest, const Results& results, const ResultDirectory& directory);

}  // namespace cohort
