// How members move parameters: the narrow interface that each backend implements.
//
// Called by a member's sync thread only. Buffers belong to the backend's VectorUnit. Ranks are
// those of the job. Nothing here waits for a peer that was not told to take part: the group
// generator starts a synchronisation only when all who block are there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "runtime/messages.h"

namespace cohort {

// A communication that cannot end well: a dead peer, an error of the library, an abort. The
// synchronisation fails; the member lives on.
class SyncFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Request {
 public:
  virtual ~Request() = default;  // of an unfinished one: cancels, as far as the library allows
  // Whether it is over; makes progress, never waits. Throws SyncFailure.
  [[nodiscard]] virtual bool test() = 0;
};

// Of what was over when the call returned.
class OverRequest final : public Request {
 public:
  bool test() override { return true; }
};

struct Transfer {
  enum class Way : std::uint8_t { Send, Receive };
  Way way = Way::Send;
  std::uint32_t rank = 0;
  float* entries = nullptr;
  std::size_t count = 0;
};

class Transport {
 public:
  virtual ~Transport() = default;

  // Bytes that one member draws and all members of a new communicator must have; empty: none
  // needed.
  [[nodiscard]] virtual std::vector<std::uint8_t> rendezvous() = 0;
  // The point-to-point paths of a run; `rendezvous` from the first of `ranks`.
  virtual void connect(std::span<const std::uint32_t> ranks,
                       std::span<const std::uint8_t> rendezvous) = 0;

  // Makes the communicator of `ranks` (this one among them, the same order at all), together with
  // the others and nobody else. test() of the request is true when it stands.
  [[nodiscard]] virtual std::unique_ptr<Request> create(
      CommunicatorId id, std::span<const std::uint32_t> ranks,
      std::span<const std::uint8_t> rendezvous) = 0;
  virtual void destroy(CommunicatorId id) = 0;  // unknown: nothing

  // The sum over the communicator's members into `to`. `from` keeps its values, also when it fails;
  // or is `to`: in place.
  [[nodiscard]] virtual std::unique_ptr<Request> all_reduce(CommunicatorId id, const float* from,
                                                            float* to, std::size_t count) = 0;
  // Point to point, all at once. `sync` tells transfers of different synchronisations apart.
  [[nodiscard]] virtual std::unique_ptr<Request> exchange(SyncId sync,
                                                          std::span<const Transfer> transfers) = 0;

  // True: synchronisations run one at a time, in the order of their starts, which is the same
  // everywhere (one stream). False: side by side.
  [[nodiscard]] virtual bool ordered() const = 0;

  // Whether a member outlives an all-reduce that fails: then it is not done in place, so that the
  // survivors can be offered the group again with what they had.
  [[nodiscard]] virtual bool outlives_failure() const { return true; }
  // Whether the ranks of some host outnumber its cores: then none of them spins while it waits.
  [[nodiscard]] virtual bool crowded() const { return true; }
};

}  // namespace cohort
