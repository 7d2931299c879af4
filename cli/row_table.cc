#include "cli/row_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "experiments/row_text.h"

namespace cohort {
namespace {

std::string number(const OrderedJson& value, int digits, double scale = 1) {
  return value.is_null() ? "-" : fmt::format("{:.{}f}", value.get<double>() * scale, digits);
}

std::string relative(const OrderedJson& row, const std::map<std::uint64_t, double>& first) {
  const auto& throughput = row["throughput_steps_per_second"];
  const auto base = first.find(row["seed"].get<std::uint64_t>());
  if (throughput.is_null() || base == first.end() || base->second == 0) return "-";
  return fmt::format("{:.2f}", throughput.get<double>() / base->second);
}

}  // namespace

std::string text_table(const std::vector<std::vector<std::string>>& lines,
                       const std::vector<bool>& left) {
  std::vector<std::size_t> widths(left.size());
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string result;
  for (const auto& line : lines) {
    std::string text;
    for (std::size_t i = 0; i < line.size(); ++i) {
      text += left[i] ? fmt::format("{:<{}}  ", line[i], widths[i])
                      : fmt::format("{:>{}}  ", line[i], widths[i]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    result += text + "\n";
  }
  return result;
}

std::string runs_json(const std::vector<std::string>& rows) {
  std::string text;
  for (const auto& row : rows) text.append(text.empty() ? "" : ",\n").append(row);
  return fmt::format("{{\"runs\": [\n{}\n]}}\n", text);
}

std::string row_table(const std::vector<std::string>& rows) {
  std::vector<std::vector<std::string>> lines{{"policy", "seed", "steps/s", "relative", "compute %",
                                               "wait %", "sync %", "coord. %", "inter-node GB",
                                               "max skew", "remarks"}};
  std::map<std::uint64_t, double> first;
  std::string first_label;
  for (const auto& text : rows) {
    const auto row = OrderedJson::parse(text);
    const auto label = row["label"].get<std::string>();
    if (first_label.empty()) first_label = label;
    if (label == first_label && row["throughput_steps_per_second"].is_number()) {
      first.emplace(row["seed"].get<std::uint64_t>(),
                    row["throughput_steps_per_second"].get<double>());
    }
    std::string remarks;
    if (row["whole_run_window"] == true) remarks += "throughput of the whole run; ";
    if (row["inter_intra"] == false) remarks += "without inter-intra; ";
    if (row["connected"] == false) remarks += "groups do not connect all workers; ";
    if (row["error"].is_string()) remarks += row["error"].get<std::string>() + "; ";
    if (!remarks.empty()) remarks.erase(remarks.size() - 2);
    lines.push_back(
        {label, std::to_string(row["seed"].get<std::uint64_t>()),
         number(row["throughput_steps_per_second"], 2), relative(row, first),
         number(row["compute_fraction"], 1, 100), number(row["wait_fraction"], 1, 100),
         number(row["sync_fraction"], 1, 100), number(row["coordinate_fraction"], 1, 100),
         number(row["inter_node_bytes"], 2, 1e-9), number(row["max_step_skew"], 0), remarks});
  }
  return text_table(lines,
                    {true, false, false, false, false, false, false, false, false, false, true});
}

}  // namespace cohort
