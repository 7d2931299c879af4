// A small valid spec, and a temporary directory to put it in.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "experiments/experiment.h"

namespace cohort::testing {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "cohort-test-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

// Four workers on two nodes, 20 steps.
inline Json base_spec() {
  return Json::parse(R"({
    "cluster": {"nodes": 2, "gpus_per_node": 2,
                "nic": {"bandwidth": "10Gbit/s", "latency": "5us"},
                "fabric": {"bandwidth": "10GB/s", "latency": "3us"}},
    "workload": {"compute": "10ms", "payload": "1MB"},
    "stragglers": [{"kind": "bernoulli", "probability": "1/n", "factor": 5}],
    "policies": ["all-reduce", {"kind": "smart", "threshold": 4}],
    "stop": {"steps_per_worker": 20},
    "seeds": [1, 2]
  })");
}

}  // namespace cohort::testing
