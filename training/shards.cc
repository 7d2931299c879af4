#include "training/shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <numeric>

#include "policies/errors.h"
#include "policies/random.h"

namespace cohort {
namespace {

using Lists = std::vector<std::vector<std::uint32_t>>;

constexpr std::uint32_t kCut = 3;  // sub-streams of the data order; 0 is the epochs'
constexpr std::uint32_t kShares = 4;

std::vector<std::uint32_t> random_order(std::size_t samples, std::uint64_t seed) {
  std::vector<std::uint32_t> order(samples);
  std::iota(order.begin(), order.end(), 0U);
  Stream(seed, Purpose::DataOrder, 0, 0, kCut).shuffle(std::span(order));
  return order;
}

Lists equal_parts(const std::vector<std::uint32_t>& order, std::uint32_t workers) {
  Lists parts(workers);
  for (std::size_t w = 0; w < workers; ++w) {
    const auto cut = [&](std::size_t part) {
      return order.begin() + static_cast<std::ptrdiff_t>(order.size() * part / workers);
    };
    parts[w].assign(cut(w), cut(w + 1));
  }
  return parts;
}

// Gamma variates, the quantile of one uniform number each; their shares of the sum are Dirichlet.
// Where alpha is so small that all of them vanish, one worker has everything.
std::vector<double> dirichlet(double alpha, std::uint32_t workers, Stream stream) {
  std::vector<double> shares;
  for (std::uint32_t w = 0; w < workers; ++w)
    shares.push_back(boost::math::gamma_p_inv(alpha, stream.uniform()));
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  if (!(sum > 0)) {
    shares[stream.below(workers)] = 1;
    return shares;
  }
  for (auto& share : shares) share /= sum;
  return shares;
}

Lists skewed_parts(const std::vector<std::uint32_t>& order, std::span<const std::uint8_t> labels,
                   double alpha, const ShardSetting& setting) {
  Lists classes(256), parts(setting.workers);
  for (const auto sample : order) classes[labels[sample]].push_back(sample);
  for (std::uint32_t c = 0; c < classes.size(); ++c) {
    if (classes[c].empty()) continue;
    const auto shares =
        dirichlet(alpha, setting.workers, Stream(setting.seed, Purpose::DataOrder, c, 0, kShares));
    double upto = 0;
    auto next = classes[c].begin();
    for (std::uint32_t w = 0; w < setting.workers; ++w) {
      upto += shares[w];
      const auto count = static_cast<double>(classes[c].size());
      const auto end = w + 1 == setting.workers
                           ? classes[c].end()
                           : classes[c].begin() + static_cast<std::ptrdiff_t>(
                                                      std::min(count, std::round(upto * count)));
      parts[w].insert(parts[w].end(), next, end);
      next = end;
    }
  }
  return parts;
}

void fill_up(Lists& parts, std::size_t least) {
  const auto by_size = [](const auto& a, const auto& b) { return a.size() < b.size(); };
  for (auto& part : parts)
    while (part.size() < least) {
      auto& largest = *std::ranges::max_element(parts, by_size);
      const auto taken = std::min(least - part.size(), largest.size() - least);
      part.insert(part.end(), largest.end() - static_cast<std::ptrdiff_t>(taken), largest.end());
      largest.resize(largest.size() - taken);
    }
}

}  // namespace

void check_shards(const ShardOptions& options, std::size_t samples, std::uint32_t workers) {
  const std::size_t least = std::holds_alternative<SharedSampler>(options) ? 1 : workers;
  if (samples < least)
    throw InputError("/shards", fmt::format("found {} samples for {} workers; allowed: at least {}",
                                            samples, workers, least));
}

Shards::Shards(const ShardOptions& options, std::span<const std::uint8_t> labels,
               ShardSetting setting)
    : setting_(setting), whole_(std::holds_alternative<SharedSampler>(options)) {
  check_shards(options, labels.size(), setting.workers);
  samples_ = random_order(labels.size(), setting.seed);
  if (whole_) return;
  auto parts = equal_parts(samples_, setting.workers);
  if (const auto* skew = std::get_if<DirichletShards>(&options)) {
    parts = skewed_parts(samples_, labels, skew->alpha, setting);
    fill_up(parts, std::min<std::size_t>(setting.batch, labels.size() / setting.workers));
  }
  samples_.clear();
  for (const auto& part : parts) {
    first_.push_back(samples_.size());
    samples_.insert(samples_.end(), part.begin(), part.end());
  }
  first_.push_back(samples_.size());
}

std::span<const std::uint32_t> Shards::of(WorkerId worker) const {
  if (whole_) return samples_;
  const auto w = index(worker);
  return std::span(samples_).subspan(first_[w], first_[w + 1] - first_[w]);
}

DataOrder::DataOrder(const Shards& shards, WorkerId worker)
    : shards_(shards),
      worker_(worker),
      order_(shards.of(worker).begin(), shards.of(worker).end()),
      batch_(shards.setting().batch) {
  shuffle_for(0);
}

void DataOrder::shuffle_for(std::uint64_t epoch) {
  epoch_ = epoch;
  std::ranges::copy(shards_.of(worker_), order_.begin());
  Stream(shards_.setting().seed, Purpose::DataOrder, index(worker_), epoch)
      .shuffle(std::span(order_));
}

std::span<const std::uint32_t> DataOrder::batch(std::uint64_t step) {
  for (std::size_t i = 0; i < batch_.size(); ++i) {
    const auto position = step * batch_.size() + i;
    if (position / order_.size() != epoch_) shuffle_for(position / order_.size());
    batch_[i] = order_[position % order_.size()];
  }
  return batch_;
}

}  // namespace cohort
