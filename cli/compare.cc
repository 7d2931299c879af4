#include "cli/compare.h"

#include <fmt/format.h>

#include "cli/exit_codes.h"
#include "cli/row_table.h"
#include "experiments/compare.h"
#include "experiments/row_text.h"

namespace cohort {
namespace {

std::string percent(double ratio) { return fmt::format("{:+.1f}", ratio * 100); }

std::string cell_text(const Json& cell) {
  std::vector<Setting> settings;
  for (const auto& [pointer, value] : cell.items()) settings.push_back({pointer, value});
  return settings.empty() ? "base" : shown(settings);
}

std::string throughput_table(const Comparison& comparison) {
  std::vector<std::vector<std::string>> lines{
      {"cell", "policy", "seeds", "measured", "+-", "predicted", "error %", "plain", "error %"}};
  for (const auto& policy : comparison.policies) {
    const auto& half_width = policy.measured.half_width;
    lines.push_back({cell_text(policy.cell), policy.label, std::to_string(policy.seeds.size()),
                     fmt::format("{:.2f}", policy.measured.mean),
                     half_width ? fmt::format("{:.2f}", *half_width) : "-",
                     fmt::format("{:.2f}", policy.predicted.mean), percent(policy.error()),
                     fmt::format("{:.2f}", policy.plain.mean), percent(policy.plain_error())});
  }
  return text_table(lines, {true, true, false, false, false, false, false, false, false});
}

std::string phase_table(const Comparison& comparison) {
  std::vector<std::vector<std::string>> lines{
      {"cell", "policy", "phase", "simulated", "measured", "difference"}};
  for (const auto& policy : comparison.policies) {
    for (std::size_t i = 0; i < kPhases.size(); ++i) {
      const double simulated = policy.plain_phases[i] * 1e3;
      const double measured = policy.measured_phases[i] * 1e3;
      lines.push_back({cell_text(policy.cell), policy.label, kPhases[i],
                       fmt::format("{:.3f}", simulated), fmt::format("{:.3f}", measured),
                       fmt::format("{:+.3f}", simulated - measured)});
    }
  }
  return text_table(lines, {true, true, true, false, false, false});
}

// Empty: nobody's is known.
std::string to_loss_table(const Comparison& comparison) {
  std::vector<std::vector<std::string>> lines{
      {"cell", "policy", "seeds", "measured s", "+-", "simulated s", "error %"}};
  for (const auto& policy : comparison.policies) {
    if (!policy.to_loss) continue;
    const auto& [seeds, measured, simulated] = *policy.to_loss;
    lines.push_back({cell_text(policy.cell), policy.label, std::to_string(seeds.size()),
                     fmt::format("{:.3f}", measured.mean),
                     measured.half_width ? fmt::format("{:.3f}", *measured.half_width) : "-",
                     fmt::format("{:.3f}", simulated.mean), percent(policy.to_loss->error())});
  }
  return lines.size() == 1 ? ""
                           : text_table(lines, {true, true, false, false, false, false, false});
}

const char* uses(const Comparison& comparison) {
  return comparison.hosted ? "the same, as the simulation hosts all policies in the group generator"
                           : "simulated step, recorded coordination in place of the simulated";
}

void print_text(const Comparison& comparison) {
  fmt::print(
      "Throughput in worker-steps/s, mean over seeds with 95 % interval. plain: as simulated; "
      "predicted: {}.\n\n{}\n",
      uses(comparison), throughput_table(comparison));
  fmt::print("Milliseconds per worker-step, mean over seeds; simulated: plain.\n\n{}\n",
             phase_table(comparison));
  if (const auto table = to_loss_table(comparison); !table.empty())
    fmt::print("Time until the target loss, of the seeds that reach it in both.\n\n{}\n", table);
  fmt::print("error of predicted: median {:.1f} %, worst {:.1f} % (plain: {:.1f} %, {:.1f} %)\n",
             comparison.median_error * 100, comparison.worst_error * 100,
             comparison.median_plain_error * 100, comparison.worst_plain_error * 100);
  fmt::print("pairs of policies whose measured intervals do not overlap: {}, ranked right: {}\n",
             comparison.judged_pairs, comparison.right_pairs);
}

OrderedJson estimate_json(const char* what, const Estimate& estimate) {
  return {{what, estimate.mean},
          {"half_width_95",
           estimate.half_width ? OrderedJson(*estimate.half_width) : OrderedJson(nullptr)}};
}

OrderedJson phases_json(const PhaseSeconds& phases) {
  OrderedJson result;
  for (std::size_t i = 0; i < kPhases.size(); ++i)
    result[fmt::format("{}_seconds", kPhases[i])] = phases[i];
  return result;
}

OrderedJson to_loss_json(const std::optional<ComparedTimeToLoss>& to_loss) {
  if (!to_loss) return nullptr;
  return {{"seeds", to_loss->seeds},
          {"measured", estimate_json("seconds", to_loss->measured)},
          {"simulated", estimate_json("seconds", to_loss->simulated)},
          {"error", to_loss->error()}};
}

OrderedJson policy_json(const ComparedPolicy& policy) {
  constexpr const char* kThroughput = "throughput_steps_per_second";
  return {{"cell", policy.cell},
          {"policy", policy.policy},
          {"label", policy.label},
          {"seeds", policy.seeds},
          {"measured", estimate_json(kThroughput, policy.measured)},
          {"predicted", estimate_json(kThroughput, policy.predicted)},
          {"predicted_error", policy.error()},
          {"plain", estimate_json(kThroughput, policy.plain)},
          {"plain_error", policy.plain_error()},
          {"measured_per_worker_step", phases_json(policy.measured_phases)},
          {"plain_per_worker_step", phases_json(policy.plain_phases)},
          {"time_to_loss", to_loss_json(policy.to_loss)}};
}

void print_json(const Comparison& comparison) {
  OrderedJson policies = OrderedJson::array();
  for (const auto& policy : comparison.policies) policies.push_back(policy_json(policy));
  const OrderedJson result{{"policies", policies},
                           {"differences", comparison.differences},
                           {"left_out", comparison.left_out},
                           {"summary",
                            {{"predicted_uses", uses(comparison)},
                             {"median_absolute_error", comparison.median_error},
                             {"worst_absolute_error", comparison.worst_error},
                             {"median_absolute_plain_error", comparison.median_plain_error},
                             {"worst_absolute_plain_error", comparison.worst_plain_error},
                             {"judged_pairs", comparison.judged_pairs},
                             {"right_pairs", comparison.right_pairs}}}};
  fmt::print("{}\n", result.dump(1, ' ', false, OrderedJson::error_handler_t::replace));
}

}  // namespace

int compare(const CompareArguments& arguments) {
  const auto comparison = compare_results(arguments.simulated, arguments.real);
  for (const auto& what : comparison.differences)
    fmt::print(stderr, "cohort: not the same work: {}\n", what);
  for (const auto& row : comparison.left_out) fmt::print(stderr, "cohort: left out: {}\n", row);
  arguments.json ? print_json(comparison) : print_text(comparison);
  return kDone;
}

}  // namespace cohort
