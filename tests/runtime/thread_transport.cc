#include "tests/runtime/thread_transport.h"

#include <algorithm>
#include <functional>

#include "policies/errors.h"
#include "runtime/emulated_step.h"

namespace cohort {
namespace {

class Until : public Request {
 public:
  explicit Until(std::function<bool()> over) : over_(std::move(over)) {}
  bool test() override { return over_(); }

 private:
  std::function<bool()> over_;
};

std::unique_ptr<Request> until(std::function<bool()> over) {
  return std::make_unique<Until>(std::move(over));
}

}  // namespace

void ThreadFabric::break_all_reduces() {
  const std::scoped_lock lock(mutex_);
  broken_ = true;
}

std::map<ThreadFabric::Communicator, std::vector<std::uint32_t>> ThreadFabric::communicators() {
  const std::scoped_lock lock(mutex_);
  return ranks_;
}

std::vector<std::uint8_t> ThreadTransport::rendezvous() {
  const std::scoped_lock lock(fabric_.mutex_);
  if (!fabric_.options_.rendezvous) return {};
  return {++fabric_.drawn_};
}

void ThreadTransport::connect(std::span<const std::uint32_t>, std::span<const std::uint8_t> bytes) {
  ++run_;
  if (fabric_.options_.rendezvous == bytes.empty()) {
    throw ContractError("connected without the rendezvous of all members");
  }
}

std::unique_ptr<Request> ThreadTransport::create(CommunicatorId id,
                                                 std::span<const std::uint32_t> ranks,
                                                 std::span<const std::uint8_t> rendezvous) {
  const std::scoped_lock lock(fabric_.mutex_);
  const std::vector<std::uint32_t> members(ranks.begin(), ranks.end());
  const std::vector<std::uint8_t> bytes(rendezvous.begin(), rendezvous.end());
  const ThreadFabric::Communicator communicator{run_, id};
  const auto [known, first] = fabric_.ranks_.emplace(communicator, members);
  if (first) fabric_.rendezvous_[communicator] = bytes;
  if (known->second != members) throw ContractError("members disagree about a communicator");
  if (fabric_.rendezvous_[communicator] != bytes)
    throw ContractError("members met at different places");
  if (std::find(members.begin(), members.end(), rank_) == members.end()) {
    throw ContractError("a communicator is made by a rank that is not in it");
  }
  held_[id] = 0;
  fabric_.present_[communicator].insert(rank_);
  return until([this, communicator, size = members.size()] {
    const std::scoped_lock lock(fabric_.mutex_);
    return fabric_.present_[communicator].size() == size;
  });
}

std::unique_ptr<Request> ThreadTransport::all_reduce(CommunicatorId id, const float* from,
                                                     float* to, std::size_t count) {
  const std::scoped_lock lock(fabric_.mutex_);
  if (!held_.contains(id)) throw ContractError("an all-reduce without its communicator");
  const ThreadFabric::Round round{{run_, id}, held_[id]++};
  fabric_.given_[round].emplace(rank_, std::vector<float>(from, from + count));
  return until([this, round, to, size = fabric_.ranks_[round.first].size()] {
    const std::scoped_lock lock(fabric_.mutex_);
    if (fabric_.broken_) throw SyncFailure("a broken fabric");
    const auto& given = fabric_.given_[round];
    if (given.size() < size) return false;
    std::fill_n(to, given.begin()->second.size(), 0.0F);
    for (const auto& [rank, entries] : given) {
      for (std::size_t i = 0; i < entries.size(); ++i) to[i] += entries[i];
    }
    return true;
  });
}

std::unique_ptr<Request> ThreadTransport::exchange(SyncId sync,
                                                   std::span<const Transfer> transfers) {
  const std::scoped_lock lock(fabric_.mutex_);
  std::vector<Transfer> receives;
  for (const auto& transfer : transfers) {
    if (transfer.way == Transfer::Way::Receive) {
      receives.push_back(transfer);
    } else {
      fabric_.sent_.emplace(
          ThreadFabric::Way(run_, rank_, transfer.rank, sync),
          std::vector<float>(transfer.entries, transfer.entries + transfer.count));
    }
  }
  return until([this, sync, receives]() mutable {
    const std::scoped_lock lock(fabric_.mutex_);
    std::erase_if(receives, [&](const Transfer& receive) {
      const auto sent = fabric_.sent_.extract({run_, receive.rank, rank_, sync});
      if (!sent) return false;
      if (sent.mapped().size() != receive.count) throw ContractError("a transfer of two sizes");
      std::copy(sent.mapped().begin(), sent.mapped().end(), receive.entries);
      return true;
    });
    return receives.empty();
  });
}

std::unique_ptr<LocalStep> ThreadBackend::emulated_step() { return make_sleeping_step(); }

}  // namespace cohort
