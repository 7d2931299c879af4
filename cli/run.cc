#include "cli/run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>
#include <thread>

#include "cli/error_report.h"
#include "cli/exit_codes.h"
#include "cli/interrupt.h"
#include "cli/program.h"
#include "cli/run_director.h"
#include "experiments/experiment.h"
#include "experiments/launched_rank.h"
#include "experiments/this_host.h"
#include "policies/errors.h"
#include "runtime/local_ranks.h"
#include "runtime/mpi_job.h"
#include "runtime/nccl_module.h"
#include "runtime/rank.h"

namespace cohort {
namespace {

std::string own_path() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

std::string hex(const Secret& secret) {
  std::string text;
  for (const auto byte : secret) text += fmt::format("{:02x}", byte);
  return text;
}

Secret secret_of(const std::string& text) {
  Secret secret{};
  for (std::size_t i = 0; i < secret.size() && 2 * i + 2 <= text.size(); ++i)
    std::from_chars(text.data() + 2 * i, text.data() + 2 * i + 2, secret[i], 16);
  return secret;
}

std::uint32_t local_rank(const std::vector<std::string>& hosts, std::uint32_t rank) {
  return static_cast<std::uint32_t>(std::count(hosts.begin(), hosts.begin() + rank, hosts[rank]));
}

// What rank 0 tells the others before anything else: "end CODE", or "serve BACKEND ADDRESS SECRET".
struct Orders {
  std::optional<int> end;
  BackendKind backend = BackendKind::Mpi;
  RankOptions rank;

  static Orders parse(const std::string& text) {
    Orders orders;
    std::istringstream words(text);
    std::string verb, backend, secret;
    words >> verb;
    if (verb == "end") {
      words >> orders.end.emplace();
    } else {
      words >> backend >> orders.rank.server >> secret;
      orders.backend = backend == "nccl" ? BackendKind::Nccl : BackendKind::Mpi;
      orders.rank.secret = secret_of(secret);
    }
    return orders;
  }
};

// Takes part in a job until it is over. None: it ended well; else the exit code to end with at
// once, since peers may be dead. What nobody else can say is said here.
std::optional<int> take_part(const RankOptions& options, Backend& backend) {
  try {
    serve_as_rank(options, backend);
    return std::nullopt;
  } catch (const JobFailed& failure) {
    const std::string_view why = failure.what();
    if (why == kOverWithoutLost) return kDone;
    return stop_requested() || why == kJobInterrupted ? kInterrupted : kEnvironmentFailed;
  } catch (...) {
    const int exit_code = report_current_error();
    return stop_requested() ? kInterrupted : exit_code;
  }
}

// What was read before, or the attempt that says what is wrong.
std::shared_ptr<const Experiment> read_spec(const SpecArguments& arguments,
                                            std::shared_ptr<const Experiment> read) {
  if (read != nullptr) return read;
  return std::make_shared<Experiment>(arguments.spec, arguments.sets);
}

// One process of an MPI job.
class JobMember {
 public:
  // `experiment`: what this rank has read; null where it could not.
  JobMember(const RunArguments& arguments, MpiJob& job,
            std::shared_ptr<const Experiment> experiment)
      : arguments_(arguments), job_(job), experiment_(std::move(experiment)), hosts_(job.hosts()) {}

  int run() { return job_.rank() == 0 ? lead() : follow(); }

 private:
  int lead() {
    std::unique_ptr<RunDirector> director;
    Orders orders;
    try {
      director = prepare();
      orders = Orders::parse(job_.broadcast(opening(*director)));
    } catch (...) {
      // First the message: once another rank has ended, a launcher may end this one.
      const int exit_code = report_current_error();
      static_cast<void>(job_.broadcast(fmt::format("end {}", exit_code)));
      return exit_code;
    }
    if (orders.end) return *orders.end;
    return direct(*director, orders);
  }
  [[nodiscard]] std::unique_ptr<RunDirector> prepare() const {
    if (arguments_.ranks && *arguments_.ranks != job_.size())
      throw InputError("--ranks",
                       fmt::format("found {} beside a launcher that started {}; allowed: "
                                   "one of the two",
                                   *arguments_.ranks, job_.size()));
    return std::make_unique<RunDirector>(arguments_, read_spec(arguments_.spec, experiment_),
                                         hosts_);
  }
  static std::string opening(RunDirector& director) {
    if (director.finished()) return fmt::format("end {}", director.direct());
    director.start_server();
    return fmt::format("serve {} {} {}", name_of(director.backend()), director.server().address(),
                       hex(director.server().secret()));
  }

