#include "traces/topology_matrix.h"

#include <doctest/doctest.h>

#include <string>

#include "policies/errors.h"
#include "tests/skip.h"
#include "tests/traces/files.h"

namespace cohort {
namespace {

const std::string kHead = "      GPU0  GPU1  CPU Affinity  NUMA Affinity\n";
const std::string kFirst = "GPU0   X    PHB   0-7           0\n";
const std::string kSecond = "GPU1  PHB    X    8-15          N/A\n";

TopologyMatrix topology_matrix_of(std::string text) {
  return read_topology_matrix({"topo", std::move(text)});
}

TEST_CASE("topology: GPUs, network cards with their names, paths and affinities") {
  const TopologyMatrix matrix =
      read_topology_matrix(read_text_file(test::sample("topology_2_gpus_2_nics.txt")));
  CHECK(matrix.gpus() == 2);
  CHECK(matrix.nics() == 2);
  CHECK(matrix.warnings.empty());
  CHECK(name(matrix.paths[0][1]) == "NV4");
  CHECK(name(matrix.paths[2][0]) == "PXB");
  CHECK(name(matrix.paths[1][3]) == "NODE");
  CHECK(name(matrix.paths[3][3]) == "X");
  CHECK(matrix.devices[1].cpu_affinity == "16-31,48-63");
  CHECK(matrix.devices[1].numa_affinity == "1");
  CHECK(matrix.devices[1].gpu_numa_id.empty());
  CHECK(matrix.devices[3].adapter == "mlx5_bond_1");
  CHECK(gpu_paths(matrix) == std::vector{DevicePath{PathKind::NvLink, 4}});
}

TEST_CASE("topology: older versions name the cards themselves and know no NUMA nodes") {
  const TopologyMatrix matrix = topology_matrix_of(
      "warning: a driver\n\tGPU0\tGPU1\tmlx5_0\tCPU Affinity\nGPU0\t X \tSOC\tPIX\t0-7\n"
      "GPU1\tSOC\t X \tPHB\t8-15\nmlx5_0\tPIX\tPHB\t X \t\n");
  CHECK(matrix.nics() == 1);
  CHECK(matrix.devices[2].name == "mlx5_0");
  CHECK(name(matrix.paths[0][1]) == "SYS");
  CHECK(matrix.devices[0].numa_affinity.empty());
}

TEST_CASE("topology: one GPU has no pairs; blank affinities are left out with a warning") {
  const TopologyMatrix matrix = topology_matrix_of(
      "\tGPU0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\nGPU0\t X \t\t\t\tN/A\n");
  CHECK(gpu_paths(matrix).empty());
  REQUIRE(matrix.warnings.size() == 1);
  CHECK(matrix.warnings[0] == "line 2: 1 of 3 affinities of GPU0, left out");
}

TEST_CASE("topology: different links between the GPUs are told apart") {
  const TopologyMatrix matrix = topology_matrix_of(
      "     GPU0 GPU1 GPU2 CPU Affinity\nGPU0 X NV1 NV2 0\nGPU1 NV1 X SYS 0\nGPU2 NV2 SYS X 0\n");
  CHECK(gpu_paths(matrix) == std::vector{DevicePath{PathKind::NvLink, 1},
                                         DevicePath{PathKind::NvLink, 2},
                                         DevicePath{PathKind::System, 0}});
}

TEST_CASE("topology: damaged and contradictory matrices are refused with their line") {
  struct Case {
    std::string text;
    const char* says;
  };
  for (const Case& c :
       {Case{kHead + kFirst + "GPU1  SYS    X    8-15   1\n",
             "topo:3: found SYS from GPU1 to GPU0, but PHB back on line 2"},
        Case{kHead + kFirst, "topo: has a column of GPU1, but no row"},
        Case{kHead + kFirst + kFirst + kSecond, "topo:3: GPU0 has a row on line 2"},
        Case{kHead + kFirst + "GPU1  PHB", "topo:3: found 1 cells in the row of GPU1"},
        Case{kHead + kFirst + "GPU1  PHB    X    8-   1", "topo:3: found \"8-\" as affinity"},
        Case{kHead + kFirst + "GPU1  PHB    X    8-15   1  2",
             "topo:3: found \"2\" behind the paths"},
        Case{kHead + "GPU0  X  PXX  0-7  0\n" + kSecond, "topo:2: found \"PXX\"; expected X, NV#"},
        Case{kHead + "GPU0  X  NV0  0-7  0\n" + kSecond, "topo:2: found \"NV0\"; expected X, NV#"},
        Case{kHead + "GPU0  PHB  PHB  0-7  0\n" + kSecond,
             "found PHB from GPU0 to GPU0; expected X"},
        Case{kHead + "GPU0  X  X  0-7  0\n" + kSecond, "found X from GPU0 to GPU1; expected X"},
        Case{kHead + kFirst + kSecond + "GPU2  PHB  PHB  1  1\n", "topo:4: found a row of GPU2"},
        Case{kHead + kFirst + kSecond + kHead, "topo:4: found a second head"},
        Case{"  GPU0  GPU0  CPU Affinity\n", "topo:1: names GPU0 twice"},
        Case{kFirst + kSecond, "topo: has no head of a matrix"}}) {
    CAPTURE(c.text);
    CHECK_THROWS_WITH_AS((void)topology_matrix_of(c.text), doctest::Contains(c.says), InputError);
  }
}

TEST_CASE("cases: the topology of 8 A100 has NV12 between all pairs and two NUMA nodes") {
  const auto file = test::cases() / "topology/topo_m_8xA100.txt";
  if (!std::filesystem::exists(file)) return skip("the shared cases are not at hand");
  const TopologyMatrix matrix = read_topology_matrix(read_text_file(file));
  CHECK(matrix.gpus() == 8);
  CHECK(matrix.nics() == 0);
  CHECK(gpu_paths(matrix) == std::vector{DevicePath{PathKind::NvLink, 12}});
  for (std::size_t gpu = 0; gpu < 8; ++gpu) {
    CHECK(matrix.devices[gpu].numa_affinity == (gpu < 4 ? "0" : "1"));
  }
}

}  // namespace
}  // namespace cohort
