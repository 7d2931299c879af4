// The known name closest to a misspelt one, for messages.
#pragma once

#include <span>
#include <string_view>

namespace cohort {

// Edit distance (insertions, deletions, substitutions and swaps of neighbours, each 1; case
// ignored).
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

// The first name that begins with `found` (three letters or more, case ignored), else the first of
// the closest names; empty when there are no names.
[[nodiscard]] std::string_view nearest_name(std::string_view found,
                                            std::span<const std::string_view> names);

}  // namespace cohort
