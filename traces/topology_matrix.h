// Reader of what `nvidia-smi topo -m` prints: how every pair of a node's GPUs and network cards is
// linked, and which processors and memory are near a GPU.
//
//         GPU0  GPU1  NIC0  CPU Affinity  NUMA Affinity  GPU NUMA ID
//   GPU0   X    NV12  PXB   0-23          0              N/A
//   GPU1  NV12   X    SYS   24-47         1              N/A
//   NIC0  PXB   SYS    X
//   ...
//   NIC Legend:
//     NIC0: mlx5_0
//
// Blanks or tabs; older versions name the cards themselves, lack the last columns, and say SOC for
// SYS. Lines before and behind the matrix are passed over. A kind of link is no bandwidth: none is
// in such a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "traces/text_file.h"

namespace cohort {

enum class PathKind : std::uint8_t {
  Self,
  NvLink,
  OneBridge,   // PIX
  Bridges,     // PXB
  HostBridge,  // PHB
  Node,        // between host bridges of a NUMA node
  System,      // between NUMA nodes
};

struct DevicePath {
  PathKind kind = PathKind::Self;
  std::uint32_t nvlinks = 0;  // of NvLink: how many, bonded

  friend bool operator==(const DevicePath&, const DevicePath&) = default;
};
[[nodiscard]] std::string name(DevicePath path);  // "NV12", "SYS"

struct TopologyDevice {
  std::string name;     // GPU0, NIC0, mlx5_0
  std::string adapter;  // of a NIC: as the legend names it; empty without one
  bool gpu = false;
  // As printed, such as 0-23,48-71; empty where the file says N/A or nothing.
  std::string cpu_affinity;
  std::string numa_affinity;
  std::string gpu_numa_id;
  std::size_t line = 0;
};

struct TopologyMatrix {
  std::string file;
  std::vector<TopologyDevice> devices;         // in order of the columns; at least one GPU
  std::vector<std::vector<DevicePath>> paths;  // [device][device], symmetric
  std::vector<std::string> warnings;

  [[nodiscard]] std::size_t gpus() const;
  [[nodiscard]] std::size_t nics() const { return devices.size() - gpus(); }
};

// Whether a text has the head of such a matrix.
[[nodiscard]] bool is_topology_matrix(std::string_view text);

// Throws InputError, with the line: a device without a row or with two, cells missing or of no
// kind, a diagonal that is not X, [a][b] other than [b][a], affinities that are no lists of
// numbers.
[[nodiscard]] TopologyMatrix read_topology_matrix(const TextFile& file);

// The different paths between pairs of GPUs, in order of the matrix; empty with one GPU.
[[nodiscard]] std::vector<DevicePath> gpu_paths(const TopologyMatrix& matrix);

}  // namespace cohort