  int direct(RunDirector& director, const Orders& orders) {
    auto& own = backend(orders);
    int exit_code = kDone;
    std::thread directing([&] {
      try {
        exit_code = director.direct();
      } catch (...) {
        exit_code = report_current_error();
      }
    });
    // MPI cannot be left in order once a peer is dead.
    const auto failed = take_part(as_rank(orders), own);
    directing.join();
    if (failed) MpiJob::quit(exit_code);
    std::fflush(stdout);  // nothing that happens from now on takes the results back
    return job_.leave(exit_code);
  }

  int follow() {
    const auto orders = Orders::parse(job_.broadcast(""));
    if (orders.end) return *orders.end;
    if (const auto failed = take_part(as_rank(orders), backend(orders))) MpiJob::quit(*failed);
    return job_.leave(kDone);
  }

  // The job's backend. A rank that cannot have it, such as for want of a GPU, says so and ends.
  Backend& backend(const Orders& orders) {
    if (orders.backend == BackendKind::Mpi) return job_.backend();
    try {
      nccl_ = load_nccl_backend("", {.rank = job_.rank(),
                                     .local_rank = local_rank(hosts_, job_.rank()),
                                     .share_gpus = arguments_.share_gpus});
    } catch (...) {
      MpiJob::quit(report_current_error());
    }
    return *nccl_;
  }

  [[nodiscard]] RankOptions as_rank(const Orders& orders) const {
    auto options = orders.rank;
    options.rank = job_.rank();
    options.plans = [this](std::uint32_t number) {
      return training_plan(*read_spec(arguments_.spec, experiment_), number);
    };
    return options;
  }

