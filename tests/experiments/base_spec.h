// A small valid spec, for a temporary directory, and what is wrong with a changed one.
#pragma once

#include <filesystem>
#include <string>

#include "experiments/experiment.h"
#include "experiments/read_cell.h"
#include "tests/temporary_directory.h"

namespace cohort::testing {

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

// The same with softmax regression on a small set that needs no files: 8 x 8 pixels, 10 classes.
inline Json training_spec() {
  auto spec = base_spec();
  spec["workload"] = Json::parse(R"({
    "compute": "10ms",
    "training": {"model": "softmax", "data": {"synthetic": {"training_samples": 512,
                                                             "test_samples": 64}},
                 "batch": 8, "learning_rate": 0.05}
  })");
  return spec;
}

// Files are named relative to `directory`.
inline Cell cell_of(const Json& document, const std::filesystem::path& directory = ".") {
  SpecFiles files(directory);
  return read_cell(document, files);
}

// One value of a spec that is refused: with the place, and words of the complaint.
struct WrongValue {
  const char* pointer;
  const char* value;
  const char* place;
  const char* words;
};

}  // namespace cohort::testing
