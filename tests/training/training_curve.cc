// Trains one worker on a synthetic set and writes a folder from which another program can do the
// same: parameters.f32 (initial, in the order of training/model.h), inputs.f32 and labels.u8 (batch
// by batch), losses.f64 (of each batch, before its update); native byte order.
//
// usage: training_curve softmax|mlp|cnn STEPS RATE FOLDER
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "training/synthetic.h"
#include "training/worker_training.h"

namespace cohort {
namespace {

class Output {
 public:
  Output(const std::filesystem::path& folder, const std::string& name)
      : file_(folder / name, std::ios::binary) {}
  template <typename T>
  void write(std::span<const T> numbers) {
    file_.write(reinterpret_cast<const char*>(numbers.data()),
                static_cast<std::streamsize>(numbers.size_bytes()));
  }

 private:
  std::ofstream file_;
};

void write_curve(const ModelOptions& model, std::uint64_t steps, double rate,
                 const std::filesystem::path& folder) {
  const auto set = make_synthetic({.side = 12, .teacher_hidden = 16});
  const TrainingTask task(
      {.model = model, .sgd = {.learning_rate = rate, .momentum = 0.9, .weight_decay = 1e-3}}, set,
      1, 1);
  Trainer<float> trainer(task);
  std::vector<float> x(trainer.parameters());
  trainer.initialise(x);
  Output(folder, "parameters.f32").write<float>(x);
  WorkerTraining<float> worker(task, WorkerId{0}, x.size());
  DataOrder order(*task.shards(), WorkerId{0});
  Output inputs(folder, "inputs.f32"), labels(folder, "labels.u8"), losses(folder, "losses.f64");
  Batch<float> batch;
  for (std::uint64_t step = 0; step < steps; ++step) {
    gather(set, set.training, order.batch(step), batch);
    inputs.write<float>(batch.inputs);
    labels.write<std::uint8_t>(batch.labels);
    const double loss = worker.compute(trainer, x, step);
    losses.write<double>({&loss, 1});
    worker.apply(x, step * task.spec().batch);
  }
}

}  // namespace
}  // namespace cohort

int main(int count, char** arguments) {
  const std::map<std::string, cohort::ModelOptions> models{{"softmax", cohort::SoftmaxOptions{}},
                                                           {"mlp", cohort::MlpOptions{{48, 24}}},
                                                           {"cnn", cohort::CnnOptions{{6, 12}, 5}}};
  if (count != 5 || !models.contains(arguments[1])) {
    std::fputs("usage: training_curve softmax|mlp|cnn STEPS RATE FOLDER\n", stderr);
    return 2;
  }
  cohort::write_curve(models.at(arguments[1]), std::strtoull(arguments[2], nullptr, 10),
                      std::strtod(arguments[3], nullptr), arguments[4]);
  return 0;
}
