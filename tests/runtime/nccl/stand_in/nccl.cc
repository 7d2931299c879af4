// TEST DOUBLE of NCCL: see include/nccl.h. On a communicator that does not block, a launch too is
// carried out by the communicator's own thread, after the call has answered ncclInProgress; on one
// that blocks, calls wait for that thread.
#include "nccl.h"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cuda.h"
#include "meeting_place.h"
#include "settings.h"

namespace stand_in {
namespace {

using Work = std::function<void(MeetingPlace&)>;

// What NCCL takes two ranks for that share a GPU: the same host, by NCCL_HOSTID, and device.
std::uint64_t gpu_key() {
  const char* host = std::getenv("NCCL_HOSTID");
  return std::hash<std::string>()(std::string(host == nullptr ? "" : host) + " " +
                                  std::to_string(current_device()));
}

void nap() { std::this_thread::sleep_for(std::chrono::microseconds(50)); }

class State : public std::enable_shared_from_this<State> {
 public:
  State(std::string id, int rank, int ranks, bool blocks) : blocks_(blocks) {
    background_.post([=, this, gpu = gpu_key()] { make(id, rank, ranks, gpu); });
  }

  ncclResult_t result() const { return result_; }
  // What a call answers that has begun something.
  ncclResult_t answer() {
    if (blocks_) background_.drain();
    return result_;
  }

  void abort() {
    abort_ = true;
    background_.drain();
    while (running_ > 0) nap();
  }

  ncclResult_t launch(Work work, Fault fault, cudaStream_t stream) {
    if (result_ != ncclSuccess) return ncclInvalidUsage;
    if (fault == Fault::Error) return ncclSystemError;
    result_ = ncclInProgress;
    ++queued_;
    background_.post([=, this, work = std::move(work)] {
      stream->queue.post([self = shared_from_this(), work, fault] { self->run(work, fault); });
      settle(fault == Fault::Async ? ncclRemoteError : ncclSuccess);
    });
    return blocks_ ? answer() : ncclInProgress;
  }

  ncclResult_t finalize() {
    if (result_ != ncclSuccess) return ncclInvalidUsage;
    result_ = ncclInProgress;
    background_.post([this] {
      attempt([this] {
        while (queued_ > 0 && !abort_) nap();
        place_->leave();
        settle(ncclSuccess);
      });
    });
    return ncclInProgress;
  }

 private:
  void make(const std::string& id, int rank, int ranks, std::uint64_t gpu) {
    attempt([&, this] {
      place_.emplace(id, rank, ranks, abort_);
      place_->meet(gpu);
      std::this_thread::sleep_for(std::chrono::milliseconds(setting("COHORT_STAND_IN_INIT_MS", 0)));
      settle(place_->shares_gpu() ? ncclInvalidUsage : ncclSuccess);
    });
  }

  // On a stream's thread.
  void run(const Work& work, Fault fault) {
    ++running_;
    attempt([&, this] {
      if (fault == Fault::Die) ::kill(::getpid(), SIGKILL);
      while (fault != Fault::None && !abort_) nap();
      if (!abort_) work(*place_);
    });
    --queued_;
    --running_;
  }

  template <class Step>
  void attempt(Step step) {
    try {
      step();
    } catch (const Aborted&) {
    } catch (const std::runtime_error&) {
      result_ = ncclSystemError;
    }
  }

  void settle(ncclResult_t result) {
    auto expected = ncclInProgress;
    result_.compare_exchange_strong(expected, result);
  }

  bool blocks_;
  std::atomic<bool> abort_{false};
  std::atomic<ncclResult_t> result_{ncclInProgress};
  std::atomic<int> queued_{0};
  std::atomic<int> running_{0};
  std::optional<MeetingPlace> place_;
  TaskQueue background_;  // ends before what it uses
};

}  // namespace
}  // namespace stand_in

struct ncclComm {
  std::shared_ptr<stand_in::State> state;
};

namespace stand_in {
namespace {

// Between ncclGroupStart and ncclGroupEnd of this thread: of one communicator and stream.
struct Group {
  bool open = false;
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
  std::vector<Side> sides;
};
thread_local Group group_of_this_thread;

ncclResult_t point_to_point(const char* call, const Side& side, ncclComm_t comm,
                            cudaStream_t stream) {
  auto& group = group_of_this_thread;
  if (!group.open || (group.comm != nullptr && group.comm != comm)) return ncclInvalidUsage;
  if (next_fault(call) != Fault::None) return ncclSystemError;
  group.comm = comm;
  group.stream = stream;
  group.sides.push_back(side);
  return ncclSuccess;
}

}  // namespace
}  // namespace stand_in

using stand_in::Fault;
using stand_in::group_of_this_thread;
using stand_in::MeetingPlace;
using stand_in::next_fault;

const char* ncclGetErrorString(ncclResult_t result) {
  switch (result) {
    case ncclRemoteError:
      return "remote process exited or there was a network error";
    case ncclSystemError:
      return "unhandled system error";
    case ncclInvalidUsage:
      return "invalid usage";
    default:
      return "stand-in error";
  }
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  if (next_fault("ncclGetUniqueId") != Fault::None) return ncclSystemError;
  *id = {};
  const auto place = MeetingPlace::found();
  std::memcpy(id->internal, place.data(), place.size());
  return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank,
                                    ncclConfig_t* config) {
  if (next_fault("ncclCommInitRankConfig") != Fault::None) return ncclSystemError;
  const bool blocks = config->blocking != 0;
  *comm = new ncclComm{std::make_shared<stand_in::State>(id.internal, rank, ranks, blocks)};
  return blocks ? (*comm)->state->answer() : ncclInProgress;
}

ncclResult_t ncclCommFinalize(ncclComm_t comm) { return comm->state->finalize(); }

ncclResult_t ncclCommDestroy(ncclComm_t comm) { return ncclCommAbort(comm); }

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  comm->state->abort();
  delete comm;
  return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  *error = comm->state->result();
  return ncclSuccess;
}

ncclResult_t ncclAllReduce(const void* from, void* to, std::size_t count, ncclDataType_t,
                           ncclRedOp_t, ncclComm_t comm, cudaStream_t stream) {
  auto work = [=](MeetingPlace& place) {
    place.sum(static_cast<const float*>(from), static_cast<float*>(to), count);
  };
  return comm->state->launch(work, next_fault("ncclAllReduce"), stream);
}

ncclResult_t ncclSend(const void* from, std::size_t count, ncclDataType_t, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
  auto* entries = const_cast<float*>(static_cast<const float*>(from));
  return stand_in::point_to_point("ncclSend", {true, peer, entries, count}, comm, stream);
}

ncclResult_t ncclRecv(void* to, std::size_t count, ncclDataType_t, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return stand_in::point_to_point("ncclRecv", {false, peer, static_cast<float*>(to), count}, comm,
                                  stream);
}

ncclResult_t ncclGroupStart() {
  group_of_this_thread = {};
  group_of_this_thread.open = true;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  const auto group = std::exchange(group_of_this_thread, stand_in::Group{});
  if (group.comm == nullptr) return ncclSuccess;
  auto work = [sides = group.sides](MeetingPlace& place) mutable { place.transfer(sides); };
  return group.comm->state->launch(work, next_fault("ncclGroupEnd"), group.stream);
}
