#include "cli/run_director.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "cli/error_report.h"
#include "cli/exit_codes.h"
#include "cli/interrupt.h"
#include "cli/listen_address.h"
#include "cli/row_table.h"
#include "policies/errors.h"
#include "runtime/endpoint.h"
#include "runtime/gpu_sharing.h"

namespace cohort {
namespace {

std::chrono::milliseconds up_to_milliseconds(Time time) {
  return std::chrono::ceil<std::chrono::milliseconds>(time);
}

// Before anything is written: where the group generator shall listen is known on this host alone.
std::shared_ptr<const Experiment> with_address(std::shared_ptr<const Experiment> experiment) {
  const auto& listen = experiment->base().run.listen;
  try {
    if (!listen.empty()) static_cast<void>(endpoint_of(listen));
  } catch (const InputError& error) {
    throw InputError(experiment->file().string() + ": /run/listen", error.complaint());
  }
  return experiment;
}

// Why the job was broken off, unless a sentence on a lost rank has said it.
std::string unsaid(const RealRunReport& report) {
  const auto says_it = [&](const std::string& sentence) {
    return sentence.find(report.broken) != std::string::npos;
  };
  return std::ranges::any_of(report.lost, says_it) ? "" : report.broken;
}

// On a thread of its own, as long as what is returned lives.
std::jthread now_and_then(std::function<void()> call) {
  return std::jthread([call = std::move(call)](const std::stop_token& over) {
    while (!over.stop_requested()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      call();
    }
  });
}

}  // namespace

RunDirector::RunDirector(const RunArguments& arguments,
                         std::shared_ptr<const Experiment> experiment,
                         std::vector<std::string> hosts)
    : arguments_(arguments),
      experiment_(with_address(std::move(experiment))),
      hosts_(std::move(hosts)),
      backend_(arguments.backend.value_or(experiment_->base().run.backend)),
      run_(*experiment_, options()) {}

RealRunOptions RunDirector::options() {
  RealRunOptions options;
  options.hosts = hosts_;
  options.backend = backend_;
  options.on_loss = arguments_.on_loss.value_or(experiment_->base().run.on_loss);
  options.verify = arguments_.verify;
  options.timeline = arguments_.timeline;
  options.stop = &stop_requested();
  options.progress = [this](std::size_t finished, std::size_t total) {
    display_.update(finished, total);
  };
  options.warn = say;
  if (!arguments_.out.empty()) options.out = arguments_.out;
  return options;
}

void RunDirector::start_server() {
  const auto& spec = experiment_->base().run;
  JobServer::Options options;
  options.listen = spec.listen.empty() ? listen_address(hosts_) : spec.listen;
  options.ranks = static_cast<std::uint32_t>(hosts_.size());
  options.start_limit = up_to_milliseconds(spec.start_limit);
  options.log = say;
  server_.emplace(std::move(options));
}

int RunDirector::direct() {
  try {
    const auto report = run_rows();
    // First what was unfinished: once a rank is dead, a launcher may end this process at any time.
    if (const auto why = unsaid(report); !why.empty()) say(why);
    if (report.finished < report.rows) say(unfinished(report));
    end_job(!report.broken.empty() ? report.broken
            : report.stopped       ? kJobInterrupted
            : report.lost.empty()  ? ""
                                   : kOverWithoutLost);
    return conclude(report);
  } catch (const std::exception& error) {
    end_job(error.what());
    if (!stop_requested()) throw;
    say(error.what());
    return kInterrupted;
  }
}

RealRunReport RunDirector::run_rows() {
  if (run_.finished()) return run_.run({});
  const auto ranks = await_ranks();
  if (!arguments_.share_gpus) refuse_shared_gpus(ranks);
  const auto watch = now_and_then([this] {
    if (stop_requested()) server_->interrupt("interrupted");
  });
  return run_.run([this](const RunSetup& setup, const std::vector<std::uint32_t>& members,
                         ActionLog* log) { return server_->run(setup, members, log); });
}

std::vector<RankFacts> RunDirector::await_ranks() {
  const auto watch = now_and_then([this] {
    if (stop_requested()) server_->give_up_waiting("interrupted before all ranks were there");
    const auto why = absence_ ? absence_() : "";
    if (!why.empty()) server_->give_up_waiting(why + " before all ranks were there");
  });
  return server_->await_ranks();
}

void RunDirector::end_job(const std::string& failure) {
  if (server_) server_->end(failure);
}

std::string RunDirector::unfinished(const RealRunReport& report) const {
  auto text = fmt::format("{} with {} of {} rows finished",
                          report.broken.empty() ? "interrupted" : "ended by a loss",
                          report.finished, report.rows);
  if (!arguments_.out.empty()) text += "; the same command resumes in " + arguments_.out;
  return text;
}

int RunDirector::conclude(const RealRunReport& report) const {
  const auto& where = arguments_.out;
  if (report.finished < report.rows)
    return report.broken.empty() ? kInterrupted : kEnvironmentFailed;
  print_rows(report);
  if (!arguments_.out.empty()) {
    say(report.published
            ? fmt::format("{}: {} rows, {} computed now; results.csv, results.jsonl, events.jsonl, "
                          "steps, manifest.json",
                          where, report.rows, report.computed)
            : fmt::format("{}: finished before, nothing to do ({} rows)", where, report.rows));
  }
  if (arguments_.verify)
    say(fmt::format("{} means verified, largest relative error {:.2g}", report.means_verified,
                    report.largest_error));
  if (report.failed > 0)
    say(fmt::format("{} rows failed; their column \"error\" says why", report.failed));
  return report.failed > 0 ? kSomeCellsFailed : kDone;
}

void RunDirector::print_rows(const RealRunReport& report) const {
  std::vector<std::string> all;
  for (const auto& rows : report.cells) all.insert(all.end(), rows.begin(), rows.end());
  if (arguments_.json) return fmt::print("{}", runs_json(all));
  for (std::size_t cell = 0; cell < report.cells.size(); ++cell) {
    const auto settings = experiment_->axes().settings(cell);
    if (!settings.empty()) fmt::print("{}{}\n", cell == 0 ? "" : "\n", shown(settings));
    fmt::print("{}", row_table(report.cells[cell]));
  }
}

}  // namespace cohort
