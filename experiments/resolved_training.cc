#include "experiments/resolved_training.h"

namespace cohort {
namespace {

struct ModelJson {
  Json operator()(const QuadraticOptions& o) const {
    return {{"kind", "quadratic"},
            {"dimensions", o.dimensions},
            {"condition_number", o.condition_number},
            {"noise_variance", o.noise_variance}};
  }
  Json operator()(const SoftmaxOptions&) const { return {{"kind", "softmax"}}; }
  Json operator()(const MlpOptions& o) const { return {{"kind", "mlp"}, {"hidden", o.hidden}}; }
  Json operator()(const CnnOptions& o) const {
    return {{"kind", "cnn"}, {"channels", o.channels}, {"kernel", o.kernel}};
  }
};

struct DataJson {
  Json operator()(const SyntheticOptions& o) const {
    return {{"kind", "synthetic"},
            {"side", o.side},
            {"classes", o.classes},
            {"training_samples", o.training_samples},
            {"test_samples", o.test_samples},
            {"teacher_hidden", o.teacher_hidden},
            {"label_noise", o.label_noise},
            {"seed", o.seed}};
  }
  Json operator()(const FashionMnist&) const { return {{"kind", "fashion-mnist"}}; }
  Json operator()(const Cifar10&) const { return {{"kind", "cifar10"}}; }
  Json operator()(const IdxFiles&) const { return {{"kind", "idx"}}; }
};

struct ShardsJson {
  Json operator()(const IidShards&) const { return "iid"; }
  Json operator()(const DirichletShards& o) const { return {{"dirichlet", o.alpha}}; }
  Json operator()(const SharedSampler&) const { return "shared"; }
};

struct EveryJson {
  Json operator()(std::monostate) const { return nullptr; }
  Json operator()(std::uint64_t steps) const { return {{"worker_steps", steps}}; }
  Json operator()(Time time) const { return {{"ns", time.count()}}; }
};

Json data_json(const CellTraining& training) {
  const auto& spec = training.plan->training;
  if (std::holds_alternative<QuadraticOptions>(spec.model)) return nullptr;
  Json data = std::visit(DataJson{}, spec.data);
  data["fingerprint"] = training.data_fingerprint;
  data["training_samples"] = training.plan->dataset->training.size();
  data["test_samples"] = training.plan->dataset->test.size();
  return data;
}

Json tune_json(const TuneSpec& tune) {
  return {{"learning_rate", tune.learning_rates},
          {"momentum", tune.momenta},
          {"budget_worker_steps", tune.budget}};
}

Json measure_json(const CellTraining& training) {
  const auto& measure = training.plan->measure;
  return {{"target_loss", measure.target_loss ? Json(*measure.target_loss) : Json(nullptr)},
          {"every", std::visit(EveryJson{}, measure.every)},
          {"samples", measure.samples},
          {"replicas", measure.replicas},
          {"tune", training.tune ? tune_json(*training.tune) : Json(nullptr)}};
}

}  // namespace

Json resolved_json(const CellTraining& training) {
  const auto& spec = training.plan->training;
  const auto& schedule = spec.sgd.schedule;
  return {{"model", std::visit(ModelJson{}, spec.model)},
          {"parameters", training.parameters},
          {"data", data_json(training)},
          {"batch", spec.batch},
          {"learning_rate", spec.sgd.learning_rate},
          {"momentum", spec.sgd.momentum},
          {"weight_decay", spec.sgd.weight_decay},
          {"schedule",
           {{"warm_up_samples", schedule.warm_up_samples},
            {"milestones", schedule.milestones},
            {"decay", schedule.decay}}},
          {"shards", std::visit(ShardsJson{}, spec.shards)},
          {"measure", measure_json(training)}};
}

}  // namespace cohort
