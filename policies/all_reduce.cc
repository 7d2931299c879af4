#include "policies/all_reduce.h"

#include "policies/errors.h"

namespace cohort {
namespace {

class AllReduce final : public Policy {
 public:
  explicit AllReduce(const Topology& topology)
      : status_(topology.workers(), Status::Computing), live_(topology.workers()) {}

  void step(const Event& event, Actions& out) override {
    switch (event.kind) {
      case EventKind::WorkerReady:
        status_[index(event.worker)] = Status::Ready;
        ++ready_;
        break;
      case EventKind::WorkerLeft:
      case EventKind::WorkerLost:
        remove(index(event.worker));
        break;
      case EventKind::SyncDone:
        running_ = false;
        release_all(out);
        return;
      case EventKind::SyncFailed:
        running_ = false;
        break;
      default:
        return;
    }
    if (!running_ && ready_ == live_ && live_ > 0) gather(out);
  }

 private:
  enum class Status : std::uint8_t { Computing, Ready, Gone };

  void remove(std::uint32_t worker) {
    if (status_[worker] == Status::Ready) --ready_;
    status_[worker] = Status::Gone;
    --live_;
  }

  void gather(Actions& out) {
    if (live_ == 1) {
      release_all(out);
      return;
    }
    running_ = true;
    out.start(SyncId{next_sync_++}, SyncKind::GroupMean);
    const double weight = 1.0 / live_;
    for (std::uint32_t w = 0; w < status_.size(); ++w)
      if (status_[w] == Status::Ready) out.add_member(WorkerId{w}, Role::Blocking, weight);
  }

  void release_all(Actions& out) {
    for (std::uint32_t w = 0; w < status_.size(); ++w) {
      if (status_[w] != Status::Ready) continue;
      status_[w] = Status::Computing;
      out.release(WorkerId{w});
    }
    ready_ = 0;
  }

  std::vector<Status> status_;
  std::uint32_t live_;
  std::uint32_t ready_ = 0;
  bool running_ = false;
  std::uint64_t next_sync_ = 0;
};

// Only gradients come while the backward pass still runs.
void settle(const Options& given, Options& resolved) {
  const auto& overlap = resolved.all().at("overlap");
  if (overlap == OptionValue(true) && !given.has("what"))
    resolved.set("what", std::string("gradients"));
}

void check_overlap(const Options& options) {
  if (options.get<std::string>("timing") == "background")
    throw InputError("/overlap",
                     "overlaps a gradient all-reduce with the backward pass and cannot be combined "
                     "with \"timing\": \"background\", which averages models");
  if (options.get<std::string>("what") == "models")
    throw InputError("/what",
                     "found \"models\" beside \"overlap\": true; allowed: \"gradients\", which are "
                     "all that can be sent while the backward pass still runs");
}

void check_gradients(const Options& options) {
  if (options.get<std::string>("timing") == "background")
    throw InputError(
        "/what",
        "found \"gradients\" beside \"timing\": \"background\"; allowed: \"models\", the "
        "mean of which can be added later");
  if (options.get<bool>("average_momentum"))
    throw InputError(
        "/average_momentum",
        "found true, but workers that average gradients have the same velocity anyway; "
        "allowed: false, or true with \"what\": \"models\"");
}

void check_all_reduce(const Options& options, const Topology&) {
  if (options.get<bool>("overlap")) check_overlap(options);
  if (options.get<std::string>("what") == "gradients") check_gradients(options);
}

OptionSpec what_option() {
  return {.name = "what",
          .type = OptionType::Choice,
          .default_value = std::string("models"),
          .choices = {"models", "gradients"},
          .description =
              "with training: what is averaged, models after the local step or gradients, "
              "with which every worker then makes the same step; with overlap: gradients",
          .source = "SEMANTICS 1; [Li 2020]",
          .read_by = ReadBy::Driver};
}

}  // namespace

PolicyEntry all_reduce_entry() {
  return {.name = "all-reduce",
          .where = Where::Local,
          .rule = "One group of everybody, every step.",
          .source = "[Patarasuk 2009]",
          .options = {timing_option(), overlap_option(), what_option(), order_option(),
                      average_momentum_option(), endpoint_bandwidth_option()},
          .settle = settle,
          .make = [](const Options&, const Topology& topology, std::uint64_t)
              -> std::unique_ptr<Policy> { return std::make_unique<AllReduce>(topology); },
          .check = check_all_reduce};
}

}  // namespace cohort
