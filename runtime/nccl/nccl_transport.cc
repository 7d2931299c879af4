#include "runtime/nccl/nccl_transport.h"

#include <thread>

#include "policies/errors.h"

namespace cohort {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::microseconds kNap{200};

// A communicator that is being made.
class Making : public Request {
 public:
  Making(std::shared_ptr<Communicator> communicator, std::chrono::seconds limit)
      : communicator_(std::move(communicator)), limit_(limit), deadline_(Clock::now() + limit) {}
  ~Making() override {
    if (!over_) communicator_->abort();
  }
  bool test() override {
    over_ = over_ || communicator_->settled();
    if (!over_ && Clock::now() > deadline_) give_up();
    return over_;
  }

 private:
  void give_up() {
    communicator_->abort();
    throw SyncFailure(communicator_->name() + " does not stand after " +
                      std::to_string(limit_.count()) + " s");
  }

  std::shared_ptr<Communicator> communicator_;
  std::chrono::seconds limit_;
  Clock::time_point deadline_;
  bool over_ = false;
};

// A communication, from before it is launched: when that fails, the others must not be left waiting
// on this communicator. A launch may itself be in progress for a while: only when it is queued can
// an event be recorded behind it.
class Launch : public Request {
 public:
  Launch(const Gpu& gpu, const GpuStream& stream, std::shared_ptr<Communicator> communicator,
         std::string doing)
      : gpu_(gpu),
        stream_(stream),
        communicator_(std::move(communicator)),
        doing_(std::move(doing)),
        done_(gpu, GpuEvent::Use::Order) {}
  ~Launch() override {
    if (state_ != State::Over) communicator_->abort();
  }

  bool test() override {
    if (state_ == State::Over) return true;
    if (!communicator_->settled()) return false;
    if (state_ == State::Launching) {
      gpu_.use();
      stream_.record(done_);
      state_ = State::Queued;
    }
    if (done_.reached(doing_)) state_ = State::Over;
    return state_ == State::Over;
  }

 private:
  enum class State : std::uint8_t { Launching, Queued, Over };

