#include "policies/registry.h"

#include <algorithm>

#include "policies/ad_psgd.h"
#include "policies/all_reduce.h"
#include "policies/background.h"
#include "policies/d_psgd.h"
#include "policies/errors.h"
#include "policies/parameter_server.h"
#include "policies/random_policy.h"
#include "policies/smart.h"
#include "policies/static_schedule.h"

namespace cohort {

std::span<const PolicyEntry> all_policies() {
  static const std::vector<PolicyEntry> entries = {
      all_reduce_entry(), parameter_server_entry(), d_psgd_entry(), ad_psgd_entry(),
      static_entry(),     random_entry(),           smart_entry(),
  };
  return entries;
}

const PolicyEntry* find_policy(const std::string& name) {
  const auto entries = all_policies();
  const auto found = std::ranges::find(entries, name, &PolicyEntry::name);
  return found == entries.end() ? nullptr : &*found;
}

Options resolve(const PolicyEntry& entry, const Options& given) {
  for (const auto& [name, value] : given.all())
    if (std::ranges::find(entry.options, name, &OptionSpec::name) == entry.options.end())
      throw ContractError(entry.name + " has no option \"" + name + "\"");
  Options resolved = given;
  for (const auto& spec : entry.options)
    if (!given.has(spec.name)) resolved.set(spec.name, spec.default_value);
  if (entry.settle != nullptr) entry.settle(given, resolved);
  return resolved;
}

std::unique_ptr<Policy> make_policy(const PolicyEntry& entry, const Options& resolved,
                                    const Topology& topology, std::uint64_t seed) {
  for (const auto& spec : entry.options) {
    if (!resolved.has(spec.name))
      throw ContractError("option \"" + spec.name + "\" was not resolved");
    check_value(spec, resolved.all().at(spec.name));
  }
  entry.check(resolved, topology);
  auto policy = entry.make(resolved, topology, seed);
  const bool in_background =
      resolved.has("timing") && resolved.get<std::string>("timing") == "background";
  return in_background ? in_the_background(std::move(policy), topology) : std::move(policy);
}

std::string default_label(const PolicyEntry& entry, const Options& given) {
  std::string label = entry.name;
  for (const auto& spec : entry.options) {
    const auto found = given.all().find(spec.name);
    if (found != given.all().end() && found->second != spec.default_value)
      label += " " + spec.name + "=" + to_label(spec, found->second);
  }
  return label;
}

std::uint32_t servers_needed(const PolicyEntry&, const Options& resolved) {
  return resolved.has("servers") ? static_cast<std::uint32_t>(resolved.get<std::int64_t>("servers"))
                                 : 0;
}

}  // namespace cohort
