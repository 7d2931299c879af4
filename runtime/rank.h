// One process of a job: takes part in run after run until the group generator says that the job is
// over. A compute thread runs local steps, a sync thread (the caller's) the synchronisations; the
// control link has its own. After a run with training the sync thread takes part in the evaluation.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "policies/errors.h"
#include "runtime/backend.h"
#include "runtime/messages.h"
#include "training/training_plan.h"

namespace cohort {

struct RankOptions {
  std::string server;  // address:port of the group generator
  Secret secret{};
  std::uint32_t rank = 0;
  std::chrono::milliseconds connect_limit{30'000};
  // The job's plan of this number (TrainingTerms::plan), from what this process read itself; may be
  // empty where nothing is trained. Called once a run.
  std::function<std::shared_ptr<const TrainingPlan>(std::uint32_t number)> plans{};
};

// The group generator ended the job as failed; what() is its message, which it gives the user
// itself.
class JobFailed : public EnvironmentError {
 public:
  using EnvironmentError::EnvironmentError;
};

// Returns when the job ended well. Throws JobFailed, and EnvironmentError that names the rank when
// something fails on this rank or the connection is lost, which nobody else can tell. All calls of
// the backend's transport are made by the calling thread.
void serve_as_rank(const RankOptions& options, Backend& backend);

}  // namespace cohort
