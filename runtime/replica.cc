#include "runtime/replica.h"

#include <algorithm>
#include <span>

#include "policies/random.h"

namespace cohort {
namespace {

constexpr std::size_t kDrawnChunk = 1 << 16;  // entries that come from one stream

// Entries first .. first + count of all, uniform on [-1, 1).
void draw_initial(std::uint64_t seed, std::size_t first, std::span<float> out) {
  std::size_t at = first / kDrawnChunk * kDrawnChunk;
  while (at < first + out.size()) {
    Stream stream(seed, Purpose::InitialParameters, static_cast<std::uint32_t>(at / kDrawnChunk),
                  0);
    const auto end = std::min(at + kDrawnChunk, first + out.size());
    for (; at < end; ++at) {
      const auto value = static_cast<float>(stream.next_u32() >> 8) * 0x1.0p-23F - 1;
      if (at >= first) out[at - first] = value;
    }
  }
}

std::pair<std::size_t, std::size_t> held(const message::Prepare& prepare) {
  if (prepare.member < prepare.workers) return {0, prepare.entries};
  const auto servers = static_cast<std::uint32_t>(prepare.ranks.size()) - prepare.workers;
  return Replica::shard(prepare.entries, servers, prepare.member - prepare.workers);
}

}  // namespace

Replica::Replica(const message::Prepare& prepare, VectorUnit& unit)
    : prepare_(prepare), unit_(unit) {
  const auto [first, count] = held(prepare);
  parameters = Buffer(unit, count);
  if (!prepare.training) {
    std::vector<float> initial(count);
    draw_initial(prepare.seed, first, initial);
    unit.write(initial, parameters.entries());
    if (is_server()) optimiser = make_adding_optimiser(prepare, unit, count);
  }
  if (!is_server() && (prepare.update != ServerUpdate::None || averages_gradients(prepare)))
    gradient = Buffer(unit, count);
  if (!prepare.publish) return;
  for (auto& buffer : published) buffer = Buffer(unit, count);
}

std::pair<std::size_t, std::size_t> Replica::shard(std::size_t entries, std::uint32_t servers,
                                                   std::uint32_t shard) {
  const auto part = entries / servers;
  const auto longer = entries % servers;  // the first shards hold one entry more
  const auto first = shard * part + std::min<std::size_t>(shard, longer);
  return {first, part + (shard < longer ? 1 : 0)};
}

const float* Replica::hold() {
  held_ = true;
  return parameters.entries();
}

void Replica::change() {
  ++changes_;
  if (!std::exchange(held_, false)) return;
  if (held_parameters_.count() == 0) held_parameters_ = Buffer(unit_, parameters.count());
  unit_.copy(parameters.entries(), held_parameters_.entries(), parameters.count());
  std::swap(parameters, held_parameters_);
}

Buffer Replica::borrow(std::size_t count) {
  const auto fits = [count](const Buffer& buffer) { return buffer.count() == count; };
  const auto found = std::find_if(spare_.begin(), spare_.end(), fits);
  if (found == spare_.end()) return {unit_, count};
  std::swap(*found, spare_.back());
  Buffer buffer = std::move(spare_.back());
  spare_.pop_back();
  return buffer;
}

void Replica::give_back(Buffer buffer) { spare_.push_back(std::move(buffer)); }

void Replica::retire(Buffer buffer) { retired_.push_back(std::move(buffer)); }

}  // namespace cohort
