#include "tests/policies/policy_variants.h"

#include "policies/errors.h"

namespace cohort {
namespace {

using Setting = std::pair<std::string, OptionValue>;
using Settings = std::vector<Setting>;

Setting text(const char* name, const char* value) { return {name, std::string(value)}; }
Setting count(const char* name, std::int64_t value) { return {name, value}; }
Setting flag(const char* name, bool value) { return {name, value}; }
Setting off(const char* name) { return {name, std::monostate{}}; }

std::vector<Settings> settings_of(const std::string& policy) {
  const Setting path = {"graph", Phases{{{0, 1}, {1, 2}, {2, 3}}}};
  const Setting update = {"update_time", Time{3}};
  if (policy == "parameter-server")
    return {{count("servers", 3)},
            {update},
            {text("mode", "async")},
            {text("mode", "async"), update, count("servers", 2)}};
  if (policy == "d-psgd")
    return {
        {text("graph", "complete")},
        {path},
        {{"weights",
          Matrix{
              {0.5, 0.25, 0, 0.25}, {0.25, 0.75, 0, 0}, {0, 0, 0.5, 0.5}, {0.25, 0, 0.5, 0.25}}}}};
  if (policy == "ad-psgd")
    return {{text("active", "background")},
            {text("passive", "blocks")},
            {text("active", "background"), text("passive", "blocks")},
            {text("graph", "ring")},
            {path},
            {flag("exclusive_all", true)},
            {flag("exclusive_all", true), text("active", "background")}};
  if (policy == "static")
    return {{{"phases", Phases{{{0, 1}, {2, 3}}, {{1, 2}}, {{0, 2}, {1, 3}}}}}};
  if (policy == "random")
    return {{count("group_size", 2)}, {count("group_size", 3)}, {count("vocabulary", 5)}};
  if (policy == "smart")
    return {{off("threshold")},
            {count("threshold", 1)},
            {flag("inter_intra", false), count("group_size", 2)},
            {flag("inter_intra", false), count("group_size", 3)},
            {count("head_group_size", 2)},
            {flag("division", false), count("group_size", 2)},
            {flag("group_buffer", false), count("group_size", 3)},
            {count("vocabulary", 3)}};
  return {};
}

bool fits(const Variant& variant, const Topology& topology) {
  try {
    (void)make_variant(variant, topology, 1);
  } catch (const InputError&) {
    return false;
  }
  return true;
}

}  // namespace

std::vector<Variant> policy_variants(const std::vector<std::uint32_t>& gpus_per_node) {
  std::vector<Variant> variants;
  for (const auto& entry : all_policies()) {
    auto all = settings_of(entry.name);
    all.insert(all.begin(), Settings{});
    for (const auto& settings : all) {
      for (const auto* timing : {"blocking", "background"}) {
        Options given;
        for (const auto& [name, value] : settings) given.set(name, value);
        const bool background = std::string(timing) == "background";
        if (background && !resolve(entry, {}).has("timing")) continue;
        if (background) given.set("timing", std::string(timing));

        Variant variant{default_label(entry, given), &entry, resolve(entry, given)};
        if (fits(variant, topology_of(variant, gpus_per_node)))
          variants.push_back(std::move(variant));
      }
    }
  }
  return variants;
}

Topology topology_of(const Variant& variant, const std::vector<std::uint32_t>& gpus_per_node) {
  return Topology(gpus_per_node, servers_needed(*variant.entry, variant.options));
}

std::unique_ptr<Policy> make_variant(const Variant& variant, const Topology& topology,
                                     std::uint64_t seed) {
  return make_policy(*variant.entry, variant.options, topology, seed);
}

}  // namespace cohort
