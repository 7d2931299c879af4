#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>

#include "cli/calibrated_file.h"
#include "experiments/spec_json.h"
#include "traces/topology_matrix.h"

namespace cohort {
namespace {

using Names = std::vector<std::string>;

Names path_names(const std::vector<DevicePath>& paths) {
  Names names;
  for (const DevicePath path : paths) names.push_back(name(path));
  return names;
}

std::string joined(const Names& names) { return fmt::to_string(fmt::join(names, ", ")); }

bool all_nvlink(const std::vector<DevicePath>& paths) {
  return !paths.empty() &&
         std::ranges::all_of(paths, [](DevicePath path) { return path.kind == PathKind::NvLink; });
}

// GPUs by the NUMA nodes near them, as far as the file names these.
std::map<std::string, Names> numa_nodes(const TopologyMatrix& matrix) {
  std::map<std::string, Names> nodes;
  for (const TopologyDevice& device : matrix.devices) {
    if (device.gpu && !device.numa_affinity.empty()) {
      nodes[device.numa_affinity].push_back(device.name);
    }
  }
  return nodes;
}

OrderedJson cluster(const TopologyMatrix& matrix) {
  OrderedJson part{{"nodes", 1}, {"gpus_per_node", matrix.gpus()}};
  if (all_nvlink(gpu_paths(matrix))) part["fabric"] = {{"kind", "switched"}};
  if (matrix.nics() > 0) part["nics_per_node"] = matrix.nics();
  return part;
}

Names refusals(const TopologyMatrix& matrix) {
  Names refused{
      "bandwidths and latencies: a topology names kinds of links, not how fast they are; "
      "measure the fabric (nccl-tests)"};
  const auto paths = gpu_paths(matrix);
  if (!paths.empty() && !all_nvlink(paths)) {
    refused.push_back(
        fmt::format("the kind of the fabric: the GPUs are linked by {}; whether pairs "
                    "slow each other down is for a measurement",
                    joined(path_names(paths))));
  } else if (paths.size() > 1) {
    refused.push_back(
        fmt::format("one fabric for all pairs: they have {}", joined(path_names(paths))));
  }
  if (matrix.nics() == 0) refused.emplace_back("network cards: none is listed");
  return refused;
}

OrderedJson devices_json(const TopologyMatrix& matrix) {
  const auto known = [](const std::string& text) {
    return text.empty() ? OrderedJson(nullptr) : OrderedJson(text);
  };
  OrderedJson devices = OrderedJson::array();
  for (std::size_t i = 0; i < matrix.devices.size(); ++i) {
    const TopologyDevice& device = matrix.devices[i];
    devices.push_back({{"name", device.name},
                       {"gpu", device.gpu},
                       {"adapter", known(device.adapter)},
                       {"cpu_affinity", known(device.cpu_affinity)},
                       {"numa_affinity", known(device.numa_affinity)},
                       {"gpu_numa_id", known(device.gpu_numa_id)},
                       {"paths", path_names(matrix.paths[i])}});
  }
  return devices;
}

OrderedJson to_json(const TopologyMatrix& matrix) {
  return {{"kind", "topology"},
          {"file", matrix.file},
          {"gpus", matrix.gpus()},
          {"nics", matrix.nics()},
          {"gpu_paths", path_names(gpu_paths(matrix))},
          {"numa", numa_nodes(matrix)},
          {"devices", devices_json(matrix)},
          {"cluster", cluster(matrix)},
          {"refused", refusals(matrix)},
          {"warnings", matrix.warnings}};
}

void add_matrix(const TopologyMatrix& matrix, std::string& text) {
  const auto out = std::back_inserter(text);
  std::size_t width = 6;
  for (const TopologyDevice& device : matrix.devices)
    width = std::max(width, device.name.size() + 2);
  fmt::format_to(out, "\n{:>{}}", "", width);
  for (const TopologyDevice& device : matrix.devices) {
    fmt::format_to(out, "{:>{}}", device.name, width);
  }
  for (std::size_t i = 0; i < matrix.devices.size(); ++i) {
    fmt::format_to(out, "\n{:>{}}", matrix.devices[i].name, width);
    for (const DevicePath path : matrix.paths[i]) fmt::format_to(out, "{:>{}}", name(path), width);
  }
  text += '\n';
}

std::string to_text(const TopologyMatrix& matrix) {
  const auto counted = [](std::size_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
  };
  std::string text = fmt::format("{}: a node, {}, {}\n", matrix.file, counted(matrix.gpus(), "GPU"),
                                 counted(matrix.nics(), "NIC"));
  const auto out = std::back_inserter(text);
  if (const auto paths = gpu_paths(matrix); !paths.empty()) {
    fmt::format_to(out, "  pairs of GPUs  {}{}\n", paths.size() == 1 ? "all " : "",
                   joined(path_names(paths)));
  }
  for (const auto& [node, gpus] : numa_nodes(matrix)) {
    fmt::format_to(out, "  NUMA {:<9} {}\n", node, joined(gpus));
  }
  for (const TopologyDevice& device : matrix.devices) {
    if (!device.adapter.empty()) fmt::format_to(out, "  {:<14} {}\n", device.name, device.adapter);
  }
  text += refusals_text(refusals(matrix));
  add_matrix(matrix, text);
  return text + spec_text("for a spec", "cluster", cluster(matrix));
}

}  // namespace

CalibratedFile calibrate_topology(const TextFile& file) {
  const TopologyMatrix matrix = read_topology_matrix(file);
  return {to_json(matrix), to_text(matrix)};
}

}  // namespace cohort
