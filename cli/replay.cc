#include "cli/replay.h"

#include <fmt/format.h>

#include "cli/exit_codes.h"
#include "experiments/replay.h"

namespace cohort {
namespace {

// A start of a large cluster has many members: a line on a screen shows the first ones.
std::string cut(const std::string& text) {
  constexpr std::size_t kLongest = 500;
  return text.size() > kLongest ? text.substr(0, kLongest) + " ..." : text;
}

void print(const ReplayedRun& run) {
  fmt::print("{}, seed {}: ", run.label, run.seed);
  if (!run.difference) {
    fmt::print("{} events, {} actions: identical\n", run.events, run.actions);
    return;
  }
  const auto& difference = *run.difference;
  fmt::print("different at line {}, after {} events that are answered alike\n", difference.line,
             run.events - 1);
  fmt::print("  event     {}\n  recorded  {}\n  repeated  {}\n", cut(difference.event),
             cut(difference.recorded), cut(difference.repeated));
}

}  // namespace

int replay_log(const std::filesystem::path& path) {
  int exit_code = kDone;
  for (const auto& run : replay(path)) {
    print(run);
    if (run.difference) exit_code = kSomeCellsFailed;
  }
  return exit_code;
}

}  // namespace cohort
