// The version of this build, as it stands in manifests and journals.
#pragma once

#include <string>

namespace cohort {

[[nodiscard]] std::string version();

}  // namespace cohort
