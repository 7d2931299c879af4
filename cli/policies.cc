#include "cli/policies.h"

#include <fmt/format.h>

#include <string_view>

#include "cli/exit_codes.h"
#include "cli/mixing_text.h"
#include "cli/row_table.h"
#include "experiments/resolved.h"
#include "experiments/row_text.h"
#include "experiments/spec_node.h"
#include "policies/errors.h"
#include "policies/registry.h"
#include "traces/units.h"

namespace cohort {
namespace {

constexpr std::uint64_t kMixingSeed = 1;

std::string allowed(const OptionSpec& option) {
  const std::vector<std::string_view> choices(option.choices.begin(), option.choices.end());
  const auto type = [&]() -> std::string {
    switch (option.type) {
      case OptionType::Flag:
        return "true, false";
      case OptionType::Count:
        if (option.maximum < UINT32_MAX)
          return fmt::format("count from {} to {}", option.minimum, option.maximum);
        return fmt::format("count from {}", option.minimum);
      case OptionType::Choice:
        return listed(choices);
      case OptionType::Duration:
        return "time";
      case OptionType::Bandwidth:
        return "bandwidth";
      case OptionType::Graph:
        return listed(choices) + ", or pairs of workers";
      case OptionType::Groups:
        return "list of phases of groups";
      case OptionType::Weights:
        return "rows of weights";
    }
    return "";
  };
  return type() + (option.nullable ? ", null" : "");
}

std::string default_text(const OptionSpec& option) {
  if (const auto* time = std::get_if<Time>(&option.default_value)) return format_time(*time);
  const auto value = resolved_json(option.default_value);
  if (value.is_null()) return option.nullable ? "null" : "none";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string_view where_decided(const PolicyEntry& entry) {
  return entry.where == Where::Central ? "a central group generator" : "the workers";
}

void print_text(const PolicyEntry& entry) {
  fmt::print("{}\n  {}\n  decided by: {}\n  source: {}\n", entry.name, entry.rule,
             where_decided(entry), entry.source);
  std::vector<std::vector<std::string>> lines{
      {"  option", "default", "allowed", "meaning", "source"}};
  for (const auto& option : entry.options) {
    lines.push_back({"  " + option.name, default_text(option), allowed(option), option.description,
                     option.source});
  }
  fmt::print("{}\n", text_table(lines, std::vector<bool>(lines.front().size(), true)));
}

OrderedJson json_of(const PolicyEntry& entry) {
  OrderedJson options = OrderedJson::array();
  for (const auto& option : entry.options) {
    const bool has_default = !std::holds_alternative<std::monostate>(option.default_value);
    options.push_back(
        {{"name", option.name},
         {"default", has_default ? OrderedJson(default_text(option)) : OrderedJson(nullptr)},
         {"allowed", allowed(option)},
         {"description", option.description},
         {"source", option.source}});
  }
  return {{"name", entry.name},
          {"decided", entry.where == Where::Central ? "central" : "local"},
          {"rule", entry.rule},
          {"source", entry.source},
          {"options", std::move(options)}};
}

std::vector<const PolicyEntry*> chosen(const std::string& name) {
  std::vector<const PolicyEntry*> entries;
  std::vector<std::string_view> names;
  for (const auto& entry : all_policies()) {
    names.push_back(entry.name);
    if (name.empty() || entry.name == name) entries.push_back(&entry);
  }
  if (entries.empty()) throw InputError("policies", unknown_name("policy", name, names));
  return entries;
}

// Nodes of `per_node` workers; the last one may have fewer.
std::vector<std::uint32_t> nodes_of(const PoliciesArguments& arguments) {
  std::vector<std::uint32_t> nodes(arguments.workers / arguments.per_node, arguments.per_node);
  if (arguments.workers % arguments.per_node > 0)
    nodes.push_back(arguments.workers % arguments.per_node);
  return nodes;
}

int show_mixing(const PoliciesArguments& arguments,
                const std::vector<const PolicyEntry*>& entries) {
  const auto nodes = nodes_of(arguments);
  std::string text;
  OrderedJson list = OrderedJson::array();
  for (const auto* entry : entries) {
    const auto options = resolve(*entry, {});
    const Topology topology(nodes, servers_needed(*entry, options));
    entry->check(options, topology);
    const auto report = mixing_report(*entry, options, topology, kMixingSeed);
    text += fmt::format("{}, {} workers on {} nodes\n{}\n", entry->name, arguments.workers,
                        nodes.size(), mixing_text(report));
    list.push_back({{"name", entry->name}, {"mixing", mixing_json(report)}});
  }
  const OrderedJson all{{"policies", std::move(list)}};
  fmt::print("{}", arguments.json ? all.dump(2) + "\n" : text);
  return kDone;
}

}  // namespace

int list_policies(const PoliciesArguments& arguments) {
  const auto entries = chosen(arguments.name);
  if (arguments.mixing) return show_mixing(arguments, entries);
  if (!arguments.json) {
    for (const auto* entry : entries) print_text(*entry);
    return kDone;
  }
  OrderedJson list = OrderedJson::array();
  for (const auto* entry : entries) list.push_back(json_of(*entry));
  fmt::print("{}\n", OrderedJson{{"policies", std::move(list)}}.dump(2));
  return kDone;
}

}  // namespace cohort
