#include "experiments/progress_display.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace cohort {
namespace {

constexpr std::size_t kBarWidth = 30;
constexpr std::chrono::seconds kQuiet{1};
constexpr std::chrono::seconds kLineInterval{5};

std::string bar(std::size_t finished, std::size_t total) {
  const auto filled = total == 0 ? kBarWidth : kBarWidth * finished / total;
  return fmt::format("[{:#<{}}{:.<{}}]", "", filled, "", kBarWidth - filled);
}

}  // namespace

std::string readable(std::chrono::seconds duration) {
  const auto all = duration.count();
  if (all < 60) return fmt::format("{} s", all);
  if (all < 3600) return fmt::format("{} min {} s", all / 60, all % 60);
  return fmt::format("{} h {} min", all / 3600, all % 3600 / 60);
}

ProgressDisplay::ProgressDisplay(std::string unit)
    : unit_(std::move(unit)),
      terminal_(::isatty(STDERR_FILENO) == 1),
      begin_(Clock::now()),
      last_line_(begin_) {}

ProgressDisplay::~ProgressDisplay() {
  if (drawn_ && terminal_) std::fputs("\n", stderr);
}

void ProgressDisplay::update(std::size_t finished, std::size_t total) {
  if (!first_finished_) first_finished_ = finished;
  const auto now = Clock::now();
  if (now - begin_ < kQuiet) return;
  if (!terminal_ && now - last_line_ < kLineInterval) return;
  last_line_ = now;
  const double elapsed = std::chrono::duration<double>(now - begin_).count();
  const double rate = static_cast<double>(finished - *first_finished_) / elapsed;
  const std::string left = rate > 0 ? readable(std::chrono::seconds(static_cast<std::int64_t>(
                                          static_cast<double>(total - finished) / rate)))
                                    : "unknown time";
  const auto numbers =
      fmt::format("{} of {} {}, {:.1f}/s, {} left", finished, total, unit_, rate, left);
  if (terminal_) {
    fmt::print(stderr, "\r{} {}\x1b[K", bar(finished, total), numbers);
  } else {
    fmt::print(stderr, "{}\n", numbers);
  }
  std::fflush(stderr);
  drawn_ = true;
}

}  // namespace cohort
