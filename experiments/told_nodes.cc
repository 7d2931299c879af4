#include "experiments/told_nodes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "policies/errors.h"
#include "policies/topology.h"

namespace cohort {
namespace {

std::string shown(const std::vector<std::uint32_t>& per_node) {
  return fmt::format("{} (workers on each: {})", per_node.size(), fmt::join(per_node, ", "));
}

void check_policies(const Experiment& experiment, const std::vector<std::uint32_t>& per_node) {
  for (std::uint64_t number = 0; number < experiment.axes().cells(); ++number) {
    const Cell cell = experiment.cell(number);
    for (std::size_t i = 0; i < cell.policies.size(); ++i) {
      const auto& [entry, options, label] = cell.policies[i];
      try {
        entry->check(options, Topology(per_node, servers_needed(*entry, options)));
      } catch (const InputError& error) {
        throw InputError(
            fmt::format("{}: /policies/{}{}", experiment.file().string(), i, error.where()),
            fmt::format("{} (on the hosts: {})", error.complaint(), shown(per_node)));
      }
    }
  }
}

}  // namespace

ToldNodes tell_nodes(const Experiment& experiment, const RankLayout& layout) {
  ToldNodes told;
  const auto& spec = experiment.base().cluster.gpus_per_node;
  const auto& hosts = layout.workers_per_host;
  const bool of_hosts = experiment.base().run.nodes == NodesOf::Hosts;
  if (of_hosts) {
    check_policies(experiment, hosts);
    told.gpus_per_node = hosts;
  }
  if (spec != hosts)
    told.warnings.push_back(
        fmt::format("nodes of the spec: {}; hosts: {}; policies are told of the {} (run.nodes)",
                    shown(spec), shown(hosts), of_hosts ? "hosts" : "spec's nodes"));
  if (!layout.servers_in_place)
    told.warnings.emplace_back("a server has no place on the host of its node j mod N");
  told.circumstances = fmt::format("{}", fmt::join(of_hosts ? hosts : spec, ","));
  return told;
}

std::string oversubscribed(std::size_t ranks_here, unsigned processors) {
  if (processors == 0 || ranks_here <= processors) return "";
  return fmt::format(
      "oversubscribed: {} ranks on {} processors; timings are the emulation's only as far as "
      "waiting does not need a CPU",
      ranks_here, processors);
}

}  // namespace cohort
