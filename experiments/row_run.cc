#include "experiments/row_run.h"

#include "experiments/learning_text.h"
#include "experiments/tuning.h"
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

RowExtras extras_of(const RowScenario& row) {
  auto extras = extras_of(row.scenario);
  extras.tuning = row.tuning.get();
  return extras;
}

FinishedRow failed_row(const RowScenario& row, const std::string& error) {
  return {failed_row_json(row.scenario, error, {.tuning = row.tuning.get()})
              .dump(-1, ' ', false, OrderedJson::error_handler_t::replace),
          true};
}

}  // namespace

ResultRow simulate_until(const Scenario& scenario, const std::atomic<bool>* stop,
                         const SimulateOptions& options) {
  auto watched = options;
  static const std::atomic<bool> kNever = false;
  StopWatch watch(stop != nullptr ? *stop : kNever, options.log);
  watched.log = &watch;
  return simulate(scenario, watched);
}

FinishedRow run_row(const RowScenario& row, const std::atomic<bool>* stop,
                    const SimulateOptions& options) {
  if (row.tuning && !row.tuning->best) return failed_row(row, why_nothing(*row.tuning));
  try {
    const auto result = simulate_until(row.scenario, stop, options);
    return {row_json(result, extras_of(row)).dump(), false};
  } catch (const ContractError& error) {
    return failed_row(row, error.what());
  } catch (const InputError& error) {
    return failed_row(row, error.what());
  }
}

}  // namespace cohort
