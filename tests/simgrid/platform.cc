#include "tests/simgrid/platform.h"

#include <string>

namespace cohort {
namespace {

namespace s4u = simgrid::s4u;

struct Duplex {
  s4u::Link* out;
  s4u::Link* in;
};

Duplex add_links(s4u::NetZone& zone, const std::string& name, double bandwidth) {
  const auto one = [&](const char* way) {
    auto* link = zone.create_link(name + way, bandwidth);
    link->set_latency(0)->seal();
    return link;
  };
  return {one("_out"), one("_in")};
}

}  // namespace

std::vector<s4u::Host*> build_platform(s4u::NetZone& parent, const ClusterSpec& cluster,
                                       const Topology& topology) {
  const std::string name =
      std::to_string(topology.nodes()) + "x" + std::to_string(topology.workers_on(0));
  s4u::NetZone& zone = *s4u::create_full_zone(name);
  zone.set_parent(&parent);
  std::vector<Duplex> nics, ports;
  for (std::uint32_t node = 0; node < topology.nodes(); ++node)
    nics.push_back(
        add_links(zone, name + "_nic" + std::to_string(node), cluster.nic_bandwidth[node]));
  std::vector<s4u::Host*> hosts;
  for (std::uint32_t worker = 0; worker < topology.workers(); ++worker) {
    ports.push_back(
        add_links(zone, name + "_port" + std::to_string(worker), cluster.fabric_bandwidth));
    hosts.push_back(zone.create_host(name + "_worker" + std::to_string(worker), 1e9)->seal());
  }
  for (std::uint32_t from = 0; from < hosts.size(); ++from) {
    for (std::uint32_t to = 0; to < hosts.size(); ++to) {
      if (from == to) continue;
      const auto a = topology.node_of(WorkerId{from}), b = topology.node_of(WorkerId{to});
      const s4u::LinkInRoute out(a == b ? ports[from].out : nics[a].out),
          in(a == b ? ports[to].in : nics[b].in);
      zone.add_route(hosts[from]->get_netpoint(), hosts[to]->get_netpoint(), nullptr, nullptr,
                     {out, in}, false);
    }
  }
  zone.seal();
  return hosts;
}

}  // namespace cohort
