// `cohort plot DIR... --out OUT`: runs the figure scripts (plots/plot.py) on directories of
// results.
#pragma once

#include <string>
#include <vector>

namespace cohort {

struct PlotArguments {
  std::vector<std::string> directories;
  std::string out;     // empty: beside the results
  std::string format;  // of png, svg, pdf, separated by commas; empty: the scripts' default
};

// An exit code (cli/exit_codes.h).
[[nodiscard]] int plot(const PlotArguments& arguments);

}  // namespace cohort
