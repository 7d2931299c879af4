// What `cohort` ends with.
#pragma once

namespace cohort {

inline constexpr int kDone = 0;
inline constexpr int kSomeCellsFailed = 1;
inline constexpr int kWrongInput = 2;
inline constexpr int kEnvironmentFailed = 3;
inline constexpr int kOurBug = 4;
inline constexpr int kInterrupted = 130;

}  // namespace cohort
