// One spec file, read and checked as a whole: the base scenario, the axes of its sweep, and any
// cell of it on demand.
//
// Cells are resolved when asked for, not kept: a sweep of a million cells costs no memory here.
// cell() may be called from several threads at once.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "experiments/cell.h"
#include "experiments/spec_files.h"
#include "experiments/sweep_axes.h"

namespace cohort {

class Experiment {
 public:
  // Reads the file, applies `sets` ("POINTER=VALUE" each) in order, and checks the base scenario
  // and the axes. Throws InputError with file and place.
  Experiment(std::filesystem::path file, const std::vector<std::string>& sets);

  [[nodiscard]] const std::filesystem::path& file() const { return file_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const Json& document() const { return document_; }  // after `sets`, with its sweep
  [[nodiscard]] const Cell& base() const { return base_; }
  [[nodiscard]] const SweepAxes& axes() const { return axes_; }

  // Throws InputError with file, place and the cell's settings.
  [[nodiscard]] Cell cell(std::uint64_t number) const;

 private:
  void refuse_swept_and_tuned() const;

  std::filesystem::path file_;
  std::string name_;
  Json document_;
  Json without_sweep_;
  std::unique_ptr<SpecFiles> files_;  // guards itself
  Cell base_;
  SweepAxes axes_;
};

}  // namespace cohort
