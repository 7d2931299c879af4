#include "experiments/read_training.h"

#include <fmt/format.h>

#include <limits>
#include <string>
#include <vector>

#include "policies/errors.h"
#include "training/model.h"
#include "training/shards.h"

namespace cohort {
namespace {

constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max();

// Ranges are check_training()'s.
double read_number(const SpecNode& node) {
  if (!node.json().is_number()) node.refuse("a number");
  return node.json().get<double>();
}
void read_into(const std::optional<SpecNode>& node, double& value) {
  if (node) value = read_number(*node);
}
void read_into(const std::optional<SpecNode>& node, std::uint32_t& value) {
  if (node) value = static_cast<std::uint32_t>(node->count(0, kMost));
}
void read_into(const std::optional<SpecNode>& node, std::uint64_t& value) {
  if (node) value = node->count(0, std::numeric_limits<std::int64_t>::max());
}

template <typename Count>
std::vector<Count> read_counts(const SpecNode& list, std::string_view what) {
  std::vector<Count> counts(list.size(what));
  for (std::size_t i = 0; i < counts.size(); ++i) read_into(list.at(i), counts[i]);
  return counts;
}

QuadraticOptions read_quadratic(const SpecNode& node) {
  node.only_keys({"kind", "dimensions", "condition_number", "noise_variance"});
  QuadraticOptions options;
  read_into(node.find("dimensions"), options.dimensions);
  read_into(node.find("condition_number"), options.condition_number);
  read_into(node.find("noise_variance"), options.noise_variance);
  return options;
}

CnnOptions read_cnn(const SpecNode& node) {
  node.only_keys({"kind", "channels", "kernel"});
  CnnOptions options;
  read_into(node.find("kernel"), options.kernel);
  if (const auto list = node.find("channels")) {
    constexpr std::string_view kPair = "two numbers of channels";
    if (list->size(kPair) != 2) list->refuse(fmt::format("a list of {}", kPair));
    for (std::size_t i = 0; i < 2; ++i) read_into(list->at(i), options.channels[i]);
  }
  return options;
}

MlpOptions read_mlp(const SpecNode& node) {
  node.only_keys({"kind", "hidden"});
  MlpOptions options;
  if (const auto hidden = node.find("hidden"))
    options.hidden = read_counts<std::uint32_t>(*hidden, "widths");
  return options;
}

ModelOptions read_model(const SpecNode& node) {
  const bool named = node.json().is_string();
  if (!named && !node.json().is_object())
    node.refuse("quadratic, softmax, mlp, cnn, or an object with such a \"kind\" and its options");
  const auto kind = named ? node : node.need("kind");
  const Json nothing = Json::object();
  const SpecNode no_options(nothing);
  const auto& options = named ? no_options : node;
  switch (kind.choice({"quadratic", "softmax", "mlp", "cnn"})) {
    case 0:
      return read_quadratic(options);
    case 1:
      options.only_keys({"kind"});
      return SoftmaxOptions{};
    case 2:
      return read_mlp(options);
    default:
      return read_cnn(options);
  }
}

// `hidden` beside the model, as a short form of {"kind": "mlp", "hidden": ...}.
void read_hidden(const SpecNode& training, ModelOptions& model) {
  const auto hidden = training.find("hidden");
  if (!hidden) return;
  auto* mlp = std::get_if<MlpOptions>(&model);
  if (mlp == nullptr) hidden->complain("only \"mlp\" has hidden layers to choose");
  const auto options = training.need("model");
  if (options.json().is_object() && options.find("hidden"))
    hidden->complain("stands in the model too; allowed: once");
  mlp->hidden = read_counts<std::uint32_t>(*hidden, "widths");
}

SyntheticOptions read_synthetic(const SpecNode& node) {
  node.only_keys({"side", "classes", "training_samples", "test_samples", "teacher_hidden",
                  "label_noise", "seed"});
  SyntheticOptions options;
  read_into(node.find("side"), options.side);
  read_into(node.find("classes"), options.classes);
  read_into(node.find("training_samples"), options.training_samples);
  read_into(node.find("test_samples"), options.test_samples);
  read_into(node.find("teacher_hidden"), options.teacher_hidden);
  read_into(node.find("label_noise"), options.label_noise);
  read_into(node.find("seed"), options.seed);
  return options;
}

IdxFiles read_idx_files(const SpecNode& node, const SpecFiles& files) {
  node.only_keys({"training_images", "training_labels", "test_images", "test_labels"});
  return {.training_images = files.path_of(node.need("training_images")),
          .training_labels = files.path_of(node.need("training_labels")),
          .test_images = files.path_of(node.need("test_images")),
          .test_labels = files.path_of(node.need("test_labels"))};
}

DataOptions read_named_data(const SpecNode& node) {
  switch (node.choice({"fashion-mnist", "synthetic", "cifar10"})) {
    case 0:
      return FashionMnist{};
    case 1:
      return SyntheticOptions{};
    default:
      node.complain(
          "cifar10 is not where it could be guessed; allowed: {\"cifar10\": FOLDER}, "
          "with data_batch_1.bin to data_batch_5.bin and test_batch.bin in it");
  }
}

DataOptions read_data(const SpecNode& node, const SpecFiles& files) {
  if (node.json().is_string()) return read_named_data(node);
  if (!node.json().is_object())
    node.refuse(
        "fashion-mnist, synthetic, {\"cifar10\": FOLDER}, {\"fashion-mnist\": FOLDER}, "
        "{\"synthetic\": options} or {\"idx\": files}");
  node.only_keys({"fashion-mnist", "synthetic", "cifar10", "idx"});
  if (node.json().size() != 1) node.refuse("one of fashion-mnist, synthetic, cifar10, idx");
  if (const auto folder = node.find("fashion-mnist")) return FashionMnist{files.path_of(*folder)};
  if (const auto folder = node.find("cifar10")) return Cifar10{files.path_of(*folder)};
  if (const auto options = node.find("synthetic")) return read_synthetic(*options);
  return read_idx_files(node.need("idx"), files);
}

Schedule read_schedule(const SpecNode& node) {
  node.only_keys({"warm_up_samples", "milestones", "decay"});
  Schedule schedule;
  read_into(node.find("warm_up_samples"), schedule.warm_up_samples);
  read_into(node.find("decay"), schedule.decay);
  if (const auto list = node.find("milestones"))
    schedule.milestones = read_counts<std::uint64_t>(*list, "samples, ascending");
  return schedule;
}

ShardOptions read_shards(const SpecNode& node) {
  if (node.json().is_object()) {
    node.only_keys({"dirichlet"});
    return DirichletShards{read_number(node.need("dirichlet"))};
  }
  if (!node.json().is_string()) node.refuse("iid, shared, or {\"dirichlet\": alpha}");
  if (node.choice({"iid", "shared"}) == 0) return IidShards{};
  return SharedSampler{};
}

TrainingSpec read_spec(const SpecNode& node, const SpecFiles& files) {
  node.only_keys({"model", "hidden", "data", "batch", "learning_rate", "momentum", "weight_decay",
                  "schedule", "shards"});
  TrainingSpec spec;
  spec.model = read_model(node.need("model"));
  read_hidden(node, spec.model);
  if (const auto data = node.find("data")) spec.data = read_data(*data, files);
  read_into(node.find("batch"), spec.batch);
  read_into(node.find("learning_rate"), spec.sgd.learning_rate);
  read_into(node.find("momentum"), spec.sgd.momentum);
  read_into(node.find("weight_decay"), spec.sgd.weight_decay);
  if (const auto schedule = node.find("schedule")) spec.sgd.schedule = read_schedule(*schedule);
  if (const auto shards = node.find("shards")) spec.shards = read_shards(*shards);
  return spec;
}

// The place in the spec of a value that training/ names by a pointer of its own.
std::string place_of(const SpecNode& node, const std::string& where) {
  const auto step = where.substr(1, where.find('/', 1) - 1);
  const auto model = node.need("model");
  if (model.json().is_object() && model.json().contains(step)) return model.pointer() + where;
  const auto data = node.find("data");
  if (data && data->json().is_object() && step == "data")
    return data->pointer() + "/synthetic" + where.substr(std::string("/data").size());
  return node.pointer() + where;
}

template <typename Do>
void with_places(const SpecNode& node, Do action) {
  try {
    action();
  } catch (const InputError& error) {
    throw InputError(place_of(node, error.where()), error.complaint());
  }
}

void refuse_data_of_quadratic(const SpecNode& node) {
  for (const auto key : {"data", "shards"})
    if (const auto found = node.find(key))
      found->complain("a quadratic needs no data; allowed: without this key");
}

}  // namespace

CellTraining read_training(const SpecNode& node, std::uint32_t workers, SpecFiles& files) {
  auto plan = std::make_shared<TrainingPlan>();
  auto& spec = plan->training;
  spec = read_spec(node, files);
  with_places(node, [&] { check_training(spec); });
  CellTraining training;
  if (std::holds_alternative<QuadraticOptions>(spec.model)) {
    refuse_data_of_quadratic(node);
    plan->dataset = std::make_shared<const Dataset>();
  } else {
    const auto data = files.data(node.need("data"), spec.data);
    plan->dataset = data.samples;
    training.data_fingerprint = data.fingerprint;
    with_places(node, [&] { check_shards(spec.shards, data.samples->training.size(), workers); });
  }
  with_places(node, [&] {
    training.parameters =
        make_model<float>(spec.model, plan->dataset->shape, plan->dataset->classes)->parameters();
  });
  training.plan = std::move(plan);
  return training;
}

}  // namespace cohort
