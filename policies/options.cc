#include "policies/options.h"

#include <array>
#include <charconv>
#include <cmath>

#include "policies/errors.h"

namespace cohort {
namespace {

std::string quoted_list(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "\"" : ", \"") + name + "\"";
  return text;
}

std::string shortest(double value) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return {buffer.data(), end};
}

std::string in_readable_unit(double bytes_per_second) {
  constexpr std::array<std::pair<double, const char*>, 3> kUnits = {
      {{1e9, "GB/s"}, {1e6, "MB/s"}, {1e3, "kB/s"}}};
  for (const auto& [unit, name] : kUnits)
    if (bytes_per_second >= unit) return shortest(bytes_per_second / unit) + name;
  return shortest(bytes_per_second) + "B/s";
}

std::string in_largest_unit(Time time) {
  constexpr std::array<std::pair<std::int64_t, const char*>, 3> kUnits = {
      {{1'000'000'000, "s"}, {1'000'000, "ms"}, {1'000, "us"}}};
  const auto ns = time.count();
  for (const auto& [unit, name] : kUnits)
    if (ns != 0 && ns % unit == 0) return std::to_string(ns / unit) + name;
  return std::to_string(ns) + "ns";
}

// The complaint about `value`, which is not null; empty when it fits.
std::string complaint_about(const OptionSpec& spec, const OptionValue& value) {
  switch (spec.type) {
    case OptionType::Flag:
      return std::holds_alternative<bool>(value) ? "" : "must be true or false";
    case OptionType::Count: {
      const auto* count = std::get_if<std::int64_t>(&value);
      return count && *count >= spec.minimum && *count <= spec.maximum
                 ? ""
                 : "must be a whole number from " + std::to_string(spec.minimum) + " to " +
                       std::to_string(spec.maximum);
    }
    case OptionType::Graph:
      if (const auto* edges = std::get_if<Phases>(&value))
        return edges->size() == 1 ? "" : "must be one list of pairs of workers";
      [[fallthrough]];
    case OptionType::Choice: {
      const auto* choice = std::get_if<std::string>(&value);
      if (choice)
        for (const auto& allowed : spec.choices)
          if (*choice == allowed) return "";
      return (choice ? "found \"" + *choice + "\"; " : "") +
             "allowed: " + quoted_list(spec.choices);
    }
    case OptionType::Duration: {
      const auto* time = std::get_if<Time>(&value);
      return time && time->count() >= 0 ? "" : "must be a time, at least 0";
    }
    case OptionType::Bandwidth: {
      const auto* rate = std::get_if<double>(&value);
      return rate && std::isfinite(*rate) && *rate > 0 ? "" : "must be a bandwidth above 0";
    }
    case OptionType::Groups:
      return std::holds_alternative<Phases>(value) ? "" : "must be a list of phases";
    case OptionType::Weights:
      return std::holds_alternative<Matrix>(value) ? "" : "must be a list of rows";
  }
  return "";
}

}  // namespace

const OptionValue& Options::at(const std::string& name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) throw ContractError("option \"" + name + "\" was not resolved");
  return found->second;
}

OptionSpec timing_option() {
  return {.name = "timing",
          .type = OptionType::Choice,
          .default_value = std::string("blocking"),
          .choices = {"blocking", "background"},
          .description =
              "wait for the average, or compute on and add (mean - snapshot) when it is "
              "there",
          .source = "SEMANTICS 1"};
}

OptionSpec overlap_option() {
  return {.name = "overlap",
          .type = OptionType::Flag,
          .default_value = false,
          .description = "send gradients in buckets while the backward pass still runs",
          .source = "SEMANTICS 3; [Li 2020]",
          .read_by = ReadBy::Driver};
}

OptionSpec endpoint_bandwidth_option() {
  return {.name = "endpoint_bandwidth",
          .type = OptionType::Bandwidth,
          .nullable = true,
          .description = "what the transport can move in and out of one worker; null: no bound",
          .source = "SEMANTICS 3",
          .read_by = ReadBy::Driver};
}

OptionSpec vocabulary_option() {
  return {.name = "vocabulary",
          .type = OptionType::Count,
          .nullable = true,
          .maximum = 65536,
          .description =
              "number of results drawn once from the seed, of which each request picks one, "
              "so that communicators are reused; null: draw afresh",
          .source = "SEMANTICS 3"};
}

OptionSpec order_option() {
  return {.name = "order",
          .type = OptionType::Choice,
          .default_value = std::string("update_then_average"),
          .choices = {"update_then_average", "average_then_update"},
          .description =
              "with training: whether a worker applies its gradient before it averages, or after, "
              "to what the average left",
          .source = "SEMANTICS 1",
          .read_by = ReadBy::Driver};
}

OptionSpec average_momentum_option() {
  return {.name = "average_momentum",
          .type = OptionType::Flag,
          .default_value = false,
          .description =
              "with training: average the optimisers' velocities as the parameters are, which "
              "doubles the payload when there is momentum",
          .source = "SEMANTICS 1; [Yu 2019]",
          .read_by = ReadBy::Driver};
}

void check_value(const OptionSpec& spec, const OptionValue& value) {
  if (std::holds_alternative<std::monostate>(value)) {
    if (spec.nullable) return;
    throw InputError("/" + spec.name, "must not be null");
  }
  const auto complaint = complaint_about(spec, value);
  if (!complaint.empty()) throw InputError("/" + spec.name, complaint);
}

std::string to_label(const OptionSpec& spec, const OptionValue& value) {
  struct Writer {
    const OptionSpec& spec;
    std::string operator()(std::monostate) const { return "null"; }
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(std::int64_t count) const { return std::to_string(count); }
    std::string operator()(double number) const {
      return spec.type == OptionType::Bandwidth ? in_readable_unit(number) : shortest(number);
    }
    std::string operator()(const std::string& choice) const { return choice; }
    std::string operator()(Time time) const { return in_largest_unit(time); }
    std::string operator()(const Phases&) const { return "given"; }
    std::string operator()(const Matrix&) const { return "given"; }
  };
  return std::visit(Writer{spec}, value);
}

}  // namespace cohort
