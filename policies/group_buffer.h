// The group buffer: one FIFO of groups per worker ([SEMANTICS 2]); for `random` and `smart`.
//
// Creating a group appends the same record to every member's FIFO in one go, so all FIFOs agree on
// one global creation order: that is what makes deadlock impossible. A group starts when it is the
// head for, and all, its members are ready; its record leaves the FIFOs at done. A group of one
// releases its owner at its head without a synchronisation. Groups that one event completes start
// in creation order. Not a policy: it never creates a group by itself.
//
// Flat pools of 40-byte rows of four seats (one seat per member of a buffered group) and of 16-byte
// groups, both reused: no allocation once warm. Most groups fit into one row, that is a cache line
// or two.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "policies/policy.h"
#include "policies/sync_table.h"

namespace cohort {

class GroupBuffer {
 public:
  // Room for `seats` memberships is reserved at once; more are taken as needed.
  explicit GroupBuffer(std::uint32_t workers, std::size_t seats = 0);

  // `members`: at least one, each once, none removed, in the order in which the start names them;
  // weights are 1/g. Throws ContractError when a member was removed.
  void create(std::span<const WorkerId> members);

  // `worker` is ready and its FIFO is not empty (ContractError): starts its head, or releases it,
  // if that is now due.
  void ready(WorkerId worker, Actions& out);
  // Releases the members and takes the record away. Throws ContractError on a synchronisation that
  // is not live.
  void done(SyncId sync, Actions& out);
  // Offers the survivors again, at the same head and under a new id.
  void failed(SyncId sync, Actions& out);
  // The worker left or was lost: shrinks every group that it is in; those that this completes start
  // now, but a live one waits for its done or failed.
  void remove(WorkerId worker, Actions& out);

  // As in policies/policy.h.
  void expect(WorkerId worker, unsigned step) const;
  void expect_end(SyncId sync, unsigned step) const;

  [[nodiscard]] bool empty(WorkerId worker) const {
    return queues_[index(worker)].head >= kRemoved;
  }
  [[nodiscard]] bool present(WorkerId worker) const {
    return queues_[index(worker)].head != kRemoved;
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  static constexpr std::uint32_t kRemoved = 0xfffffffe;  // head of a worker that left or was lost

  struct Queue {
    std::uint32_t head = kNone;  // seats
    std::uint32_t tail : 31 = 0;
    std::uint32_t ready : 1 = 0;
  };
  // Four places for members of one group; seat i is place i % 4 of row i / 4.
  struct Row {
    static constexpr std::uint32_t kSeats = 4;
    static constexpr WorkerId kNobody{kNone};

    std::uint32_t group = 0;
    std::uint32_t next = kNone;  // of the group; or next free row
    std::array<WorkerId, kSeats> worker{};
    std::array<std::uint32_t, kSeats> behind{};  // the seat behind it in its worker's FIFO
  };
  struct Group {
    std::uint32_t first_row = kNone;  // or next free group
    std::uint32_t size = 0;
    std::uint32_t ready = 0;  // members for which it is the head and that are ready
    bool live = false;
  };

  [[nodiscard]] Row& row_of(std::uint32_t seat) { return rows_[seat / Row::kSeats]; }
  // Calls visit(row, place) for each member, in the order of its start.
  template <typename Visit>
  void for_each_seat(std::uint32_t group, Visit&& visit);
  void expect_row(std::uint32_t row) const;
  [[nodiscard]] std::uint32_t add_row(std::uint32_t group, std::uint32_t last);
  [[nodiscard]] std::uint32_t take_group();
  [[nodiscard, gnu::noinline]] std::uint32_t new_group();
  [[nodiscard, gnu::noinline]] std::uint32_t new_row();
  [[nodiscard]] std::uint32_t end_of(SyncId sync);
  void start_if_complete(std::uint32_t group, Actions& out) {
    if (groups_[group].ready == groups_[group].size) complete(group, out);
  }
  void complete(std::uint32_t group, Actions& out);
  void start(std::uint32_t group, Actions& out);
  void release_members(std::uint32_t group, Actions& out);
  void withdraw(std::uint32_t seat, bool counted_ready, Actions& out);
  void free_group(std::uint32_t group);

  std::vector<Queue> queues_;
  std::vector<Row> rows_;
  std::vector<Group> groups_;
  std::uint32_t free_row_ = kNone;
  std::uint32_t free_group_ = kNone;
  SyncTable<std::uint32_t> live_;  // group of each live synchronisation
  std::uint64_t next_sync_ = 0;
};

}  // namespace cohort
