#include "settings.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>

namespace stand_in {
namespace {

std::string text(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

Fault named(const std::string& how) {
  static const std::map<std::string, Fault> kFaults{
      {"error", Fault::Error}, {"async", Fault::Async}, {"hang", Fault::Hang}, {"die", Fault::Die}};
  return kFaults.at(how);
}

}  // namespace

int setting(const char* variable, int otherwise) {
  const auto value = text(variable);
  return value.empty() ? otherwise : std::stoi(value);
}

void be_late() {
  const auto late = text("COHORT_STAND_IN_LATE");
  const auto here = text("COHORT_RANK") + ":";
  if (late.starts_with(here))
    std::this_thread::sleep_for(std::chrono::milliseconds(std::stoi(late.substr(here.size()))));
}

Fault next_fault(std::string_view call) {
  static std::mutex mutex;
  static std::map<std::string, int, std::less<>> counts;
  static pid_t counted = ::getpid();
  const std::lock_guard lock(mutex);
  if (counted != ::getpid()) counts.clear();  // a fork begins anew
  counted = ::getpid();
  const auto nth = ++counts[std::string(call)];
  const auto here = text("COHORT_RANK") + ":" + std::string(call) + ":" + std::to_string(nth) + ":";
  std::istringstream faults(text("COHORT_STAND_IN_FAIL"));
  for (std::string fault; std::getline(faults, fault, ',');) {
    if (fault.starts_with(here)) return named(fault.substr(here.size()));
  }
  return Fault::None;
}

}  // namespace stand_in
