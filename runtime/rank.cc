#include "runtime/rank.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <mutex>
#include <optional>
#include <utility>

#include "runtime/compute_thread.h"
#include "runtime/control_link.h"
#include "runtime/curve_evaluation.h"
#include "runtime/inbox.h"
#include "runtime/live_operations.h"
#include "runtime/patience.h"
#include "runtime/training_optimiser.h"
#include "runtime/training_step.h"
#include "runtime/watchdog.h"

namespace cohort {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

// A message that ends something must be taken within these, or the sync thread is stuck in a call.
constexpr auto kStuckAfterFailure = 3s;
constexpr auto kStuckAfterEnd = 60s;
constexpr auto kDrain = 2s;  // what is under way at a run's regular end may end by itself

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

Time processor_time() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto time = [](const timeval& value) {
    return std::chrono::seconds(value.tv_sec) + std::chrono::microseconds(value.tv_usec);
  };
  return time(used.ru_utime) + time(used.ru_stime);
}

// One run on this rank. Destroyed from the last member to the first: operations before the replica.
struct Run {
  Run(const message::Prepare& prepare, VectorUnit& unit)
      : replica(std::make_unique<Replica>(prepare, unit)) {}

  [[nodiscard]] std::uint32_t number() const { return replica->prepare().run; }

  Time cpu = processor_time();  // when it began
  std::unique_ptr<Replica> replica;
  std::unique_ptr<MemberTraining> training;  // null: steps are emulated
  std::unique_ptr<LiveOperations> live;
  std::unique_ptr<ComputeThread> compute;       // of workers
  std::unique_ptr<CurveEvaluation> evaluation;  // while it is under way
};

class Rank {
 public:
  Rank(const RankOptions& options, Backend& backend)
      : number_(options.rank),
        plans_(options.plans),
        backend_(backend),
        patience_(!backend.transport().crowded()),
        link_(link_options(options)) {
    prctl(PR_SET_TIMERSLACK, 1UL);  // of the calling thread: naps are as long as they say
  }

  ~Rank() { end_run(); }  // before the link, which the compute thread uses
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

  void serve() {
    while (!over_) {
      if (!can_progress()) inbox_.wait();
      for (const auto& letter : inbox_.take()) handle(letter);
      poll();
    }
    link_.close();
  }

 private:
  [[nodiscard]] bool can_progress() const {
    return run_ && (run_->evaluation || run_->live->can_progress());
  }

  ControlLink::Options link_options(const RankOptions& options) {
    return {.server = options.server,
            .hello = {options.secret, options.rank, static_cast<std::uint64_t>(getpid()),
                      host_name(), backend_.device()},
            .connect_limit = options.connect_limit,
            .receive = [this](Message&& message) { receive(std::move(message)); },
            .closed = [this](const std::string& why) { lose_link(why); }};
  }

  // On the control link's thread.
  void lose_link(const std::string& why) {
    const auto text = "the connection to the group generator is lost: " + why;
    watch(text);
    inbox_.fail(std::make_exception_ptr(EnvironmentError(text)));
  }

  // On the control link's thread. A release goes past the sync thread, which may be busy.
  void receive(Message&& message) {
    if (const auto* release = std::get_if<message::Release>(&message)) {
      const std::scoped_lock lock(compute_mutex_);
      if (compute_ != nullptr) compute_->release(*release);
      return;
    }
    const auto ending = ends_what(message);
    if (ending) watch(*ending);
    const auto arrived = std::holds_alternative<message::Start>(message) ? link_.now() : Time{};
    inbox_.put({std::move(message), arrived, ending.has_value()});
  }

  // Why something ends, when this message says so; empty: regularly.
  static std::optional<std::string> ends_what(const Message& message) {
    if (const auto* abort = std::get_if<message::Abort>(&message)) {
      return "a member of synchronisation " + std::to_string(index(abort->sync)) + " was lost";
    }
    if (const auto* run_end = std::get_if<message::RunEnd>(&message)) return run_end->failure;
    if (const auto* job_end = std::get_if<message::JobEnd>(&message)) return job_end->failure;
    return std::nullopt;
  }

  void watch(const std::string& failure) {
    const auto& why = failure.empty() ? std::string("the run is over") : failure;
    const auto text = "cohort: rank " + std::to_string(number_) + ": " + why +
                      ", while this rank was inside a call that did not return";
    watchdog_.arm(failure.empty() ? kStuckAfterEnd : kStuckAfterFailure, [text] { return text; });
  }

  void handle(const Letter& letter) {
    std::visit([this, &letter](const auto& message) { on(message, letter.arrived); },
               letter.message);
    if (letter.watched) watchdog_.disarm();
  }

  void on(const message::Prepare& prepare, Time) {
    end_run();
    auto& transport = backend_.transport();
    auto rendezvous = prepare.rendezvous;
    if (prepare.member == 0) {
      rendezvous = transport.rendezvous();
      link_.send(message::Rendezvous{kAllMembers, rendezvous});
    }
    run_ = std::make_unique<Run>(prepare, backend_.vectors());
    if (prepare.training) begin_training();
    transport.connect(prepare.ranks, rendezvous);
    run_->live = std::make_unique<LiveOperations>(
        *run_->replica, transport, !rendezvous.empty(),
        LiveOperations::Hooks{.now = [this] { return link_.now(); },
                              .send = [this](const Message& message) { link_.send(message); },
                              .await_snapshots = [this] { run_->compute->await_snapshots(); }});
    if (!run_->replica->is_server()) begin_compute();
    link_.send(message::Prepared{prepare.run});
  }

