#include "experiments/version.h"

namespace cohort {

std::string version() { return COHORT_VERSION; }

}  // namespace cohort
