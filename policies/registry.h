// What policies there are. Adding one: a file pair in policies/ and one line in registry.cc: the
// header of policy `x` declares `[[nodiscard]] PolicyEntry x_entry();`, and registry.cc lists it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "policies/options.h"
#include "policies/policy.h"
#include "policies/topology.h"

namespace cohort {

// Where a policy's decisions are made: at the workers (no coordination latency), or in a central
// group generator.
enum class Where : std::uint8_t { Local, Central };

struct PolicyEntry {
  std::string name;
  Where where = Where::Local;
  std::string rule;                 // one sentence
  std::string source;               // publication
  std::vector<OptionSpec> options;  // the policy's own, then those its driver reads
  // Starts neighbour mixes: drivers keep each worker's parameters of its last two readies for them.
  bool reads_neighbours = false;
  // Null, or sets what defaults to a value that depends on other options: called by resolve() with
  // all defaults in place.
  void (*settle)(const Options& given, Options& resolved) = nullptr;
  // `options` are resolved (every name present) and checked.
  std::unique_ptr<Policy> (*make)(const Options& options, const Topology& topology,
                                  std::uint64_t seed) = nullptr;
  // Throws InputError whose `where` is a JSON pointer relative to the policy ("/phases/0/1",
  // "/group_size") when the options do not fit the topology: group larger than n, a worker in two
  // groups of a phase, weights that do not sum to one.
  void (*check)(const Options& options, const Topology& topology) = nullptr;
};

// All policies, in the order in which `cohort policies` lists them.
[[nodiscard]] std::span<const PolicyEntry> all_policies();

// Null when there is none of that name.
[[nodiscard]] const PolicyEntry* find_policy(const std::string& name);

// `given` plus the default of every option that it lacks. Throws ContractError on a name that the
// entry does not have.
[[nodiscard]] Options resolve(const PolicyEntry& entry, const Options& given);

// A policy ready to run, wrapped for `timing: background` where asked. Throws InputError as `check`
// does.
[[nodiscard]] std::unique_ptr<Policy> make_policy(const PolicyEntry& entry, const Options& resolved,
                                                  const Topology& topology, std::uint64_t seed);

// Kind plus the options that differ from their default, e.g. "smart threshold=2": the default label
// of a row.
[[nodiscard]] std::string default_label(const PolicyEntry& entry, const Options& given);

// Parameter servers that a policy with these options needs (0 for all but parameter-server).
[[nodiscard]] std::uint32_t servers_needed(const PolicyEntry& entry, const Options& resolved);

}  // namespace cohort
