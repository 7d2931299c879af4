// Random messages of every type, filled by hand: independent of the description in the codec.
#pragma once

#include "policies/random.h"
#include "runtime/messages.h"

namespace cohort {

// `type`: a place in Message.
[[nodiscard]] Message random_message(std::size_t type, Stream& stream);

}  // namespace cohort
