#include "experiments/read_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "experiments/named_models.h"

namespace cohort {
namespace {

const NamedModel& read_named_model(const SpecNode& node) {
  std::vector<std::string_view> names;
  for (const auto& model : named_models()) names.push_back(model.name);
  const auto& found = node.text("one of " + listed(names));
  const auto model = std::ranges::find(named_models(), found, &NamedModel::name);
  if (model == named_models().end()) node.complain(unknown_name("model", found, names));
  return *model;
}

std::vector<std::string_view> gpus_of(const NamedModel& model) {
  std::vector<std::string_view> names;
  for (const auto& step : model.steps) names.push_back(step.gpu);
  return names;
}

Time read_gpu(const SpecNode& node, const NamedModel& model) {
  const auto names = gpus_of(model);
  if (names.empty())
    node.complain(
        fmt::format("no step time of {} is published for any GPU; allowed: \"compute\" "
                    "in its place",
                    model.name));
  const auto& found = node.text("one of " + listed(names));
  const auto step = std::ranges::find(model.steps, found, &StepTime::gpu);
  if (step == model.steps.end())
    node.complain(unknown_name(fmt::format("GPU for {}", model.name), found, names) +
                  ", or \"compute\" in its place");
  return step->time;
}

// The complaint about a workload without `compute`.
[[noreturn]] void ask_for_compute(const SpecNode& node, const NamedModel* model) {
  if (model == nullptr) static_cast<void>(node.need("compute"));
  const auto names = gpus_of(*model);
  if (names.empty())
    node.complain(fmt::format("the key \"compute\" is missing: no step time of {} is published",
                              model->name));
  node.complain(fmt::format(
      "the key \"compute\" is missing; allowed: a time, or a \"gpu\" for which a step of {} is "
      "published: {}",
      model->name, listed(names)));
}

Time read_compute(const SpecNode& node, const NamedModel* model, const WorkloadDefaults& defaults) {
  const auto gpu = node.find("gpu");
  if (gpu && model == nullptr) gpu->complain("says nothing without a \"model\"");
  const auto published = gpu ? std::optional(read_gpu(*gpu, *model)) : std::nullopt;
  if (const auto compute = node.find("compute")) return compute->positive_time(kLongestTime);
  if (defaults.compute) return *defaults.compute;
  if (!published) ask_for_compute(node, model);
  return *published;
}

double read_payload(const SpecNode& node, const NamedModel* model,
                    const WorkloadDefaults& defaults) {
  if (const auto payload = node.find("payload")) return payload->bytes();
  if (model != nullptr) return model->bytes();
  return defaults.payload ? *defaults.payload : node.need("payload").bytes();
}

}  // namespace

WorkloadSpec read_workload(const SpecNode& node, const WorkloadDefaults& defaults) {
  constexpr std::uint64_t kMostBuckets = 1'000'000;
  constexpr double kMostInterference = 1e3;
  node.only_keys({"compute", "payload", "backward_share", "buckets", "interference", "drain",
                  "model", "gpu", "training"});
  const auto named = node.find("model");
  const auto* model = named ? &read_named_model(*named) : nullptr;
  WorkloadSpec workload;
  workload.compute = read_compute(node, model, defaults);
  workload.payload = read_payload(node, model, defaults);
  if (const auto share = node.find("backward_share")) workload.backward_share = share->number(0, 1);
  if (const auto buckets = node.find("buckets"))
    workload.buckets = static_cast<std::uint32_t>(buckets->count(1, kMostBuckets));
  if (const auto share = node.find("interference"))
    workload.interference = share->number(0, kMostInterference);
  if (const auto drain = node.find("drain")) workload.drain = drain->time();
  return workload;
}

}  // namespace cohort
