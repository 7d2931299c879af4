#include "experiments/read_option.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace cohort {
namespace {

constexpr std::uint64_t kMostWorkerNumber = std::numeric_limits<std::uint32_t>::max();

Group read_group(const SpecNode& node) {
  Group group;
  const auto size = node.size("worker numbers");
  for (std::size_t i = 0; i < size; ++i) {
    group.push_back(static_cast<std::uint32_t>(node.at(i).count(0, kMostWorkerNumber)));
  }
  return group;
}

Phase read_phase(const SpecNode& node) {
  Phase phase;
  const auto size = node.size("groups");
  for (std::size_t i = 0; i < size; ++i) phase.push_back(read_group(node.at(i)));
  return phase;
}

Phases read_phases(const SpecNode& node) {
  Phases phases;
  const auto size = node.size("phases, each a list of groups");
  for (std::size_t i = 0; i < size; ++i) phases.push_back(read_phase(node.at(i)));
  return phases;
}

Phases read_edges(const SpecNode& node) {
  Phase edges;
  const auto size = node.size("pairs of workers");
  for (std::size_t i = 0; i < size; ++i) {
    edges.push_back(read_group(node.at(i)));
    if (edges.back().size() != 2) node.at(i).refuse("a pair of workers");
  }
  return {edges};
}

Matrix read_matrix(const SpecNode& node) {
  Matrix matrix;
  const auto rows = node.size("rows, each a list of weights");
  for (std::size_t i = 0; i < rows; ++i) {
    const auto row = node.at(i);
    matrix.emplace_back();
    const auto size = row.size("weights");
    for (std::size_t j = 0; j < size; ++j) matrix.back().push_back(row.at(j).number(0, 1));
  }
  return matrix;
}

std::string read_choice(const SpecNode& node, const OptionSpec& spec) {
  const std::vector<std::string_view> names(spec.choices.begin(), spec.choices.end());
  const auto& found = node.text("one of " + listed(names));
  if (std::find(names.begin(), names.end(), found) != names.end()) return found;
  node.complain(unknown_name("value", found, names));
}

std::int64_t read_count(const SpecNode& node, const OptionSpec& spec) {
  return static_cast<std::int64_t>(node.count(static_cast<std::uint64_t>(spec.minimum),
                                              static_cast<std::uint64_t>(spec.maximum)));
}

}  // namespace

OptionValue read_option(const SpecNode& node, const OptionSpec& spec) {
  if (node.json().is_null()) {
    if (spec.nullable) return std::monostate{};
    node.refuse(fmt::format("a value; the option \"{}\" cannot be switched off", spec.name));
  }
  switch (spec.type) {
    case OptionType::Flag:
      return node.flag();
    case OptionType::Count:
      return read_count(node, spec);
    case OptionType::Choice:
      return read_choice(node, spec);
    case OptionType::Duration:
      return node.time();
    case OptionType::Bandwidth:
      return node.bandwidth();
    case OptionType::Graph:
      return node.json().is_array() ? OptionValue(read_edges(node))
                                    : OptionValue(read_choice(node, spec));
    case OptionType::Groups:
      return read_phases(node);
    case OptionType::Weights:
      return read_matrix(node);
  }
  return std::monostate{};
}

OptionValue read_resolved_option(const SpecNode& node, const OptionSpec& spec) {
  if (node.json().is_null()) return read_option(node, spec);
  switch (spec.type) {
    case OptionType::Duration:
      return Time{static_cast<std::int64_t>(node.count(0, kLongestTime.count()))};
    case OptionType::Bandwidth:
      return node.positive_number(std::numeric_limits<double>::max());
    case OptionType::Graph:
      if (node.json().is_array()) return read_phases(node);
      [[fallthrough]];
    default:
      return read_option(node, spec);
  }
}

}  // namespace cohort
