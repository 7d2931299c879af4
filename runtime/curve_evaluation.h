// Brings the copies of all members together once a run with training is over, and evaluates the
// points of its learning curve; afterwards each member knows its part of every point.
//
// Collective among the members that are still there, over the run's own transport:
//   1. How often each has doubled its ticks, and how far it got. What all have is evaluated: the
//      ticks up to the shortest, and the parameters at the end.
//   2. Point by point the model: the mean of the workers' copies, or the servers' shards side by
//      side.
//   3. Each member by itself evaluates its share of these models, and, a worker, its own copy of
//   the
//      last point; of all points where the plan asks for replicas.
// Owned by the rank's sync thread, which polls; no piece of work is longer than one evaluation.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "runtime/member_training.h"
#include "runtime/transport.h"
#include "training/evaluation.h"

namespace cohort {

class CurveEvaluation {
 public:
  struct Context {
    MemberTraining& training;
    Replica& replica;  // nobody changes it any more
    Transport& transport;
    Time now{};  // when the run was over, as this member heard
  };

  // `members`: who takes part, this one among them; with their rendezvous the same at all.
  CurveEvaluation(const Context& context, std::vector<std::uint32_t> members,
                  std::vector<std::uint8_t> rendezvous);
  ~CurveEvaluation();
  CurveEvaluation(const CurveEvaluation&) = delete;
  CurveEvaluation& operator=(const CurveEvaluation&) = delete;

  // One piece of work; whether that was the last. Throws SyncFailure.
  [[nodiscard]] bool poll();
  // Whether there is nothing to do before others have come as far.
  [[nodiscard]] bool waits() const { return waiting_ != nullptr; }
  // Once over.
  [[nodiscard]] const message::Learned& result() const { return learned_; }

 private:
  enum class Stage : std::uint8_t { Connect, Report, Agree, Add, Compare, Evaluate, Over };
  struct Job {  // an evaluation
    std::size_t point = 0;
    bool of_mean = false;
    const float* entries = nullptr;
    Buffer kept{};  // where nobody else keeps them
  };

  [[nodiscard]] std::unique_ptr<Request> advance();
  [[nodiscard]] std::unique_ptr<Request> connect();
  [[nodiscard]] std::unique_ptr<Request> report();
  void agree();
  [[nodiscard]] std::unique_ptr<Request> add();
  void compare();
  void evaluate(const Job& job);
  [[nodiscard]] CurvePart facts() const;
  // Whether the point to be added next is the end, which has no copy.
  [[nodiscard]] bool at_end() const { return learned_.curve.size() == ticks_; }
  [[nodiscard]] const float* own_of(std::size_t point) const;
  [[nodiscard]] const float* given();
  [[nodiscard]] std::vector<float> read(const float* entries) const;

  Context context_;
  std::vector<std::uint32_t> members_;
  std::vector<std::uint8_t> rendezvous_;
  std::size_t place_ = 0;  // of this one among them
  bool servers_ = false;   // hold the model
  bool adds_ = false;      // this one has a part in the model
  Stage stage_ = Stage::Connect;
  std::unique_ptr<Request> waiting_;
  Evaluator<float> evaluator_;
  Buffer reports_;
  Buffer given_;  // a shard in its place, zeros elsewhere
  Buffer mean_;
  std::size_t ticks_ = 0;  // that all have; the end comes behind them
  std::deque<Job> jobs_;
  message::Learned learned_;
};

}  // namespace cohort
