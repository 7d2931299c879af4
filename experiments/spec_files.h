// The files that a spec names: read once, however many cells use them. Names are relative to the
// spec's directory. May be called from several threads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "experiments/spec_node.h"
#include "sim/cluster.h"
#include "traces/compute_trace.h"
#include "training/dataset.h"

namespace cohort {

class SpecFiles {
 public:
  struct Trace {
    std::shared_ptr<const ComputeTrace> times;
    std::uint64_t fingerprint = 0;  // of the times
  };

  struct Data {
    std::shared_ptr<const Dataset> samples;
    std::uint64_t fingerprint = 0;  // of shape, classes, pixels and labels
  };

  explicit SpecFiles(std::filesystem::path directory) : directory_(std::move(directory)) {}

  // `name` is the node that holds the file's name. Throws InputError with the node's pointer, then
  // the file and line.
  [[nodiscard]] Trace trace(const SpecNode& name);
  // A JSON file: [[bytes, GB/s], ...], or an object with that list under "measured" (as `cohort
  // calibrate` prints it).
  [[nodiscard]] MeasuredCurve curve(const SpecNode& name);
  // Loaded or made once for equal options; `node` is what asks for it. Throws EnvironmentError when
  // Fashion-MNIST is not installed.
  [[nodiscard]] Data data(const SpecNode& node, const DataOptions& options);
  [[nodiscard]] std::filesystem::path path_of(const SpecNode& name) const;

 private:
  std::filesystem::path directory_;
  std::mutex mutex_;  // guards the maps
  std::map<std::filesystem::path, Trace> traces_;
  std::map<std::filesystem::path, MeasuredCurve> curves_;
  std::map<std::string, Data> data_;  // by the text of their options
};

// A list [[bytes, bus bandwidth in GB/s], ...]: bytes strictly increasing, both above 0.
[[nodiscard]] MeasuredCurve read_curve(const SpecNode& list);

}  // namespace cohort
