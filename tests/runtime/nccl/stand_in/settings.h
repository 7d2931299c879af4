// TEST DOUBLE. What the environment tells the stand-in; each variable is read anew when asked for.
//
//   COHORT_STAND_IN_GPUS=n        GPUs of this host (16)
//   COHORT_STAND_IN_INIT_MS=n     that a communicator takes to be made (0)
//   COHORT_STAND_IN_PRODUCT_US=n  that a matrix product takes (100)
//   COHORT_STAND_IN_LATE=rank:ms  that the process with this COHORT_RANK takes to find its GPUs (0)
//   COHORT_STAND_IN_FAIL=rank:call:nth:how[,...]
//       The nth call (from 1) of that name in the process whose COHORT_RANK is `rank`:
//         error  answers with an error at once
//         async  the communication never ends, and an asynchronous error is set
//         hang   the communication never ends
//         die    the process is killed when the communication runs
#pragma once

#include <cstdint>
#include <string_view>

namespace stand_in {

[[nodiscard]] int setting(const char* variable, int otherwise);

void be_late();  // if told so

enum class Fault : std::uint8_t { None, Error, Async, Hang, Die };

// Counts the call.
[[nodiscard]] Fault next_fault(std::string_view call);

}  // namespace stand_in
