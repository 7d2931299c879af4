#include "cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "cli/calibrate.h"
#include "cli/compare.h"
#include "cli/doctor.h"
#include "cli/exit_codes.h"
#include "cli/plot.h"
#include "cli/policies.h"
#include "cli/replay.h"
#include "cli/run.h"
#include "cli/simulate.h"
#include "cli/sweep.h"
#include "cli/trace.h"
#include "experiments/launched_rank.h"
#include "experiments/spec_node.h"
#include "experiments/version.h"
#include "policies/errors.h"

namespace cohort {
namespace {

const CLI::Validator kNamed(
    [](const std::string& name) {
      return name.empty() ? std::string("is empty; allowed: the name of a file or directory") : "";
    },
    "");

// An option whose values are names, each of which stands for the enumerator of its place.
template <typename Enumerator>
void add_choice(CLI::App& command, const char* option, std::optional<Enumerator>& value,
                std::vector<std::string_view> names, const char* what) {
  const auto read = [option, &value, names = std::move(names)](const std::string& found) {
    const auto at = std::ranges::find(names, found);
    if (at == names.end()) throw InputError(option, unknown_name("value", found, names));
    value = static_cast<Enumerator>(at - names.begin());
  };
  command.add_option_function<std::string>(option, read, what);
}

// Each add_COMMAND declares a command that sets `exit_code` when it ran.

void add_spec_and_sets(CLI::App& command, SpecArguments& spec) {
  command.add_option("spec", spec.spec, "the spec: a JSON file, comments allowed")->required();
  command
      .add_option("--set", spec.sets,
                  "POINTER=VALUE, such as /workload/compute=50ms; may be repeated")
      ->allow_extra_args(false);
}

void add_spec(CLI::App& command, SpecArguments& spec) {
  constexpr unsigned kMostJobs = 1024;
  spec.jobs = launched_rank() ? 1 : std::max(1U, std::thread::hardware_concurrency());
  add_spec_and_sets(command, spec);
  command
      .add_option("--jobs,-j", spec.jobs,
                  "threads; default: one per CPU; one at each rank of a launcher")
      ->check(CLI::Range(1U, kMostJobs));
}

void add_simulate(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand(
      "simulate", "one scenario: every policy and seed of a spec, its sweep left aside");
  auto arguments = std::make_shared<SimulateArguments>();
  add_spec(*command, arguments->spec);
  command->add_flag("--json", arguments->json, "print {\"runs\": [...]} instead of a table");
  command->add_option("--out", arguments->out, "directory for results, manifest and event log")
      ->check(kNamed);
  command->add_flag("--timeline", arguments->timeline,
                    "write timeline.json (Chrome/Perfetto) to --out");
  command->callback([arguments, &exit_code] { exit_code = simulate_spec(*arguments); });
}

void add_sweep(CLI::App& app, int& exit_code) {
  auto* command =
      app.add_subcommand("sweep", "every cell of a spec's sweep, policy and seed; resumable");
  auto arguments = std::make_shared<SweepArguments>();
  add_spec(*command, arguments->spec);
  command->add_option("--out", arguments->out, "directory of results: new, or to resume")
      ->required()
      ->check(kNamed);
  command->callback([arguments, &exit_code] { exit_code = sweep_spec(*arguments); });
}

void add_run(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand(
      "run", "every cell of a spec for real, under mpirun or on ranks of this machine; resumable");
  auto arguments = std::make_shared<RunArguments>();
  add_spec_and_sets(*command, arguments->spec);
  add_choice(*command, "--backend", arguments->backend, {"mpi", "nccl"},
             "mpi (CPUs) or nccl (GPUs); default: the spec's");
  command->add_option("--ranks", arguments->ranks, "start so many ranks on this machine")
      ->check(CLI::Range(1U, 4096U));
  command->add_option("--out", arguments->out, "directory of results: new, or to resume")
      ->check(kNamed);
  command->add_flag("--json", arguments->json, "print {\"runs\": [...]} instead of a table");
  command->add_flag("--verify", arguments->verify, "compare every mean with the exact one");
  add_choice(*command, "--on-loss", arguments->on_loss, {"fail", "continue"},
             "of a rank: fail or continue; default: the spec's");
  command->add_flag("--share-gpus", arguments->share_gpus, "several ranks on one GPU, as a test");
  command->add_flag("--timeline", arguments->timeline,
                    "write timelines (Chrome/Perfetto) to --out");
  command->callback([arguments, &exit_code] { exit_code = run_spec(*arguments); });
}

// Not listed: what `run --ranks` starts.
void add_rank(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("rank", "")->group("");
  auto arguments = std::make_shared<LocalRankArguments>();
  add_spec_and_sets(*command, arguments->spec);
  command->add_flag("--share-gpus", arguments->share_gpus);
  command->callback([arguments, &exit_code] { exit_code = run_local_rank(*arguments); });
}

void add_replay(CLI::App& app, int& exit_code) {
  auto* command =
      app.add_subcommand("replay", "a recorded event log to a fresh policy: identical actions?");
  auto path = std::make_shared<std::string>();
  command->add_option("path", *path, "directory of results, or an events.jsonl")
      ->required()
      ->check(kNamed);
  command->callback([path, &exit_code] { exit_code = replay_log(*path); });
}

void add_compare(CLI::App& app, int& exit_code) {
  auto* command =
      app.add_subcommand("compare", "predicted against measured, per policy and per phase");
  auto arguments = std::make_shared<CompareArguments>();
  command->add_option("sim", arguments->simulated, "directory of simulate or sweep")->required();
  command->add_option("real", arguments->real, "directory of run, of the same cells")->required();
  command->add_flag("--json", arguments->json, "print JSON");
  command->callback([arguments, &exit_code] { exit_code = compare(*arguments); });
}

void add_calibrate(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand(
      "calibrate",
      "parts of a spec from files of measurements, or links measured here, under mpirun");
  auto arguments = std::make_shared<CalibrateArguments>();
  auto* files = command->add_option(
      "files", arguments->files,
      "logs of nccl-tests or of a training, traces of PyTorch's profiler (JSON), what nvidia-smi "
      "topo -m prints, hostfiles of Open MPI; told apart by what stands in them");
  command
      ->add_flag("--measure", arguments->measure,
                 "mpirun -np N cohort calibrate --measure: time collectives among the ranks")
      ->excludes(files);
  command->add_flag("--json", arguments->json, "print JSON");
  command->callback([arguments, &exit_code] { exit_code = calibrate(*arguments); });
}

void add_trace(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("trace", "recorded compute times: convert, summarise, fit");
  command->require_subcommand(1);
  auto arguments = std::make_shared<TraceArguments>();
  const auto add = [&](const char* name, const char* what, int (*run)(const TraceArguments&)) {
    auto* verb = command->add_subcommand(name, what);
    verb->add_option("files", arguments->files,
                     "CSV: worker,step,seconds or a straggler study's; or traces of PyTorch's "
                     "profiler (JSON), one per rank")
        ->required();
    verb->callback([arguments, run, &exit_code] { exit_code = run(*arguments); });
    return verb;
  };
  add("import", "renumber a recording and write it as worker,step,seconds", import_trace)
      ->add_option("--out", arguments->out, "the trace to write")
      ->required()
      ->check(kNamed);
  add("show", "per worker: median, ratio to the median worker, spread", show_trace);
  add("fit", "a straggler model for a spec, as far as the recording shows one", fit_and_print);
}

void add_plot(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("plot", "the figures of directories of results");
  auto arguments = std::make_shared<PlotArguments>();
  command->add_option("directories", arguments->directories, "directories of results")->required();
  command
      ->add_option("--out", arguments->out,
                   "directory for the figures; default: beside the results")
      ->check(kNamed);
  command->add_option("--format", arguments->format,
                      "formats separated by commas, of png, svg, pdf; default: png,svg");
  command->callback([arguments, &exit_code] { exit_code = plot(*arguments); });
}

void add_policies(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand(
      "policies", "what policies there are, with every option, default and source");
  auto arguments = std::make_shared<PoliciesArguments>();
  command->add_option("name", arguments->name, "one policy; default: all");
  command->add_flag("--json", arguments->json, "print JSON");
  auto* mixing =
      command->add_flag("--mixing", arguments->mixing, "print mixing matrices and rates");
  command->add_option("--workers", arguments->workers, "for --mixing; default 16")
      ->needs(mixing)
      ->check(CLI::Range(1U, 512U));
  command->add_option("--per-node", arguments->per_node, "for --mixing; default 4")
      ->needs(mixing)
      ->check(CLI::Range(1U, 512U));
  command->callback([arguments, &exit_code] { exit_code = list_policies(*arguments); });
}

void add_doctor(CLI::App& app, int& exit_code) {
  auto* command =
      app.add_subcommand("doctor", "what this machine can do, and what to install for the rest");
  command->callback([&exit_code] { exit_code = examine_machine(); });
}

bool is_listed(const CLI::App* command) { return !command->get_group().empty(); }

// What the library says of wrong arguments; of a misspelt command or option, the nearest name.
std::string complaint(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  const auto extras = app.remaining(true);
  std::vector<std::string> known;
  const bool option = !extras.empty() && extras.front().starts_with("--");
  if (option) {
    for (const auto* each : command->get_options())
      for (const auto& name : each->get_lnames()) known.push_back("--" + name);
  } else {
    for (const auto* each : command->get_subcommands(is_listed)) known.push_back(each->get_name());
  }
  if (extras.empty() || known.empty()) return fmt::format("{} (see cohort --help)", error.what());
  const std::vector<std::string_view> names(known.begin(), known.end());
  return unknown_name(option ? "option" : "command", extras.front(), names);
}

}  // namespace

int run_command_line(int argc, char** argv) {
  CLI::App app("Group-scheduling policies for data-parallel training, simulated and real.",
               "cohort");
  app.set_version_flag("--version", "cohort " + version());
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 done; 1 some cells failed; 2 wrong input; 3 the environment failed; 4 a bug; "
      "130 interrupted.");
  int exit_code = kDone;
  add_simulate(app, exit_code);
  add_sweep(app, exit_code);
  add_run(app, exit_code);
  add_rank(app, exit_code);
  add_replay(app, exit_code);
  add_compare(app, exit_code);
  add_calibrate(app, exit_code);
  add_trace(app, exit_code);
  add_plot(app, exit_code);
  add_policies(app, exit_code);
  add_doctor(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    throw InputError("", complaint(app, error));
  }
  return exit_code;
}

}  // namespace cohort
