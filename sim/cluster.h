// The simulated cluster as plain, resolved values. No text, no units: bytes per second, bytes,
// Time.
//
// Links, all full duplex unless said: per NIC one up and one down; per GPU one port out and one in
// (switched fabric) or one bus per node (shared); one core shared by all NICs (optional); one host
// link per node (optional). Or, between nodes, a general graph of links (optional) in place of the
// NICs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "policies/synchronisation.h"

namespace cohort {

enum class FabricKind : std::uint8_t { Switched, Shared };
enum class Collective : std::uint8_t { Ring, Tree, Hierarchical, Auto };

// Size to bus bandwidth (nccl-tests): strictly increasing bytes, bytes per second > 0. Log-log
// interpolated, constant outside.
struct MeasuredCurve {
  std::vector<std::pair<double, double>> bus_bandwidth;
};

// One duplex link of a general link graph; its ends are nodes (std::uint32_t) or named switches.
struct GraphLink {
  using End = std::variant<std::uint32_t, std::string>;
  std::string name;
  End from, to;
  double bandwidth = 0;
  Time latency{};
};

struct ClusterSpec {
  std::vector<std::uint32_t> gpus_per_node;
  std::vector<double> nic_bandwidth;  // per node, of each of its NICs
  std::vector<Time> nic_latency;      // per node
  std::uint32_t nics_per_node = 1;    // local rank i uses NIC floor(i * nics / workers on the node)
  FabricKind fabric = FabricKind::Switched;
  double fabric_bandwidth = 0;
  Time fabric_latency{};
  std::optional<double> core_bandwidth;
  std::optional<double> host_bandwidth;    // crossed by each hop into and each hop out of the node
  std::optional<double> memory_bandwidth;  // local mean: 3 passes over the payload; none: free
  std::vector<GraphLink> links;            // empty: NICs
  std::variant<Collective, MeasuredCurve> collective = Collective::Ring;
  Time communicator_setup{};
  std::uint32_t communicator_cache = 256;  // member lists per worker
  Time coordination_latency{};
  Time coordination_service{};
  // Decisions of local policies too are made in the group generator.
  bool coordination_hosted = false;
  // What comes back over a NIC for each byte sent through it: acknowledgements. A transfer of one
  // direction has the whole NIC, one of both gets 1 / (1 + this) of it each way.
  double nic_acknowledgements = 0;
  // Bytes that a connection keeps under way: where several hosts send to one at once they wait at
  // its NIC, first come first served, and a transfer that begins waits behind them.
  double nic_window = 0;
  // Transfers that share a link do not share it quite evenly: the weight of each is lognormal with
  // this sigma (median 1). 0: evenly.
  double sharing_spread = 0;
  std::vector<double> compute_factor;  // per worker; or empty: 1
};

struct WorkloadSpec {
  Time compute{};
  double payload = 0;  // bytes
  double backward_share = 2.0 / 3;
  std::uint32_t buckets = 1;
  double interference = 0;
  Time drain{};
};

}  // namespace cohort
