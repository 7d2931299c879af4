#include "runtime/operation.h"

#include "policies/errors.h"
#include "policies/random.h"
#include "runtime/staged_operation.h"

namespace cohort {
namespace {

constexpr std::size_t kSampled = 16;
constexpr std::size_t kSignChunk = 1 << 16;  // entries whose signs come from one stream

// Streams of step 0 with this purpose are the initial parameters.
Stream signs_of(SyncId sync, std::size_t chunk) {
  return {index(sync), Purpose::InitialParameters, static_cast<std::uint32_t>(chunk), 1};
}

double signed_sum(std::span<const float> entries, SyncId sync) {
  double sum = 0;
  for (std::size_t at = 0; at < entries.size();) {
    Stream stream = signs_of(sync, at / kSignChunk);
    const auto end = std::min(at + kSignChunk, entries.size());
    while (at < end) {
      auto bits = stream.next_u32();
      for (const auto last = std::min(at + 32, end); at < last; ++at, bits >>= 1) {
        sum += (bits & 1U) != 0 ? entries[at] : -entries[at];
      }
    }
  }
  return sum;
}

std::vector<float> sampled(std::span<const float> entries, SyncId sync) {
  std::vector<float> values;
  if (entries.empty()) return values;
  Stream stream(index(sync), Purpose::InitialParameters, 0, 2);
  for (std::size_t i = 0; i < kSampled; ++i) {
    values.push_back(entries[stream.next_u64() % entries.size()]);
  }
  return values;
}

}  // namespace

message::Sample sample(const float* entries, std::size_t count, SyncId sync, VectorUnit& unit) {
  std::vector<float> host(count);
  unit.read(entries, host);
  return {signed_sum(host, sync), sampled(host, sync)};
}

std::unique_ptr<Operation> begin_operation(const message::Start& start,
                                           std::vector<std::uint8_t> rendezvous,
                                           const OperationContext& context) {
  switch (start.kind) {
    case SyncKind::GroupMean:
      return begin_group_mean(start, std::move(rendezvous), context);
    case SyncKind::PairMean:
      return begin_pair_mean(start, context);
    case SyncKind::NeighbourMix:
      return begin_neighbour_mix(start, context);
    case SyncKind::ServerPush:
    case SyncKind::ServerPull:
      return begin_server_exchange(start, context);
  }
  throw ContractError("a synchronisation of no known kind");
}

}  // namespace cohort