  void begin_training() {
    auto& replica = *run_->replica;
    const auto& prepare = replica.prepare();
    run_->training = std::make_unique<MemberTraining>(plans_(prepare.training->plan), replica);
    if (replica.is_server())
      replica.optimiser = make_training_optimiser(*run_->training, prepare, replica.unit(),
                                                  [this] { return link_.now(); });
  }

  [[nodiscard]] std::unique_ptr<LocalStep> make_step() {
    if (!run_->training) return backend_.emulated_step();
    return make_training_step(*run_->training, *run_->replica,
                              backend_.model(run_->training->plan()),
                              [this] { return link_.now(); });
  }

  void begin_compute() {
    run_->compute = std::make_unique<ComputeThread>(
        *run_->replica, make_step(),
        ComputeThread::Hooks{
            .now = [this] { return link_.now(); },
            .ready = [this](const message::Ready& ready) { link_.send(ready); },
            .diverged = [this](std::uint64_t step) { link_.send(message::Diverged{step}); },
            .failed = [this](std::exception_ptr failure) { inbox_.fail(std::move(failure)); }});
    const std::scoped_lock lock(compute_mutex_);
    compute_ = run_->compute.get();
  }

  void on(const message::Start& start, Time arrived) {
    if (run_) run_->live->start(start, arrived);
  }
  void on(const message::Rendezvous& rendezvous, Time) {
    if (run_) run_->live->meet(rendezvous);
  }
  void on(const message::Drop& drop, Time) {
    if (run_) run_->live->drop(drop.communicator);
  }
  void on(const message::Abort& abort, Time) {
    if (run_) run_->live->abort(abort.sync);
  }
  void on(const message::Evaluate& evaluate, Time) {
    if (!run_ || !run_->training) return;
    const auto now = link_.now();
    auto rendezvous = evaluate.rendezvous;
    if (run_->replica->prepare().member == evaluate.members.front()) {
      rendezvous = backend_.transport().rendezvous();
      link_.send(message::Rendezvous{kAllMembers, rendezvous});
    }
    drain();
    end_compute();
    run_->evaluation = std::make_unique<CurveEvaluation>(
        CurveEvaluation::Context{*run_->training, *run_->replica, backend_.transport(), now},
        evaluate.members, std::move(rendezvous));
  }
  void on(const message::RunEnd& end, Time) {
    const auto began = run_ ? run_->cpu : processor_time();
    if (end.failure.empty()) drain();
    end_run();
    link_.send(message::RunLeft{end.run, processor_time() - began});
  }
  void on(const message::JobEnd& end, Time) {
    end_run();
    over_ = true;
    if (!end.failure.empty()) throw JobFailed(end.failure);
  }
  template <typename Other>
  void on(const Other&, Time) {
    throw EnvironmentError("the group generator sent a message that is not for members");
  }

  void poll() {
    if (!run_) return;
    if (run_->evaluation) return evaluate();
    if (run_->live->poll()) {
      patience_.progressed();
    } else if (run_->live->can_progress()) {
      patience_.wait(inbox_);
    }
  }

  void evaluate() {
    try {
      if (run_->evaluation->poll()) {
        link_.send(run_->evaluation->result());
        run_->evaluation.reset();
      } else if (run_->evaluation->waits()) {
        patience_.wait(inbox_);
      } else {
        patience_.progressed();
      }
    } catch (const SyncFailure& failure) {
      throw EnvironmentError(std::string("while the learning curve was evaluated: ") +
                             failure.what());
    }
  }

  void drain() {
    const auto end = Clock::now() + kDrain;
    while (run_ && run_->live->can_progress() && Clock::now() < end) poll();
  }

  void end_compute() {
    {
      const std::scoped_lock lock(compute_mutex_);
      compute_ = nullptr;
    }
    run_->compute.reset();
  }

  // Leaves the memory that cancelled transfers may still touch allocated until the job's end.
  void end_run() {
    if (!run_) return;
    end_compute();
    run_->evaluation.reset();
    if (run_->live) run_->live->clear();
    if (run_->training) backend_.transport().destroy(kAllMembers);
    if (run_->replica->has_retired()) touched_.push_back(std::move(run_));
    run_.reset();
  }

  std::uint32_t number_;
  decltype(RankOptions::plans) plans_;
  Backend& backend_;
  Patience patience_;
  std::vector<std::unique_ptr<Run>> touched_;
  Watchdog watchdog_;
  Inbox inbox_;
  std::mutex compute_mutex_;
  ComputeThread* compute_ = nullptr;  // of run_; the control link's thread, with the mutex
  std::unique_ptr<Run> run_;
  bool over_ = false;
  ControlLink link_;  // last: its thread uses the others
};

}  // namespace

void serve_as_rank(const RankOptions& options, Backend& backend) {
  Rank rank(options, backend);
  try {
    rank.serve();
  } catch (const JobFailed&) {
    throw;
  } catch (const EnvironmentError& error) {
    throw EnvironmentError("rank " + std::to_string(options.rank) + ": " + error.what());
  }
}

}  // namespace cohort
