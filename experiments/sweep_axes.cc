#include "experiments/sweep_axes.h"

#include <fmt/format.h>

#include <set>

#include "policies/errors.h"

namespace cohort {
namespace {

bool is_or_holds(const std::string& outer, const std::string& inner) {
  return inner == outer || inner.starts_with(outer + "/");
}

// Checks one list of values, read as the list of `pointer`.
void check_list(const SpecNode& list, const std::string& pointer) {
  for (const std::string key : {"/sweep", "/name", "/seeds", "/run"}) {
    if (is_or_holds(key, pointer)) {
      list.complain(fmt::format("{} cannot be swept (seeds are an axis of their own)", key));
    }
  }
  if (list.size("values") == 0) list.refuse("at least one value");
}

void check_distinct(const SpecNode& node, const std::vector<std::vector<Json>>& points) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Json point(points[i]);
    if (!seen.insert(point.dump()).second) {
      node.complain(fmt::format("{} stands twice; allowed: each value once",
                                shown(points[i].size() == 1 ? points[i].front() : point)));
    }
  }
}

}  // namespace

SweepAxes::Axis SweepAxes::read_axis(const SpecNode& node) {
  if (!node.json().is_object() || node.json().empty()) {
    node.refuse("an object of JSON pointers, each with a list of values");
  }
  Axis axis;
  for (auto item = node.json().begin(); item != node.json().end(); ++item) {
    const auto list = node.need(item.key());
    check_list(list, item.key());
    axis.points.resize(axis.pointers.empty() ? list.json().size() : axis.points.size());
    if (list.json().size() != axis.points.size()) {
      list.complain(fmt::format(
          "found {} values; allowed: {}, as many as {} has, with which it varies together",
          list.json().size(), axis.points.size(), axis.pointers.front()));
    }
    axis.pointers.push_back(item.key());
    for (std::size_t i = 0; i < axis.points.size(); ++i) axis.points[i].push_back(list.json()[i]);
  }
  check_distinct(node, axis.points);
  return axis;
}

void SweepAxes::add(const SpecNode& node, Axis axis) {
  for (const auto& pointer : axis.pointers) {
    for (const auto& known : pointers_) {
      if (is_or_holds(known, pointer) || is_or_holds(pointer, known)) {
        node.complain(fmt::format("{} and {} set the same value", known, pointer));
      }
    }
    pointers_.push_back(pointer);
  }
  cells_ *= axis.points.size();
  if (cells_ > kMostCells)
    node.complain(fmt::format("the sweep has more than {} cells", kMostCells));
  axes_.push_back(std::move(axis));
}

SweepAxes::SweepAxes(const SpecNode& sweep) {
  if (sweep.json().is_array()) {
    for (std::size_t i = 0; i < sweep.json().size(); ++i) {
      const auto node = sweep.at(i);
      add(node, read_axis(node));
    }
    return;
  }
  if (!sweep.json().is_object())
    sweep.refuse("an object of JSON pointers, or a list of such objects");
  for (auto item = sweep.json().begin(); item != sweep.json().end(); ++item) {
    const auto list = sweep.need(item.key());
    check_list(list, item.key());
    Axis axis{{item.key()}, {}};
    for (const auto& value : list.json()) axis.points.push_back({value});
    check_distinct(list, axis.points);
    add(list, std::move(axis));
  }
}

std::vector<Setting> SweepAxes::settings(std::uint64_t cell) const {
  std::vector<Setting> result;
  std::uint64_t stride = cells_;
  for (const auto& axis : axes_) {
    stride /= axis.points.size();
    const auto& point = axis.points[cell / stride % axis.points.size()];
    for (std::size_t i = 0; i < point.size(); ++i) result.push_back({axis.pointers[i], point[i]});
  }
  return result;
}

}  // namespace cohort
