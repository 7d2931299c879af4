// Leaving a test case whose input or machine is not there. `./check` counts it as skipped, with its
// reason, not as passed.
//
//   if (!file) return skip("no recorded files at hand");
//
// Called at most once in a test case, which asserts nothing else then.
#pragma once

#include <doctest/doctest.h>

#include <cstdio>
#include <string>

namespace cohort {

inline void skip(const std::string& reason) {
  std::printf("skipped: %s: %s\n", doctest::getContextOptions()->currentTest->m_name,
              reason.c_str());
}

}  // namespace cohort
