#include "experiments/row_text.h"

#include <numeric>

#include "experiments/learning_text.h"

namespace cohort {
namespace {

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

RowExtras extras_of(const Scenario& scenario, Clock clock) {
  RowExtras extras{.clock = clock};
  if (scenario.training) extras.target_loss = scenario.training->measure.target_loss;
  return extras;
}

OrderedJson row_json(const ResultRow& row, const RowExtras& extras) {
  const bool simulated = extras.clock == Clock::Simulated;
  OrderedJson columns{{"policy", row.policy},
                      {"label", row.label},
                      {"seed", row.seed},
                      {"workers", row.workers},
                      {"worker_steps", row.worker_steps},
                      {simulated ? "simulated_seconds" : "measured_seconds", row.elapsed_seconds},
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
                      {"connected", or_null(row.connected)}};
  if (row.learning) add_learning(columns, *row.learning, extras.target_loss);
  if (extras.tuning != nullptr) columns["tuning"] = tuning_json(*extras.tuning);
  columns["error"] = nullptr;
  return columns;
}

OrderedJson failed_row_json(const Scenario& scenario, const std::string& error,
                            const RowExtras& extras) {
  ResultRow nothing;
  if (scenario.training) nothing.learning.emplace();
  auto row = row_json(nothing, extras);
  for (auto item = row.begin(); item != row.end(); ++item)
    if (item.key() != "tuning") item.value() = nullptr;
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

std::vector<std::string> csv_columns(Clock clock, bool learning) {
  ResultRow row;
  if (learning) row.learning.emplace();
  const auto json = row_json(row, {.clock = clock});
  std::vector<std::string> columns;
  for (auto item = json.begin(); item != json.end(); ++item)
    if (!item.value().is_structured()) columns.push_back(item.key());
  return columns;
}

std::string csv_line(const std::vector<Setting>& settings, const std::string& row,
                     const std::vector<std::string>& columns) {
  std::string line;
  for (const auto& setting : settings) line += csv_value(setting.value) + ",";
  const auto values = OrderedJson::parse(row);
  for (const auto& column : columns) {
    const auto value = values.find(column);
    line += (value == values.end() ? "" : csv_value(*value)) + ",";
  }
  line.back() = '\n';
  return line;
}

std::string csv_header(const std::vector<std::string>& pointers,
                       const std::vector<std::string>& columns) {
  std::string line;
  for (const auto& pointer : pointers) line += csv_text(pointer) + ",";
  for (const auto& column : columns) line += column + ",";
  line.back() = '\n';
  return line;
}

// Within a JSON string the quotes would be escaped.
bool has_learning(const std::string& row) { return row.find(R"("final_loss":)") != row.npos; }

}  // namespace cohort
