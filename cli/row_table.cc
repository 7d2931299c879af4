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

std::string remarks_on(const OrderedJson& row) {
  std::string remarks;
  if (row["whole_run_window"] == true) remarks += "throughput of the whole run; ";
  if (row["inter_intra"] == false) remarks += "without inter-intra; ";
  if (row["connected"] == false) remarks += "groups do not connect all workers; ";
  if (row["error"].is_string()) remarks += row["error"].get<std::string>() + "; ";
  if (!remarks.empty()) remarks.erase(remarks.size() - 2);
  return remarks;
}

const std::vector<std::string> kHead{"policy", "seed",   "steps/s",  "relative",      "compute %",
                                     "wait %", "sync %", "coord. %", "inter-node GB", "max skew"};
const std::vector<std::string> kLearningHead{"rate", "loss", "accuracy %", "s to loss"};

std::vector<std::string> line_of(const OrderedJson& row,
                                 const std::map<std::uint64_t, double>& first) {
  return {row["label"].get<std::string>(),
          std::to_string(row["seed"].get<std::uint64_t>()),
          number(row["throughput_steps_per_second"], 2),
          relative(row, first),
          number(row["compute_fraction"], 1, 100),
          number(row["wait_fraction"], 1, 100),
          number(row["sync_fraction"], 1, 100),
          number(row["coordinate_fraction"], 1, 100),
          number(row["inter_node_bytes"], 2, 1e-9),
          number(row["max_step_skew"], 0)};
}

void add_learning(const OrderedJson& row, std::vector<std::string>& line) {
  const auto rate = row["learning_rate"];
  line.push_back(rate.is_null() ? "-" : fmt::format("{}", rate.get<double>()));
  line.push_back(number(row["final_loss"], 4));
  line.push_back(number(row["final_accuracy"], 2, 100));
  line.push_back(number(row["time_to_loss_seconds"], 2));
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
  const bool learning = std::ranges::any_of(rows, has_learning);
  auto head = kHead;
  if (learning) head.insert(head.end(), kLearningHead.begin(), kLearningHead.end());
  head.push_back("remarks");
  std::vector<std::vector<std::string>> lines{head};
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
    auto line = line_of(row, first);
    if (learning) add_learning(row, line);
    line.push_back(remarks_on(row));
    lines.push_back(std::move(line));
  }
  std::vector<bool> left(head.size(), false);
  left.front() = left.back() = true;
  return text_table(lines, left);
}

}  // namespace cohort