  const Gpu& gpu_;
  const GpuStream& stream_;
  std::shared_ptr<Communicator> communicator_;
  std::string doing_;
  GpuEvent done_;
  State state_ = State::Launching;
};

// ncclGroupStart ... ncclGroupEnd: the end is reached whatever is thrown between.
class Group {
 public:
  explicit Group(const Site& site) { check(ncclGroupStart(), "ncclGroupStart", site); }
  ~Group() {
    if (open_) ncclGroupEnd();
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  [[nodiscard]] ncclResult_t end() {
    open_ = false;
    return ncclGroupEnd();
  }

 private:
  bool open_ = true;
};

void queue(const Transfer& transfer, const Communicator& communicator, const GpuStream& stream,
           const Site& site, const std::string& doing) {
  const auto peer = communicator.position(transfer.rank);
  if (transfer.way == Transfer::Way::Send) {
    check_sync(ncclSend(transfer.entries, transfer.count, ncclFloat, peer, communicator.handle(),
                        stream.handle()),
               "ncclSend", site, doing);
  } else {
    check_sync(ncclRecv(transfer.entries, transfer.count, ncclFloat, peer, communicator.handle(),
                        stream.handle()),
               "ncclRecv", site, doing);
  }
}

// Whether `communicator` needs no more looking after: it is left, or it failed and is aborted.
bool is_left(Communicator& communicator) {
  try {
    return communicator.settled();
  } catch (const SyncFailure&) {
    return true;
  }
}

}  // namespace

NcclTransport::NcclTransport(const Gpu& gpu, const GpuStream& vectors, Limits limits)
    : gpu_(gpu), vectors_(vectors), limits_(limits), stream_(gpu) {}

NcclTransport::~NcclTransport() {
  for (auto& [id, communicator] : communicators_) leave(std::move(communicator));
  if (all_ != nullptr) leave(std::move(all_));
  while (!leaving_.empty()) {
    drop_those_left();
    std::this_thread::sleep_for(kNap);
  }
}

std::vector<std::uint8_t> NcclTransport::rendezvous() {
  gpu_.use();
  return Communicator::draw_rendezvous(gpu_);
}

void NcclTransport::connect(std::span<const std::uint32_t> ranks,
                            std::span<const std::uint8_t> rendezvous) {
  gpu_.use();
  if (all_ != nullptr) leave(std::move(all_));
  try {
    all_ = std::make_shared<Communicator>(gpu_, "the run's communicator", ranks, rendezvous);
    Making made(all_, limits_.making);
    while (!made.test()) std::this_thread::sleep_for(kNap);
  } catch (const SyncFailure& failure) {
    throw EnvironmentError(failure.what());
  }
  drop_those_left();
}

std::unique_ptr<Request> NcclTransport::create(CommunicatorId id,
                                               std::span<const std::uint32_t> ranks,
                                               std::span<const std::uint8_t> rendezvous) {
  gpu_.use();
  drop_those_left();
  auto name = "communicator " + std::to_string(static_cast<std::uint32_t>(id));
  auto made = std::make_shared<Communicator>(gpu_, std::move(name), ranks, rendezvous);
  if (!communicators_.emplace(id, made).second) throw ContractError(made->name() + " exists");
  return std::make_unique<Making>(std::move(made), limits_.making);
}

void NcclTransport::destroy(CommunicatorId id) {
  gpu_.use();
  drop_those_left();
  const auto found = communicators_.find(id);
  if (found == communicators_.end()) return;
  leave(std::move(found->second));
  communicators_.erase(found);
}

std::unique_ptr<Request> NcclTransport::all_reduce(CommunicatorId id, const float* from, float* to,
                                                   std::size_t count) {
  gpu_.use();
  drop_those_left();
  const auto found = communicators_.find(id);
  if (found == communicators_.end()) {
    throw ContractError("no communicator " + std::to_string(static_cast<std::uint32_t>(id)));
  }
  const auto& communicator = found->second;
  const auto doing = "all-reduce on " + communicator->name();
  stream_.follow(vectors_);
  auto launch = std::make_unique<Launch>(gpu_, stream_, communicator, doing);
  check_sync(
      ncclAllReduce(from, to, count, ncclFloat, ncclSum, communicator->handle(), stream_.handle()),
      "ncclAllReduce", gpu_.site(), doing);
  return launch;
}

std::unique_ptr<Request> NcclTransport::exchange(SyncId sync, std::span<const Transfer> transfers) {
  gpu_.use();
  drop_those_left();
  if (all_ == nullptr) throw ContractError("an exchange before connect()");
  const auto doing =
      "exchange of synchronisation " + std::to_string(index(sync)) + " on " + all_->name();
  stream_.follow(vectors_);
  auto launch = std::make_unique<Launch>(gpu_, stream_, all_, doing);
  Group group(gpu_.site());
  for (const auto& transfer : transfers) queue(transfer, *all_, stream_, gpu_.site(), doing);
  check_sync(group.end(), "ncclGroupEnd", gpu_.site(), doing);
  return launch;
}

bool NcclTransport::crowded() const {
  return std::thread::hardware_concurrency() < 2 * static_cast<unsigned>(gpu_.count());
}

// One that cannot be finalised (aborted, still being made, failed) is aborted as its last owner
// lets go.
void NcclTransport::leave(std::shared_ptr<Communicator> communicator) {
  try {
    communicator->finalize();
    leaving_.push_back({std::move(communicator), Clock::now() + limits_.leaving});
  } catch (const SyncFailure&) {
    communicator->abort();
  }
}

void NcclTransport::drop_those_left() {
  std::erase_if(leaving_, [](Leaving& leaving) {
    if (is_left(*leaving.communicator)) return true;
    if (Clock::now() <= leaving.deadline) return false;
    leaving.communicator->abort();
    return true;
  });
}

}  // namespace cohort
