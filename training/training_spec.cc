#include "training/training_spec.h"

#include <fmt/format.h>

#include <cmath>

#include "policies/errors.h"
#include "training/memory_check.h"

namespace cohort {
namespace {

constexpr std::uint32_t kWidest = 1U << 16;
constexpr std::uint32_t kMostLayers = 64;

void require(bool allowed, const std::string& where, auto found, const std::string& range) {
  if (!allowed) throw InputError(where, fmt::format("found {}; allowed: {}", found, range));
}

void require_count(const std::string& where, std::uint32_t found, std::uint32_t least,
                   std::uint32_t most) {
  require(found >= least && found <= most, where, found, fmt::format("{} to {}", least, most));
}

void require_positive(const std::string& where, double found) {
  require(std::isfinite(found) && found > 0, where, found, "a number above 0");
}

void require_not_negative(const std::string& where, double found) {
  require(std::isfinite(found) && found >= 0, where, found, "a number of at least 0");
}

struct CheckModel {
  void operator()(const QuadraticOptions& options) const {
    require_count("/dimensions", options.dimensions, 1, 1U << 20);
    require(std::isfinite(options.condition_number) && options.condition_number >= 1,
            "/condition_number", options.condition_number, "a number of at least 1");
    require_not_negative("/noise_variance", options.noise_variance);
  }
  void operator()(const SoftmaxOptions&) const {}
  void operator()(const MlpOptions& options) const {
    require(options.hidden.size() <= kMostLayers, "/hidden", options.hidden.size(),
            fmt::format("at most {} layers", kMostLayers));
    for (std::size_t i = 0; i < options.hidden.size(); ++i)
      require_count(fmt::format("/hidden/{}", i), options.hidden[i], 1, kWidest);
  }
  void operator()(const CnnOptions& options) const {
    for (std::size_t i = 0; i < options.channels.size(); ++i)
      require_count(fmt::format("/channels/{}", i), options.channels[i], 1, 1024);
    require(options.kernel % 2 == 1 && options.kernel <= 15, "/kernel", options.kernel,
            "an odd number up to 15");
  }
};

struct CheckData {
  void operator()(const SyntheticOptions& options) const {
    require_count("/data/side", options.side, 1, 256);
    require_count("/data/classes", options.classes, 2, 256);
    require_count("/data/training_samples", options.training_samples, 1, kMostSamples);
    require_count("/data/test_samples", options.test_samples, 1, kMostSamples);
    require_count("/data/teacher_hidden", options.teacher_hidden, 0, 4096);
    require(options.label_noise >= 0 && options.label_noise < 1, "/data/label_noise",
            options.label_noise, "a share of at least 0, below 1");
    const double pixels = static_cast<double>(options.side) * options.side;
    const double samples = static_cast<double>(options.training_samples) + options.test_samples;
    require_memory(
        samples * (pixels + 1),
        {.where = "/data", .what = "the samples", .allowed = "fewer samples or a smaller side"});
  }
  void operator()(const auto&) const {}  // files are checked by their readers
};

void check_sgd(const SgdOptions& options) {
  require_positive("/learning_rate", options.learning_rate);
  require(options.momentum >= 0 && options.momentum < 1, "/momentum", options.momentum,
          "a number of at least 0, below 1");
  require_not_negative("/weight_decay", options.weight_decay);
  require_positive("/schedule/decay", options.schedule.decay);
  for (std::size_t i = 1; i < options.schedule.milestones.size(); ++i)
    require(options.schedule.milestones[i] > options.schedule.milestones[i - 1],
            fmt::format("/schedule/milestones/{}", i), options.schedule.milestones[i],
            fmt::format("more than {}, the one before", options.schedule.milestones[i - 1]));
}

}  // namespace

void check_training(const TrainingSpec& spec) {
  std::visit(CheckModel{}, spec.model);
  std::visit(CheckData{}, spec.data);
  require_count("/batch", spec.batch, 1, 1U << 20);
  check_sgd(spec.sgd);
  if (const auto* dirichlet = std::get_if<DirichletShards>(&spec.shards))
    require_positive("/shards/dirichlet", dirichlet->alpha);
}

}  // namespace cohort
