// What gpu_check says of training: each model on the GPU against the host, how many steps it takes
// a second, and a job of all ranks against one process.
#pragma once

#include <vector>

#include "tests/runtime/nccl/check_table.h"
#include "tests/runtime/nccl/ranks.h"

namespace cohort {

// On one rank: numbers for the rows, and how many they are.
[[nodiscard]] std::vector<double> check_models(Backend& backend);
[[nodiscard]] std::size_t model_numbers();
void print_model_rows(const std::vector<double>& numbers, CheckTable& table);

// Runs a job of its own. False: ranks failed, and what they said is on stderr.
[[nodiscard]] bool check_training_job(const Job& job, CheckTable& table);

}  // namespace cohort
