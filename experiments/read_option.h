// Reads one option of a policy, by its description in the registry.
#pragma once

#include "experiments/spec_node.h"
#include "policies/options.h"

namespace cohort {

// Throws InputError with the JSON pointer of what is wrong.
[[nodiscard]] OptionValue read_option(const SpecNode& node, const OptionSpec& spec);

// Reads what resolved_json() of experiments/resolved.h wrote: times in ns, bandwidths in bytes/s.
// Throws InputError likewise.
[[nodiscard]] OptionValue read_resolved_option(const SpecNode& node, const OptionSpec& spec);

}  // namespace cohort
