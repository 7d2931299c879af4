#include "experiments/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <map>
#include <numeric>

#include "policies/errors.h"
#include "traces/text_file.h"

namespace cohort {
namespace {

struct Row {
  std::string key;   // cell, label and seed
  std::string name;  // the same for people
  std::string group;
  Json cell = Json::object();
  Json columns;
};

Row read_row(const Json& object, const std::string& place, const char* seconds) {
  if (!object.is_object() || !object.contains("label") || !object.contains("seed"))
    throw InputError(place, "is no row of results");
  if (!object.contains(seconds)) {
    throw InputError(place, fmt::format("has no column {}; allowed: cohort compare SIM REAL, of "
                                        "cohort simulate or sweep and of cohort run",
                                        seconds));
  }
  Row row;
  row.columns = object;
  for (const auto& [key, value] : object.items())
    if (key.starts_with('/')) row.cell[key] = value;
  row.group = row.cell.dump() + " " + object["label"].dump();
  row.key = row.group + " " + object["seed"].dump();
  row.name = fmt::format("{} seed {}{}", shown(object["label"]), shown(object["seed"]),
                         row.cell.empty() ? "" : " of the cell " + row.cell.dump());
  return row;
}

std::vector<Row> read_rows(const std::filesystem::path& directory, const char* seconds) {
  const auto file = directory / "results.jsonl";
  const auto text = read_text(file);
  std::vector<Row> rows;
  std::string_view rest = text;
  for (std::size_t line = 1; !rest.empty(); ++line) {
    const auto place = fmt::format("{}:{}", file.string(), line);
    const auto object = Json::parse(take_line(rest), nullptr, false);
    if (object.is_discarded()) throw InputError(place, "is no JSON");
    rows.push_back(read_row(object, place, seconds));
  }
  if (rows.empty()) throw InputError(file.string(), "holds no rows");
  return rows;
}

double number(const Row& row, const std::string& column) {
  const auto found = row.columns.find(column);
  if (found == row.columns.end() || !found->is_number())
    throw InputError(row.name, fmt::format("has no number in the column {}", column));
  return found->get<double>();
}

// Why a row cannot be compared; empty when it can.
std::string flaw(const Row& row) {
  const auto error = row.columns.find("error");
  if (error != row.columns.end() && error->is_string())
    return "failed: " + error->get<std::string>();
  const auto throughput = row.columns.find("throughput_steps_per_second");
  if (throughput == row.columns.end() || !throughput->is_number()) return "has no throughput";
  return throughput->get<double>() > 0 ? "" : "has a throughput of 0";
}

bool of_whole_run(const Row& row) { return row.columns.value("whole_run_window", false); }

// Why two good rows cannot be compared; empty when they can.
std::string mismatch(const Row& simulated, const Row& real) {
  if (number(simulated, "workers") != number(real, "workers"))
    return fmt::format("has {} workers simulated, {} measured", number(simulated, "workers"),
                       number(real, "workers"));
  if (of_whole_run(simulated) == of_whole_run(real)) return "";
  return fmt::format(
      "the {} throughput is of the whole run, its window is empty, and the other's "
      "is not; stop by seconds, or a lower warmup_steps, gives both a window",
      of_whole_run(simulated) ? "simulated" : "measured");
}

std::vector<std::string> flaws_of(const Row& simulated, const Row& real) {
  std::vector<std::string> flaws;
  if (const auto what = flaw(simulated); !what.empty()) flaws.push_back("simulated, " + what);
  if (const auto what = flaw(real); !what.empty()) flaws.push_back("measured, " + what);
  if (!flaws.empty()) return flaws;
  if (auto what = mismatch(simulated, real); !what.empty()) flaws.push_back(std::move(what));
  return flaws;
}

// Null: there is none.
Json manifest_of(const std::filesystem::path& directory) {
  const auto file = directory / "manifest.json";
  if (!std::filesystem::exists(file)) return {};
  auto manifest = Json::parse(read_text(file), nullptr, false);
  if (manifest.is_discarded()) throw InputError(file.string(), "is no JSON");
  return manifest;
}

// Whether the simulations had the group generator host all policies.
bool hosted_all(const Json& simulated) {
  const auto hosted = "/resolved/cluster/coordination_hosted"_json_pointer;
  return simulated.contains(hosted) && simulated[hosted] == true;
}

// What was swept stands in the rows.
std::vector<std::string> differences_of(const Json& simulated, const Json& real, const Json& cell) {
  constexpr std::array kWork{"/workload/compute", "/workload/payload", "/workload/training",
                             "/stragglers"};
  constexpr std::array kResolved{"/resolved/workload/compute_ns",
                                 "/resolved/workload/payload_bytes", "/resolved/training",
                                 "/resolved/stragglers"};
  std::vector<std::string> differences;
  for (std::size_t i = 0; i < kWork.size(); ++i) {
    const Json::json_pointer place(kResolved[i]);
    if (!simulated.contains(place) || !real.contains(place) || simulated[place] == real[place])
      continue;
    const auto swept = [&](const auto& setting) { return setting.key().starts_with(kWork[i]); };
    if (std::ranges::any_of(cell.items(), swept)) continue;
    differences.push_back(fmt::format("{}: {} simulated, {} measured", kWork[i],
                                      shown(simulated[place]), shown(real[place])));
  }
  return differences;
}

// Per worker-step.
double step_seconds(const Row& row) {
  return number(row, "workers") / number(row, "throughput_steps_per_second");
}

PhaseSeconds phases_of(const Row& row) {
  PhaseSeconds phases{};
  for (std::size_t i = 0; i < kPhases.size(); ++i)
    phases[i] = step_seconds(row) * number(row, fmt::format("{}_fraction", kPhases[i]));
  return phases;
}

Estimate estimate(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  Estimate result{std::accumulate(values.begin(), values.end(), 0.0) / n, {}};
  if (values.size() < 2) return result;
  double squares = 0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  const boost::math::students_t student(n - 1);
  const double quantile = boost::math::quantile(boost::math::complement(student, 0.025));
  result.half_width = quantile * std::sqrt(squares / (n - 1) / n);
  return result;
}

// Null: without training, or not reached.
std::optional<double> time_to_loss(const Row& row) {
  const auto found = row.columns.find("time_to_loss_seconds");
  if (found == row.columns.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

// The rows of one cell and label, seed by seed.
class Gathered {
 public:
  explicit Gathered(bool hosted) : hosted_(hosted) {}

  void add(const Row& simulated, const Row& real) {
    if (measured_.empty()) {
      result_.cell = real.cell;
      result_.label = real.columns["label"].get<std::string>();
      result_.policy = real.columns.value("policy", result_.label);
    }
    result_.seeds.push_back(real.columns["seed"].get<std::uint64_t>());
    const auto real_phases = phases_of(real);
    const auto plain_phases = phases_of(simulated);
    for (std::size_t i = 0; i < kPhases.size(); ++i) {
      result_.measured_phases[i] += real_phases[i];
      result_.plain_phases[i] += plain_phases[i];
    }
    const double workers = number(real, "workers");
    measured_.push_back(workers / step_seconds(real));
    plain_.push_back(workers / step_seconds(simulated));
    const double recorded = hosted_ ? 0 : real_phases[3] - plain_phases[3];
    predicted_.push_back(workers / (step_seconds(simulated) + recorded));
    add_to_loss(time_to_loss(simulated), time_to_loss(real));
  }
  [[nodiscard]] ComparedPolicy finish() {
    for (auto* phases : {&result_.measured_phases, &result_.plain_phases})
      for (double& seconds : *phases) seconds /= static_cast<double>(measured_.size());
    result_.measured = estimate(measured_);
    result_.plain = estimate(plain_);
    result_.predicted = estimate(predicted_);
    if (result_.to_loss) {
      result_.to_loss->measured = estimate(measured_to_loss_);
      result_.to_loss->simulated = estimate(simulated_to_loss_);
    }
    return std::move(result_);
  }

 private:
  void add_to_loss(std::optional<double> simulated, std::optional<double> real) {
    if (!simulated || !real) return;
    if (!result_.to_loss) result_.to_loss.emplace();
    result_.to_loss->seeds.push_back(result_.seeds.back());
    simulated_to_loss_.push_back(*simulated);
    measured_to_loss_.push_back(*real);
  }

  bool hosted_;
  ComparedPolicy result_;
  std::vector<double> measured_, plain_, predicted_;
  std::vector<double> measured_to_loss_, simulated_to_loss_;
};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const auto middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// Whether the measured intervals lie apart.
bool apart(const ComparedPolicy& a, const ComparedPolicy& b) {
  if (!a.measured.half_width || !b.measured.half_width) return false;
  return std::abs(a.measured.mean - b.measured.mean) >
         *a.measured.half_width + *b.measured.half_width;
}

void judge_pairs(Comparison& comparison) {
  const auto& policies = comparison.policies;
  for (std::size_t i = 0; i < policies.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (policies[i].cell != policies[j].cell || !apart(policies[i], policies[j])) continue;
      ++comparison.judged_pairs;
      const bool measured_less = policies[i].measured.mean < policies[j].measured.mean;
      const bool predicted_less = policies[i].predicted.mean < policies[j].predicted.mean;
      if (measured_less == predicted_less) ++comparison.right_pairs;
    }
  }
}

void summarise(Comparison& comparison) {
  std::vector<double> errors;
  std::vector<double> plain;
  for (const auto& policy : comparison.policies) {
    errors.push_back(std::abs(policy.error()));
    plain.push_back(std::abs(policy.plain_error()));
  }
  comparison.median_error = median(errors);
  comparison.worst_error = *std::ranges::max_element(errors);
  comparison.median_plain_error = median(plain);
  comparison.worst_plain_error = *std::ranges::max_element(plain);
  judge_pairs(comparison);
}

}  // namespace

Comparison compare_results(const std::filesystem::path& simulated,
                           const std::filesystem::path& real) {
  std::map<std::string, Row> predictions;
  for (auto& row : read_rows(simulated, "simulated_seconds")) predictions[row.key] = row;
  Comparison comparison;
  std::map<std::string, std::size_t> place;  // of each group
  std::vector<Gathered> gathered;
  const auto manifest = manifest_of(simulated);
  comparison.hosted = hosted_all(manifest);
  for (const auto& row : read_rows(real, "measured_seconds")) {
    const auto prediction = predictions.find(row.key);
    if (prediction == predictions.end()) {
      comparison.left_out.push_back(row.name + ": measured, not simulated");
      continue;
    }
    const auto flaws = flaws_of(prediction->second, row);
    for (const auto& what : flaws) comparison.left_out.push_back(row.name + ": " + what);
    if (flaws.empty()) {
      const auto [at, fresh] = place.emplace(row.group, gathered.size());
      if (fresh) gathered.emplace_back(comparison.hosted);
      gathered[at->second].add(prediction->second, row);
    }
    predictions.erase(prediction);
  }
  for (const auto& [key, row] : predictions)
    comparison.left_out.push_back(row.name + ": simulated, not measured");
  if (gathered.empty())
    throw InputError(
        real.string(),
        "no row can be compared with one of " + simulated.string() +
            (comparison.left_out.empty() ? std::string() : "; such as " + comparison.left_out[0]));
  for (auto& group : gathered) comparison.policies.push_back(group.finish());
  comparison.differences =
      differences_of(manifest, manifest_of(real), comparison.policies.front().cell);
  summarise(comparison);
  return comparison;
}

}  // namespace cohort
