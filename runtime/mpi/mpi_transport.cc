#include "runtime/mpi/mpi_transport.h"

#include <algorithm>
#include <utility>

#include "runtime/mpi/mpi_call.h"

namespace cohort {
namespace {

class MpiRequest : public Request {
 public:
  explicit MpiRequest(const char* call) : call_(call) {}

  // The next request's place; filled by the caller.
  [[nodiscard]] MPI_Request* add() { return &requests_.emplace_back(MPI_REQUEST_NULL); }

  bool test() override {
    int over = 0;
    check_mpi_sync(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &over,
                               MPI_STATUSES_IGNORE),
                   call_);
    return over != 0;
  }

 protected:
  [[nodiscard]] std::vector<MPI_Request>& requests() { return requests_; }
  [[nodiscard]] bool unfinished() const {
    return std::any_of(requests_.begin(), requests_.end(),
                       [](MPI_Request request) { return request != MPI_REQUEST_NULL; });
  }

 private:
  const char* call_;
  std::vector<MPI_Request> requests_;
};

class PointToPoint : public MpiRequest {
 public:
  PointToPoint() : MpiRequest("MPI_Testall of an exchange") {}
  ~PointToPoint() override {
    for (auto& request : requests()) {
      if (request == MPI_REQUEST_NULL) continue;
      MPI_Cancel(&request);
      MPI_Request_free(&request);
    }
  }
};

class Collective : public MpiRequest {
 public:
  explicit Collective(std::shared_ptr<bool> left)
      : MpiRequest("MPI_Testall of an all-reduce"), left_(std::move(left)) {}
  ~Collective() override {
    if (unfinished()) *left_ = true;
  }

 private:
  std::shared_ptr<bool> left_;
};

// Calls `call(first, count)` for pieces of at most `longest` entries.
template <typename Call>
void in_pieces(std::size_t count, std::size_t longest, Call call) {
  for (std::size_t first = 0; first < count; first += longest) {
    call(first, static_cast<int>(std::min(longest, count - first)));
  }
}

// Between the tags of one run and the next; odd, so that no power of two hides it.
constexpr std::uint64_t kTagsApart = 1'000'003;

// A tag for `number`; communications whose numbers are far apart may share one.
int tag_of(std::uint64_t number, int largest) {
  return static_cast<int>(number % (static_cast<std::uint64_t>(largest) + 1));
}

}  // namespace

MpiTransport::MpiTransport(const Options& options)
    : options_(options), collective_left_(std::make_shared<bool>(false)) {
  check_mpi(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check_mpi(MPI_Comm_group(MPI_COMM_WORLD, &world_), "MPI_Comm_group");
  void* bound = nullptr;
  int known = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &known);
  largest_tag_ = known != 0 ? *static_cast<int*>(bound) : 32767;  // what every MPI allows
}

MpiTransport::~MpiTransport() {
  leave_all();
  MPI_Group_free(&world_);
}

void MpiTransport::connect(std::span<const std::uint32_t> ranks, std::span<const std::uint8_t>) {
  leave_all();
  MPI_Comm members = make(ranks, largest_tag_);
  ++connections_;  // ranks that sat out a run have counted fewer
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &connections_, 1, MPI_UINT64_T, MPI_MAX, members),
            "MPI_Allreduce");
  leave(members);
}

std::unique_ptr<Request> MpiTransport::create(CommunicatorId id,
                                              std::span<const std::uint32_t> ranks,
                                              std::span<const std::uint8_t>) {
  const auto made = make(ranks, tag_of(static_cast<std::uint32_t>(id), largest_tag_ - 1));
  if (!communicators_.emplace(id, made).second) {
    throw ContractError("a communicator is made twice");
  }
  return std::make_unique<OverRequest>();
}

void MpiTransport::destroy(CommunicatorId id) {
  const auto found = communicators_.find(id);
  if (found == communicators_.end()) return;
  leave(found->second);
  communicators_.erase(found);
}

std::unique_ptr<Request> MpiTransport::all_reduce(CommunicatorId id, const float* from, float* to,
                                                  std::size_t count) {
  const auto communicator = this->communicator(id);
  const auto input = [&](std::size_t first) {
    return from == to ? MPI_IN_PLACE : static_cast<const void*>(from + first);
  };
  if (!options_.crowded) {
    in_pieces(count, options_.longest_call, [&](std::size_t first, int length) {
      check_mpi(MPI_Allreduce(input(first), to + first, length, MPI_FLOAT, MPI_SUM, communicator),
                "MPI_Allreduce");
    });
    return std::make_unique<OverRequest>();
  }
  auto request = std::make_unique<Collective>(collective_left_);
  in_pieces(count, options_.longest_call, [&](std::size_t first, int length) {
    check_mpi_sync(MPI_Iallreduce(input(first), to + first, length, MPI_FLOAT, MPI_SUM,
                                  communicator, request->add()),
                   "MPI_Iallreduce");
  });
  return request;
}

std::unique_ptr<Request> MpiTransport::exchange(SyncId sync, std::span<const Transfer> transfers) {
  // Not on a communicator of the run: a message that nobody took would spoil the one that MPI puts
  // in the place of one that was left.
  const int tag = tag_of(index(sync) + connections_ * kTagsApart, largest_tag_);
  auto request = std::make_unique<PointToPoint>();
  for (const auto& transfer : transfers) {
    const auto peer = static_cast<int>(transfer.rank);
    in_pieces(transfer.count, options_.longest_call, [&](std::size_t first, int length) {
      float* entries = transfer.entries + first;
      if (transfer.way == Transfer::Way::Send) {
        check_mpi_sync(
            MPI_Isend(entries, length, MPI_FLOAT, peer, tag, MPI_COMM_WORLD, request->add()),
            "MPI_Isend");
      } else {
        check_mpi_sync(
            MPI_Irecv(entries, length, MPI_FLOAT, peer, tag, MPI_COMM_WORLD, request->add()),
            "MPI_Irecv");
      }
    });
  }
  return request;
}

MPI_Comm MpiTransport::communicator(CommunicatorId id) const {
  const auto found = communicators_.find(id);
  if (found == communicators_.end()) {
    throw ContractError("no communicator " + std::to_string(static_cast<std::uint32_t>(id)));
  }
  return found->second;
}

MPI_Comm MpiTransport::make(std::span<const std::uint32_t> ranks, int tag) const {
  const std::vector<int> members(ranks.begin(), ranks.end());
  MPI_Group group = MPI_GROUP_NULL;
  check_mpi(MPI_Group_incl(world_, static_cast<int>(members.size()), members.data(), &group),
            "MPI_Group_incl");
  MPI_Comm made = MPI_COMM_NULL;
  const int code = MPI_Comm_create_group(MPI_COMM_WORLD, group, tag, &made);
  MPI_Group_free(&group);
  check_mpi(code, "MPI_Comm_create_group");
  check_mpi(MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  return made;
}

// With a collective left unfinished MPI may still use any of them.
void MpiTransport::leave(MPI_Comm communicator) const {
  if (!*collective_left_) MPI_Comm_free(&communicator);
}

void MpiTransport::leave_all() {
  for (const auto& [id, communicator] : std::exchange(communicators_, {})) leave(communicator);
}

}  // namespace cohort
