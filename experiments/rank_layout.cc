#include "experiments/rank_layout.h"

#include <algorithm>

#include "policies/errors.h"

namespace cohort {
namespace {

struct Host {
  std::string name;
  std::vector<std::uint32_t> ranks;  // not yet given away
};

std::vector<Host> gather(const std::vector<std::string>& names) {
  std::vector<Host> hosts;
  for (std::uint32_t rank = 0; rank < names.size(); ++rank) {
    auto host = std::ranges::find(hosts, names[rank], &Host::name);
    if (host == hosts.end()) host = hosts.insert(hosts.end(), {names[rank], {}});
    host->ranks.push_back(rank);
  }
  return hosts;
}

}  // namespace

RankLayout lay_out(const std::vector<std::string>& names, std::uint32_t servers) {
  if (names.size() <= servers) throw ContractError("a job has more ranks than servers");
  auto hosts = gather(names);
  RankLayout layout;
  for (std::uint32_t server = 0; server < servers; ++server) {
    Host* host = &hosts[server % hosts.size()];
    if (host->ranks.size() < 2) {
      host = &*std::ranges::max_element(hosts, {}, [](const Host& h) { return h.ranks.size(); });
      layout.servers_in_place = false;
    }
    layout.servers.push_back(host->ranks.back());
    host->ranks.pop_back();
  }
  for (const auto& host : hosts) {
    if (host.ranks.empty()) continue;
    layout.workers.insert(layout.workers.end(), host.ranks.begin(), host.ranks.end());
    layout.workers_per_host.push_back(static_cast<std::uint32_t>(host.ranks.size()));
  }
  return layout;
}

}  // namespace cohort
