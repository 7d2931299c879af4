// Which rank of a job is which member: workers and servers on hosts.
//
// Servers take the last rank of host j mod N where that host has another one, else of the host with
// most ranks left; the others are workers, numbered host by host, hosts in the order of their first
// rank. A job has ranks for the largest number of servers of its policies; under a policy with
// fewer the last ones idle.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cohort {

struct RankLayout {
  std::vector<std::uint32_t> workers;           // rank of each worker
  std::vector<std::uint32_t> servers;           // rank of each server
  std::vector<std::uint32_t> workers_per_host;  // of hosts with workers, in their order
  bool servers_in_place = true;                 // each server is on the host of node j mod N
};

// `hosts`: of every rank; more of them than `servers`.
[[nodiscard]] RankLayout lay_out(const std::vector<std::string>& hosts, std::uint32_t servers);

}  // namespace cohort
