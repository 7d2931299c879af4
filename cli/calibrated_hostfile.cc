#include <fmt/format.h>

#include <iterator>
#include <string>

#include "cli/calibrated_file.h"
#include "experiments/spec_json.h"
#include "traces/hostfile.h"

namespace cohort {
namespace {

// Null when no host has slots.
OrderedJson cluster(const Hostfile& hosts) {
  OrderedJson gpus = OrderedJson::array();
  for (const HostSlots& host : hosts.hosts) {
    if (host.slots > 0) gpus.push_back(host.slots);
  }
  if (gpus.empty()) return nullptr;
  const std::size_t nodes = gpus.size();
  return {{"nodes", nodes}, {"gpus_per_node", std::move(gpus)}};
}

std::vector<std::string> refusals(const Hostfile& hosts) {
  std::vector<std::string> refused;
  for (const HostSlots& host : hosts.hosts) {
    if (host.slots > 0) continue;
    refused.push_back(fmt::format("{} in the cluster: it has no slots", host.name));
  }
  refused.emplace_back("GPUs: a slot is a place for a rank; one GPU for each is taken for granted");
  refused.emplace_back("links: a hostfile has none");
  return refused;
}

OrderedJson to_json(const Hostfile& hosts) {
  OrderedJson list = OrderedJson::array();
  for (const HostSlots& host : hosts.hosts) {
    list.push_back(
        {{"name", host.name},
         {"slots", host.slots},
         {"max_slots", host.max_slots ? OrderedJson(*host.max_slots) : OrderedJson(nullptr)}});
  }
  return {{"kind", "hostfile"},        {"file", hosts.file},        {"hosts", std::move(list)},
          {"slots", hosts.slots},      {"cluster", cluster(hosts)}, {"refused", refusals(hosts)},
          {"warnings", hosts.warnings}};
}

std::string to_text(const Hostfile& hosts) {
  std::string text =
      fmt::format("{}: a hostfile, {} host{}, {} slots\n", hosts.file, hosts.hosts.size(),
                  hosts.hosts.size() == 1 ? "" : "s", hosts.slots);
  text += refusals_text(refusals(hosts));
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "\n{:>14} {:>14}  host\n", "slots", "at most");
  for (const HostSlots& host : hosts.hosts) {
    fmt::format_to(out, "{:>14} {:>14}  {}\n", host.slots,
                   host.max_slots ? std::to_string(*host.max_slots) : "-", host.name);
  }
  const OrderedJson part = cluster(hosts);
  return part.is_null() ? text : text + spec_text("for a spec", "cluster", part);
}

}  // namespace

CalibratedFile calibrate_hostfile(const TextFile& file) {
  const Hostfile hosts = read_hostfile(file);
  return {to_json(hosts), to_text(hosts)};
}

}  // namespace cohort
