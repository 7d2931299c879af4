#include "experiments/read_policies.h"

#include <fmt/format.h>

#include <map>

#include "experiments/read_option.h"
#include "policies/errors.h"
#include "policies/topology.h"

namespace cohort {
namespace {

const PolicyEntry& read_kind(const SpecNode& node) {
  const auto& name = node.text("the name of a policy, or an object with a \"kind\"");
  if (const auto* entry = find_policy(name)) return *entry;
  std::vector<std::string_view> names;
  for (const auto& entry : all_policies()) names.push_back(entry.name);
  node.complain(unknown_name("policy", name, names));
}

Options read_options(const SpecNode& node, const PolicyEntry& entry) {
  std::vector<std::string_view> known{"kind", "label"};
  for (const auto& option : entry.options) known.push_back(option.name);
  node.only_keys(known);
  Options given;
  for (const auto& option : entry.options) {
    if (const auto value = node.find(option.name))
      given.set(option.name, read_option(*value, option));
  }
  return given;
}

void check_against(const SpecNode& node, const PolicyChoice& choice, const ClusterSpec& cluster) {
  const auto servers = servers_needed(*choice.entry, choice.options);
  if (servers > 0 && cluster.fabric_bandwidth == 0) {
    node.complain("servers share nodes with workers; the key /cluster/fabric is missing");
  }
  try {
    choice.entry->check(choice.options, Topology(cluster.gpus_per_node, servers));
  } catch (const InputError& error) {
    throw InputError(node.pointer() + error.where(), error.complaint());
  }
}

PolicyChoice read_policy(const SpecNode& node, const ClusterSpec& cluster) {
  PolicyChoice choice;
  Options given;
  if (node.json().is_object()) {
    choice.entry = &read_kind(node.need("kind"));
    given = read_options(node, *choice.entry);
  } else {
    choice.entry = &read_kind(node);
  }
  choice.options = resolve(*choice.entry, given);
  choice.label = default_label(*choice.entry, given);
  const auto label = node.json().is_object() ? node.find("label") : std::nullopt;
  if (label) {
    choice.label = label->name();
  }
  check_against(node, choice, cluster);
  return choice;
}

}  // namespace

std::vector<PolicyChoice> read_policies(const SpecNode& list, const ClusterSpec& cluster) {
  const auto size = list.size("policies");
  if (size == 0) list.refuse("at least one policy");
  std::vector<PolicyChoice> choices;
  std::map<std::string, std::size_t> labels;
  for (std::size_t i = 0; i < size; ++i) {
    const auto node = list.at(i);
    choices.push_back(read_policy(node, cluster));
    const auto [first, fresh] = labels.emplace(choices.back().label, i);
    if (fresh) continue;
    const auto complaint =
        fmt::format("the label {} is taken by /policies/{}; allowed: a \"label\" of its own",
                    shown(choices.back().label), first->second);
    const auto label = node.json().is_object() ? node.find("label") : std::nullopt;
    label ? label->complain(complaint) : node.complain(complaint);
  }
  return choices;
}

}  // namespace cohort
