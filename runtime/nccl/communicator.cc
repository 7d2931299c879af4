#include "runtime/nccl/communicator.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "policies/errors.h"
#include "runtime/transport.h"

namespace cohort {
namespace {

std::string with_ranks(std::string name, std::span<const std::uint32_t> ranks) {
  name += " of ranks ";
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    name += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
  }
  return name;
}

ncclUniqueId unique_id(std::span<const std::uint8_t> rendezvous) {
  ncclUniqueId id{};
  if (rendezvous.size() != sizeof id) {
    throw ContractError("an NCCL rendezvous of " + std::to_string(rendezvous.size()) + " bytes");
  }
  std::memcpy(&id, rendezvous.data(), sizeof id);
  return id;
}

}  // namespace

Communicator::Communicator(const Gpu& gpu, std::string name, std::span<const std::uint32_t> ranks,
                           std::span<const std::uint8_t> rendezvous)
    : gpu_(gpu), ranks_(ranks.begin(), ranks.end()), name_(with_ranks(std::move(name), ranks)) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  const auto size = static_cast<int>(ranks_.size());
  const auto result = ncclCommInitRankConfig(&handle_, size, unique_id(rendezvous),
                                             position(gpu_.site().rank), &config);
  try {
    check_sync(result, "ncclCommInitRankConfig", gpu_.site(), name_);
  } catch (...) {
    abort();
    throw;
  }
}

Communicator::~Communicator() {
  if (finalized_ && handle_ != nullptr) {
    ncclCommDestroy(handle_);
  } else {
    abort();
  }
}

std::vector<std::uint8_t> Communicator::draw_rendezvous(const Gpu& gpu) {
  ncclUniqueId id{};
  check(ncclGetUniqueId(&id), "ncclGetUniqueId", gpu.site());
  std::vector<std::uint8_t> bytes(sizeof id);
  std::memcpy(bytes.data(), &id, sizeof id);
  return bytes;
}

bool Communicator::settled() {
  auto state = ncclSuccess;
  const auto asked = ncclCommGetAsyncError(handle(), &state);
  if (asked == ncclSuccess && state == ncclInProgress) return false;
  try {
    check_sync(asked, "ncclCommGetAsyncError", gpu_.site(), name_);
    check_sync(state, "an operation in progress (NCCL's asynchronous error)", gpu_.site(), name_);
  } catch (...) {
    abort();
    throw;
  }
  return true;
}

void Communicator::finalize() {
  check_sync(ncclCommFinalize(handle()), "ncclCommFinalize", gpu_.site(), name_);
  finalized_ = true;
}

void Communicator::abort() noexcept {
  finalized_ = false;
  if (handle_ != nullptr) ncclCommAbort(std::exchange(handle_, nullptr));
}

ncclComm_t Communicator::handle() const {
  if (handle_ == nullptr) throw SyncFailure(name_ + " was aborted after an earlier failure");
  return handle_;
}

int Communicator::position(std::uint32_t rank) const {
  const auto found = std::find(ranks_.begin(), ranks_.end(), rank);
  if (found == ranks_.end()) {
    throw ContractError("rank " + std::to_string(rank) + " is not in " + name_);
  }
  return static_cast<int>(found - ranks_.begin());
}

}  // namespace cohort
