#include "experiments/row_run.h"

#include "policies/errors.h"

namespace cohort {
namespace {

// Looks up at every event whether the user wants to stop; passes the event on.
class StopWatch final : public ActionLog {
 public:
  StopWatch(const std::atomic<bool>& stop, ActionLog* next) : stop_(stop), next_(next) {}
  void record(const Event& event, const Actions& actions) override {
    if (stop_.load(std::memory_order_relaxed)) throw Interrupted{};
    if (next_ != nullptr) next_->record(event, actions);
  }

 private:
  const std::atomic<bool>& stop_;
  ActionLog* next_;
};

FinishedRow failed_row(const Scenario& scenario, const std::string& error) {
  return {
      failed_row_json(scenario, error).dump(-1, ' ', false, OrderedJson::error_handler_t::replace),
      true};
}

}  // namespace

FinishedRow run_row(const Scenario& scenario, const std::atomic<bool>* stop,
                    const SimulateOptions& options) {
  try {
    auto watched = options;
    static const std::atomic<bool> kNever = false;
    StopWatch watch(stop != nullptr ? *stop : kNever, options.log);
    watched.log = &watch;
    return {row_json(simulate(scenario, watched)).dump(), false};
  } catch (const ContractError& error) {
    return failed_row(scenario, error.what());
  } catch (const InputError& error) {
    return failed_row(scenario, error.what());
  }
}

}  // namespace cohort
