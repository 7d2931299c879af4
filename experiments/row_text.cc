#include "experiments/row_text.h"

#include <numeric>

namespace cohort {
namespace {

template <typename Value>
OrderedJson or_null(const std::optional<Value>& value) {
  return value ? OrderedJson(*value) : OrderedJson(nullptr);
}

std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

template <typename AnyJson>
std::string csv_value(const AnyJson& value) {
  if (value.is_null()) return "";
  return csv_text(value.is_string() ? value.template get<std::string>() : value.dump());
}

}  // namespace

OrderedJson row_json(const ResultRow& row, Clock clock) {
  return {
      {"policy", row.policy},
      {"label", row.label},
      {"seed", row.seed},
      {"workers", row.workers},
      {"worker_steps", row.worker_steps},
      {clock == Clock::Simulated ? "simulated_seconds" : "measured_seconds", row.elapsed_seconds},
      {"throughput_steps_per_second", or_null(row.throughput_steps_per_second)},
      {"compute_fraction", row.compute_fraction},
      {"wait_fraction", row.wait_fraction},
      {"sync_fraction", row.sync_fraction},
      {"coordinate_fraction", row.coordinate_fraction},
      {"synchronisations", row.synchronisations},
      {"inter_node_bytes", row.inter_node_bytes},
      {"intra_node_bytes", row.intra_node_bytes},
      {"max_step_skew", row.max_step_skew},
      {"conflicts", row.conflicts},
      {"communicators_created", or_null(row.communicators_created)},
      {"inter_intra", or_null(row.inter_intra)},
      {"dominant_term", row.dominant_term},
      {"whole_run_window", row.whole_run_window},
      {"connected", or_null(row.connected)},
      {"error", nullptr}};
}

OrderedJson failed_row_json(const Scenario& scenario, const std::string& error, Clock clock) {
  auto row = row_json({}, clock);
  for (auto item = row.begin(); item != row.end(); ++item) item.value() = nullptr;
  row["policy"] = scenario.policy->name;
  row["label"] = scenario.label;
  row["seed"] = scenario.seed;
  const auto& gpus = scenario.cluster.gpus_per_node;
  row["workers"] = std::accumulate(gpus.begin(), gpus.end(), 0U);
  row["error"] = error;
  return row;
}

std::string jsonl_line(const std::vector<Setting>& settings, const std::string& row) {
  std::string line = "{";
  for (const auto& setting : settings) {
    line += Json(setting.pointer).dump() + ":" + setting.value.dump() + ",";
  }
  return line + row.substr(1) + "\n";
}

std::string csv_line(const std::vector<Setting>& settings, const std::string& row) {
  std::string line;
  for (const auto& setting : settings) line += csv_value(setting.value) + ",";
  const auto columns = OrderedJson::parse(row);
  for (const auto& value : columns) line += csv_value(value) + ",";
  line.back() = '\n';
  return line;
}

std::string csv_header(const std::vector<std::string>& pointers, Clock clock) {
  std::string line;
  for (const auto& pointer : pointers) line += csv_text(pointer) + ",";
  const auto columns = row_json({}, clock);
  for (auto item = columns.begin(); item != columns.end(); ++item) line += item.key() + ",";
  line.back() = '\n';
  return line;
}

}  // namespace cohort
