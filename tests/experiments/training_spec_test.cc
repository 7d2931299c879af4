// `workload.training`, `workload.model`, `measure` and `stop.loss`: what they may say, what they
// may not, and what is left out of them.
#include <doctest/doctest.h>

#include "experiments/named_models.h"
#include "experiments/read_cell.h"
#include "experiments/resolved.h"
#include "policies/errors.h"
#include "tests/experiments/base_spec.h"
#include "tests/training/image_files.h"

namespace cohort {
namespace {

using testing::cell_of;
using testing::TemporaryDirectory;
using testing::training_spec;
using testing::WrongValue;

Json changed(const std::string& pointer, const std::string& value) {
  auto document = training_spec();
  document[Json::json_pointer(pointer)] = Json::parse(value);
  return document;
}

std::string refusal_of_training(const Json& document,
                                const std::filesystem::path& directory = ".") {
  try {
    static_cast<void>(cell_of(document, directory));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

void check_refused(std::span<const WrongValue> cases) {
  for (const auto& wrong : cases) {
    const auto message = refusal_of_training(changed(wrong.pointer, wrong.value));
    CAPTURE(wrong.pointer);
    CAPTURE(wrong.value);
    CAPTURE(message);
    CHECK(message.starts_with(wrong.place));
    CHECK(message.find(wrong.words) != std::string::npos);
  }
}

TEST_CASE("training spec: every wrong model is refused with its pointer and what is allowed") {
  const WrongValue cases[] = {
      {"/workload/training/model", R"("sofmax")",
       "/workload/training/model: ", "nearest: \"softmax\""},
      {"/workload/training/model", "3", "/workload/training/model: ", "quadratic, softmax"},
      {"/workload/training/model", R"({"kind": "resnet"})",
       "/workload/training/model/kind: ", "allowed: quadratic, softmax, mlp, cnn"},
      {"/workload/training/model", R"({"kind": "mlp", "hiden": [3]})",
       "/workload/training/model/hiden: ", "nearest: \"hidden\""},
      {"/workload/training/model", R"({"kind": "mlp", "hidden": [3, 0]})",
       "/workload/training/model/hidden/1: ", "found 0; allowed: 1 to"},
      {"/workload/training/model", R"({"kind": "cnn", "kernel": 4})",
       "/workload/training/model/kernel: ", "an odd number"},
      {"/workload/training/model", R"({"kind": "cnn", "channels": [8]})",
       "/workload/training/model/channels: ", "two numbers of channels"},
      {"/workload/training/hidden", "[8]", "/workload/training/hidden: ", "only \"mlp\""},
      {"/workload/training/hidden", "8", "/workload/training/hidden: ", "only \"mlp\""},
      {"/workload/training", R"({"model": {"kind": "mlp", "hidden": [3]}, "hidden": [4]})",
       "/workload/training/hidden: ", "stands in the model too"},
      {"/workload/training", R"({"model": "mlp", "hidden": [4, 70000]})",
       "/workload/training/hidden/1: ", "1 to 65536"},
      {"/workload/training", R"({"model": {"kind": "quadratic", "condition_number": 0.5}})",
       "/workload/training/model/condition_number: ", "at least 1"},
      {"/workload/training", R"({"model": "quadratic", "data": "synthetic"})",
       "/workload/training/data: ", "needs no data"},
  };
  check_refused(cases);
}

TEST_CASE("training spec: every wrong value of the optimiser is refused") {
  const WrongValue cases[] = {
      {"/workload/training/batchs", "8", "/workload/training/batchs: ", "nearest: \"batch\""},
      {"/workload/training/batch", "0", "/workload/training/batch: ", "1 to"},
      {"/workload/training/batch", "1.5", "/workload/training/batch: ", "whole number"},
      {"/workload/training/learning_rate", "0", "/workload/training/learning_rate: ", "above 0"},
      {"/workload/training/learning_rate", R"("fast")",
       "/workload/training/learning_rate: ", "a number"},
      {"/workload/training/momentum", "1", "/workload/training/momentum: ", "below 1"},
      {"/workload/training/momentum", "-0.1", "/workload/training/momentum: ", "below 1"},
      {"/workload/training/weight_decay", "-1", "/workload/training/weight_decay: ", "at least 0"},
      {"/workload/training/schedule", R"({"milestones": [200, 100]})",
       "/workload/training/schedule/milestones/1: ", "more than 200"},
      {"/workload/training/schedule", R"({"decay": 0})",
       "/workload/training/schedule/decay: ", "above 0"},
  };
  check_refused(cases);
}

TEST_CASE("training spec: every wrong choice of data or shards is refused") {
  const WrongValue cases[] = {
      {"/workload/training/data", R"("fashion-mnst")",
       "/workload/training/data: ", "nearest: \"fashion-mnist\""},
      {"/workload/training/data", R"("cifar10")", "/workload/training/data: ", "FOLDER"},
      {"/workload/training/data", R"({"synthetic": {}, "cifar10": "x"})",
       "/workload/training/data: ", "one of"},
      {"/workload/training/data", R"({"synthetic": {"side": 0}})",
       "/workload/training/data/synthetic/side: ", "1 to 256"},
      {"/workload/training/data", R"({"synthetic": {"label_noise": 1}})",
       "/workload/training/data/synthetic/label_noise: ", "below 1"},
      {"/workload/training/data", R"({"cifar10": "nowhere"})",
       "/workload/training/data: ", "data_batch_1.bin"},
      {"/workload/training/data", R"({"idx": {"training_images": "a"}})",
       "/workload/training/data/idx: ", "\"training_labels\" is missing"},
      {"/workload/training", R"({"model": "softmax"})",
       "/workload/training: ", "\"data\" is missing"},
      {"/workload/training/shards", R"("idd")", "/workload/training/shards: ", "nearest: \"iid\""},
      {"/workload/training/shards", R"({"dirichlet": 0})",
       "/workload/training/shards/dirichlet: ", "above 0"},
      {"/workload/training/data", R"({"synthetic": {"training_samples": 3}})",
       "/workload/training/shards: ", "3 samples for 4 workers"},
      {"/workload/training", R"({"model": "cnn", "data": {"synthetic": {"side": 3}}})",
       "/workload/training/model: ", "at least 4 x 4"},
  };
  check_refused(cases);
}

TEST_CASE("training spec: every wrong measure is refused") {
  const WrongValue cases[] = {
      {"/measure", R"({"target": 1})", "/measure/target: ", "nearest: \"target_loss\""},
      {"/measure", R"({"target_loss": 0})", "/measure/target_loss: ", "a loss above 0"},
      {"/measure", R"({"target_loss": -1})", "/measure/target_loss: ", "a loss above 0"},
      {"/stop/loss", "0", "/stop/loss: ", "a loss above 0"},
      {"/measure", R"({"every": 0})", "/measure/every: ", "from 1"},
      {"/measure", R"({"every": "5"})", "/measure/every: ", "unit"},
      {"/measure", R"({"every": true})", "/measure/every: ", "worker-steps, or a time"},
      {"/measure", R"({"samples": 0})", "/measure/samples: ", "from 1"},
      {"/measure", R"({"replicas": 1})", "/measure/replicas: ", "true or false"},
      {"/measure", R"({"tune": {}})", "/measure/tune: ", "found 1 candidates"},
      {"/measure", R"({"tune": {"learning_rate": [0.1, 0]}})",
       "/measure/tune/learning_rate/1: ", "above 0"},
      {"/measure", R"({"tune": {"learning_rate": [0.1, 0.1]}})",
       "/measure/tune/learning_rate/1: ", "each number once"},
      {"/measure", R"({"tune": {"momentum": [0, 1]}})", "/measure/tune/momentum/1: ", "below 1"},
      {"/measure", R"({"tune": {"momentum": [0, 0.9], "budget": 3}})",
       "/measure/tune/budget: ", "from 4"},
  };
  check_refused(cases);
}

TEST_CASE("training spec: a tuning without a budget needs a stop rule in steps") {
  auto document = changed("/measure", R"({"tune": {"momentum": [0, 0.9]}})");
  document["stop"] = {{"seconds", "1s"}};
  CHECK(refusal_of_training(document).starts_with("/measure/tune: the key \"budget\" is missing"));
  document["stop"] = Json::parse(R"({"steps_per_worker": 50, "total_steps": 120})");
  CHECK(cell_of(document).training.tune->budget == 120);
}

TEST_CASE("training spec: the payload is that of the parameters unless the spec says otherwise") {
  const auto softmax = 4.0 * (64 * 10 + 10);
  CHECK(cell_of(training_spec()).workload.payload == softmax);
  CHECK(cell_of(changed("/workload/payload", R"("60MB")")).workload.payload == 60e6);
  const auto named = cell_of(changed("/workload/model", R"("vgg16-cifar10")"));
  CHECK(named.workload.payload == 4.0 * 14'982'474);
  CHECK(named.training.parameters == 650);
}

TEST_CASE("training spec: the target is the loss of the stop rule unless it is given") {
  auto document = changed("/stop/loss", "0.5");
  CHECK(cell_of(document).training.plan->measure.target_loss == 0.5);
  document["measure"] = {{"target_loss", 0.75}};
  CHECK(cell_of(document).training.plan->measure.target_loss == 0.75);
  CHECK(cell_of(document).stop.loss == 0.5);
}

TEST_CASE("training spec: every key arrives where it is read") {
  auto document = training_spec();
  document["workload"]["training"] = Json::parse(R"({
    "model": "mlp", "hidden": [16, 8], "data": {"synthetic": {"side": 4, "classes": 3}},
    "batch": 4, "learning_rate": 0.2, "momentum": 0.9, "weight_decay": 0.01,
    "schedule": {"warm_up_samples": 10, "milestones": [20, 30], "decay": 0.5},
    "shards": {"dirichlet": 0.3}})");
  document["measure"] =
      Json::parse(R"({"target_loss": 0.4, "every": "2s", "samples": 100, "replicas": true})");
  const auto cell = cell_of(document);
  const auto& [training, dataset, measure] = *cell.training.plan;
  CHECK(std::get<MlpOptions>(training.model).hidden == std::vector<std::uint32_t>{16, 8});
  CHECK(std::get<SyntheticOptions>(training.data).side == 4);
  CHECK(dataset->classes == 3);
  CHECK(training.batch == 4);
  CHECK(training.sgd.learning_rate == 0.2);
  CHECK(training.sgd.momentum == 0.9);
  CHECK(training.sgd.weight_decay == 0.01);
  CHECK(training.sgd.schedule.warm_up_samples == 10);
  CHECK(training.sgd.schedule.milestones == std::vector<std::uint64_t>{20, 30});
  CHECK(training.sgd.schedule.decay == 0.5);
  CHECK(std::get<DirichletShards>(training.shards).alpha == 0.3);
  CHECK(measure.target_loss == 0.4);
  CHECK(std::get<Time>(measure.every) == std::chrono::seconds(2));
  CHECK(measure.samples == 100);
  CHECK(measure.replicas);
}

TEST_CASE("training spec: a quadratic needs no data") {
  const auto cell = cell_of(
      changed("/workload/training", R"({"model": {"kind": "quadratic", "dimensions": 12}})"));
  CHECK(cell.training.parameters == 12);
  CHECK(cell.workload.payload == 48);
}

TEST_CASE("training spec: cells share the samples that they train on") {
  SpecFiles files(".");
  const auto one = read_cell(training_spec(), files);
  const auto other = read_cell(changed("/workload/training/learning_rate", "0.3"), files);
  CHECK(one.training.plan->dataset == other.training.plan->dataset);
  const auto third = read_cell(
      changed("/workload/training/data", R"({"synthetic": {"training_samples": 99}})"), files);
  CHECK(third.training.plan->dataset != one.training.plan->dataset);
}

// IDX files of seven images for training and four for tests, named in a spec.
struct IdxSpec {
  TemporaryDirectory directory{};
  Json document = training_spec();

  IdxSpec() {
    document["workload"]["training"]["data"] = Json::object();
    write("training_images", test::idx_images(7));
    write("training_labels", test::idx_labels(7));
    write("test_images", test::idx_images(4));
    write("test_labels", test::idx_labels(4));
  }
  void write(const std::string& key, const std::string& bytes) {
    directory.write(key, bytes);
    document["workload"]["training"]["data"]["idx"][key] = key;
  }
  [[nodiscard]] std::string refusal_of_training() const {
    return cohort::refusal_of_training(document, directory.path());
  }
};

TEST_CASE("training spec: files of data are named relative to the spec") {
  const IdxSpec spec;
  CHECK(spec.refusal_of_training() == "");
  CHECK(cell_of(spec.document, spec.directory.path()).training.parameters == 3 * (6 + 1));
}

TEST_CASE("training spec: damaged data is refused with the pointer, the file and the byte") {
  const auto says = [](const IdxSpec& spec, const char* file, const char* words) {
    const auto message = spec.refusal_of_training();
    CAPTURE(message);
    CHECK(message.starts_with("/workload/training/data: "));
    CHECK(message.find(file) != std::string::npos);
    CHECK(message.find(words) != std::string::npos);
  };
  IdxSpec missing;
  missing.document["workload"]["training"]["data"]["idx"]["test_labels"] = "nowhere";
  says(missing, "nowhere", "no such file");
  IdxSpec truncated;
  truncated.write("training_images", test::idx_images(7).substr(0, 40));
  says(truncated, "training_images", "byte");
  IdxSpec swapped;
  swapped.write("training_labels", test::idx_images(7));
  says(swapped, "training_labels", "magic number");
  IdxSpec fewer;
  fewer.write("training_labels", test::idx_labels(6));
  says(fewer, "training_labels", "6 labels for the 7 images");
  IdxSpec strange;
  strange.write("test_labels", test::idx_labels(4, 4));
  says(strange, "test_labels", "found label 3");
  IdxSpec damaged;
  auto packed = test::gzipped(test::idx_images(7));
  packed[packed.size() / 2] = static_cast<char>(packed[packed.size() / 2] ^ 1);
  damaged.write("training_images", packed);
  says(damaged, "training_images", "");
}

TEST_CASE("training spec: a row is known by its data's content, not by its place") {
  const IdxSpec one, same;
  IdxSpec other;
  auto images = test::idx_images(7);
  images.back() = 99;
  other.write("training_images", images);
  const auto resolved = [](const IdxSpec& spec) {
    return resolved_json(cell_of(spec.document, spec.directory.path())).dump();
  };
  CHECK(resolved(one) == resolved(same));
  CHECK(resolved(one) != resolved(other));
}

TEST_CASE("named models: a model and a GPU give payload and step time") {
  auto document = testing::base_spec();
  document["workload"] = {{"model", "resnet50-imagenet"}, {"gpu", "v100"}};
  const auto cell = cell_of(document);
  CHECK(cell.workload.payload == 4.0 * 25'557'032);
  CHECK(cell.workload.compute == std::chrono::microseconds(305'177));
  document["workload"]["compute"] = "20ms";
  document["workload"]["payload"] = "1MB";
  CHECK(cell_of(document).workload.compute == std::chrono::milliseconds(20));
  CHECK(cell_of(document).workload.payload == 1e6);
}

TEST_CASE("named models: a step time that nobody published is asked for") {
  auto document = testing::base_spec();
  document["workload"] = {{"model", "vgg16-cifar10"}};
  CHECK(refusal_of_training(document).starts_with("/workload: the key \"compute\" is missing"));
  document["workload"]["gpu"] = "v100";
  CHECK(refusal_of_training(document).starts_with("/workload/gpu: no step time of vgg16-cifar10"));
  document["workload"] = {{"model", "resnet50-imagenet"}};
  CHECK(refusal_of_training(document).find("gtx-1080-ti") != std::string::npos);
  document["workload"]["gpu"] = "v10";
  CHECK(refusal_of_training(document).find("nearest: \"v100\"") != std::string::npos);
}

TEST_CASE("named models: each says where its numbers come from") {
  for (const auto& model : named_models()) {
    CAPTURE(model.name);
    CHECK(model.parameters > 1'000'000);
    CHECK_FALSE(model.source.empty());
    for (const auto& step : model.steps) {
      CHECK_FALSE(step.source.empty());
      CHECK(step.batch > 0);
      CHECK(step.time > Time{0});
    }
  }
}

}  // namespace
}  // namespace cohort