  const RunArguments& arguments_;
  MpiJob& job_;
  std::shared_ptr<const Experiment> experiment_;
  std::vector<std::string> hosts_;
  std::unique_ptr<Backend> nccl_;
};

void add_sets(std::vector<std::string>& command, const SpecArguments& arguments) {
  for (const auto& set : arguments.sets) command.insert(command.end(), {"--set", set});
}

int run_on_local_ranks(const RunArguments& arguments,
                       const std::shared_ptr<const Experiment>& experiment) {
  // What no rank could have is said once, and before they start.
  load_nccl_backend("", {.share_gpus = arguments.share_gpus}).reset();
  RunDirector director(arguments, experiment,
                       std::vector<std::string>(*arguments.ranks, host_name()));
  if (director.finished()) return director.direct();
  director.start_server();
  std::vector<std::string> command{own_path(), "rank", arguments.spec.spec};
  add_sets(command, arguments.spec);
  if (arguments.share_gpus) command.emplace_back("--share-gpus");
  LocalRanks ranks(command, *arguments.ranks, director.server().address(),
                   director.server().secret());
  director.ask_while_waiting([&ranks] { return ranks.first_end(); });
  const int exit_code = director.direct();
  // After a failure, whoever has not ended by now is stuck or stopped.
  for (const auto& complaint : ranks.join(std::chrono::seconds(exit_code == kDone ? 5 : 2)))
    if (exit_code == kDone) say(complaint);
  return exit_code;
}

// The command as it was given, for the launcher to start.
std::vector<std::string> own_command(const RunArguments& arguments) {
  std::vector<std::string> command{own_path(), "run", arguments.spec.spec, "--backend", "mpi"};
  add_sets(command, arguments.spec);
  if (!arguments.out.empty()) command.insert(command.end(), {"--out", arguments.out});
  if (arguments.on_loss) command.insert(command.end(), {"--on-loss", name_of(*arguments.on_loss)});
  if (arguments.json) command.emplace_back("--json");
  if (arguments.verify) command.emplace_back("--verify");
  if (arguments.timeline) command.emplace_back("--timeline");
  return command;
}

// Becomes the launcher.
[[noreturn]] void exec_launcher(const RunArguments& arguments) {
  if (!MpiJob::available() || !has_program("mpirun"))
    throw EnvironmentError(
        "the mpi backend needs Open MPI, which this build or machine lacks; apt install "
        "libopenmpi-dev openmpi-bin, then build again");
  std::vector<std::string> command{"mpirun", "-np", std::to_string(*arguments.ranks), "--bind-to",
                                   "none"};
  if (::geteuid() == 0) command.emplace_back("--allow-run-as-root");
  if (*arguments.ranks > std::thread::hardware_concurrency())
    command.emplace_back("--oversubscribe");
  say(fmt::format("starts {} {} run ...", fmt::join(command, " "), own_path()));
  const auto own = own_command(arguments);
  command.insert(command.end(), own.begin(), own.end());
  std::vector<char*> pointers;
  for (auto& word : command) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  std::fflush(stderr);
  for (const int number : {SIGINT, SIGTERM, SIGPIPE, SIGXFSZ}) std::signal(number, SIG_DFL);
  ::execvp(pointers.front(), pointers.data());
  throw EnvironmentError("cannot start mpirun");
}

// Slurm's srun, unless it is told to start MPI's ranks. Exit code; rank 0 says it.
int refuse_launch_without_mpi(const LaunchedRank& rank) {
  if (rank.rank > 0) return kWrongInput;
  return report_error(kWrongInput, fmt::format("run: {} processes were started without MPI; "
                                               "allowed: srun --mpi=pmix, or mpirun",
                                               rank.ranks));
}

int start_ranks(const RunArguments& arguments) {
  const auto experiment = read_spec(arguments.spec, nullptr);
  const auto backend = arguments.backend.value_or(experiment->base().run.backend);
  const auto needed = ranks_needed(*experiment);
  if (!arguments.ranks)
    throw InputError("run", fmt::format("this spec needs {0} ranks, and nothing has started them; "
                                        "allowed: mpirun -np {0} cohort run {1}, or cohort run {1} "
                                        "--ranks {0}",
                                        needed.total(), arguments.spec.spec));
  if (*arguments.ranks != needed.total())
    throw InputError("--ranks",
                     fmt::format("found {}; allowed: {}, for {} workers and {} servers",
                                 *arguments.ranks, needed.total(), needed.workers, needed.servers));
  if (backend == BackendKind::Mpi) exec_launcher(arguments);
  return run_on_local_ranks(arguments, experiment);
}

// Null for a spec that cannot be read: that is rank 0's to complain of.
std::shared_ptr<const Experiment> try_to_read(const SpecArguments& arguments) {
  try {
    return read_spec(arguments, nullptr);
  } catch (const std::exception&) {
    return nullptr;
  }
}

// How long ranks wait for each other.
std::chrono::milliseconds start_limit(const Experiment* experiment) {
  const auto limit =
      experiment != nullptr ? experiment->base().run.start_limit : RunSpec{}.start_limit;
  return std::chrono::ceil<std::chrono::milliseconds>(limit);
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr)
    throw InputError(name, "is not set: `cohort rank` is started by `cohort run --ranks`");
  return value;
}

}  // namespace

bool can_run() { return true; }

bool can_run(BackendKind backend) {
  if (backend == BackendKind::Mpi) return MpiJob::available();
  try {
    return load_nccl_backend("", {}) != nullptr;
  } catch (const EnvironmentError&) {
    return false;
  }
}

int run_spec(const RunArguments& arguments) {
  if (arguments.timeline && arguments.out.empty())
    throw InputError("--timeline", "has nowhere to go; allowed: together with --out DIR");
  if (!MpiJob::launched()) {
    const auto rank = launched_rank();
    return rank ? refuse_launch_without_mpi(*rank) : start_ranks(arguments);
  }
  auto experiment = try_to_read(arguments.spec);
  MpiJob job(start_limit(experiment.get()));
  return JobMember(arguments, job, std::move(experiment)).run();
}

int run_local_rank(const LocalRankArguments& arguments) {
  // Its owner ends it with SIGTERM; Ctrl-C does not reach it.
  std::signal(SIGTERM, SIG_DFL);
  RankOptions options;
  options.server = variable("COHORT_SERVER");
  options.secret = secret_of(variable("COHORT_SECRET"));
  options.rank = static_cast<std::uint32_t>(std::stoul(variable("COHORT_RANK")));
  options.plans = [&arguments](std::uint32_t number) {
    return training_plan(*read_spec(arguments.spec, nullptr), number);
  };
  const auto local = static_cast<std::uint32_t>(std::stoul(variable("COHORT_LOCAL_RANK")));
  const auto backend = load_nccl_backend(
      "", {.rank = options.rank, .local_rank = local, .share_gpus = arguments.share_gpus});
  return take_part(options, *backend).value_or(kDone);
}

}  // namespace cohort
