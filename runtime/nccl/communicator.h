// One NCCL communicator that never blocks its caller: made, used, finalised and aborted by calls
// that return at once, its state polled by settled().
//
// Life: in progress (being made) -> stands -> in progress (finalised) -> gone; from everywhere to
// aborted, after an error or by abort(). Aborting touches this member alone: the others see an
// error, or hang until they abort too.
#pragma once

#include <nccl.h>

#include <span>
#include <string>
#include <vector>

#include "runtime/nccl/gpu.h"

namespace cohort {

class Communicator {
 public:
  // Begins to make it, together with the other `ranks` and nobody else; gpu.site().rank is among
  // them (ContractError otherwise). `rendezvous`: as drawn by draw_rendezvous() at one of them.
  // `gpu` outlives this.
  Communicator(const Gpu& gpu, std::string name, std::span<const std::uint32_t> ranks,
               std::span<const std::uint8_t> rendezvous);
  ~Communicator();  // aborts what is not finalised
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  [[nodiscard]] static std::vector<std::uint8_t> draw_rendezvous(const Gpu& gpu);

  // Whether nothing is in progress: it stands, the last launch is queued, or the finalising is
  // over. Aborts and throws SyncFailure on an asynchronous error, and when it was aborted before.
  [[nodiscard]] bool settled();
  // Begins to leave: what is queued is finished first. To be followed by settled() until true.
  void finalize();
  void abort() noexcept;

  // Throws SyncFailure when aborted.
  [[nodiscard]] ncclComm_t handle() const;
  // "communicator 7 of ranks 0, 2, 5"
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::vector<std::uint32_t>& ranks() const { return ranks_; }
  // Of a rank of the job among `ranks`. Throws ContractError.
  [[nodiscard]] int position(std::uint32_t rank) const;

 private:
  const Gpu& gpu_;
  std::vector<std::uint32_t> ranks_;
  std::string name_;
  ncclComm_t handle_ = nullptr;
  bool finalized_ = false;
};

}  // namespace cohort
