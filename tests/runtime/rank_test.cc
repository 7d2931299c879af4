#include "runtime/rank.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <future>
#include <set>
#include <thread>

#include "policies/errors.h"
#include "runtime/inbox.h"
#include "runtime/job_server.h"
#include "runtime/watchdog.h"
#include "tests/runtime/thread_job.h"

namespace cohort {
namespace {

using namespace std::chrono_literals;

RunSetup setup_of(const std::string& policy, const Options& given) {
  RunSetup setup;
  setup.policy = find_policy(policy);
  setup.options = resolve(*setup.policy, given);
  setup.topology = Topology(2, 2, servers_needed(*setup.policy, setup.options));
  setup.base.assign(4, 500us);
  setup.stragglers = {{Lognormal{0.3}}};
  setup.entries = 10'000;
  setup.steps_per_worker = 10;
  setup.verify = true;
  return setup;
}

void check_complete(const RunRecord& record, const RunSetup& setup) {
  CHECK(record.failure == "");
  CHECK(record.steps.size() == 4 * *setup.steps_per_worker);
  bool met = false;
  for (const auto& sync : record.syncs) {
    CHECK_FALSE(sync.failed);
    if (!sync.largest_error) continue;
    met = true;
    CHECK(*sync.largest_error < 1e-5);
  }
  const auto& name = setup.policy->name;
  CHECK(met == (name != "d-psgd" && name != "parameter-server"));
}

}  // namespace

TEST_CASE("rank: every policy comes to its quota, and every mean is right") {
  for (const auto& policy : all_policies()) {
    CAPTURE(policy.name);
    const auto setup = setup_of(policy.name, {});
    ThreadJob threads(4 + setup.topology.servers());
    check_complete(threads.run(setup), setup);
    CHECK(threads.end("") == std::set<std::string>{"well"});
  }
}

TEST_CASE("rank: the same over a transport with rendezvous and one order of all operations") {
  for (const auto& policy : all_policies()) {
    CAPTURE(policy.name);
    auto setup = setup_of(policy.name, {});
    setup.communicator_cache = 3;
    ThreadJob threads(4 + setup.topology.servers(), {.ordered = true, .rendezvous = true});
    check_complete(threads.run(setup), setup);
    CHECK(threads.end("") == std::set<std::string>{"well"});
  }
}

TEST_CASE("rank: group means in the background are right") {
  for (const char* policy : {"all-reduce", "static", "random", "smart"}) {
    CAPTURE(policy);
    Options background;
    background.set("timing", "background");
    const auto setup = setup_of(policy, background);
    ThreadJob threads(4);
    check_complete(threads.run(setup), setup);
    CHECK(threads.end("") == std::set<std::string>{"well"});
  }
}

TEST_CASE("rank: runs follow each other on the same ranks, and leave no communicator") {
  const auto setup = setup_of("smart", {});
  ThreadJob threads(4);
  for (int run = 0; run < 3; ++run) check_complete(threads.run(setup), setup);
  CHECK(threads.end("") == std::set<std::string>{"well"});
  for (auto& backend : threads.backends()) {
    auto& transport = backend.transport();
    CHECK(dynamic_cast<ThreadTransport&>(transport).held().empty());
  }
}

TEST_CASE("rank: a job that failed ends every rank with the group generator's message") {
  ThreadJob threads(2);
  CHECK(threads.end("the disk is full") == std::set<std::string>{"the disk is full"});
}

TEST_CASE("rank: one that loses the group generator says so, and which it is") {
  ThreadFabric fabric({});
  ThreadBackend backend(fabric, 0);
  auto server = std::make_unique<JobServer>(JobServer::Options{.ranks = 1, .log = {}});
  const RankOptions options{server->address(), server->secret(), 0, 20s};
  auto said = std::async(std::launch::async, [&]() -> std::string {
    try {
      serve_as_rank(options, backend);
      return "nothing";
    } catch (const JobFailed&) {
      return "what the group generator said";
    } catch (const EnvironmentError& error) {
      return error.what();
    }
  });
  static_cast<void>(server->await_ranks());
  server.reset();
  const auto text = said.get();  // it may still be measuring the clock
  CAPTURE(text);
  CHECK(text.starts_with("rank 0"));
  CHECK(text.find("group generator") != std::string::npos);
}

TEST_CASE("inbox: a failure is thrown once what came before it has been taken, and again") {
  Inbox inbox;
  inbox.put({message::JobEnd{"first"}, {}, false});
  inbox.fail(std::make_exception_ptr(EnvironmentError("then")));
  CHECK(inbox.take().size() == 1);
  inbox.wait();
  for (int i = 0; i < 2; ++i) CHECK_THROWS_WITH_AS((void)inbox.take(), "then", EnvironmentError);
}

TEST_CASE("rank: a run that is stopped does not wait for the steps under way") {
  auto setup = setup_of("all-reduce", {});
  setup.base.assign(4, 100h);
  setup.seconds = 100ms;
  ThreadJob threads(4);
  CHECK(threads.run(setup).failure == "");
  CHECK(threads.end("") == std::set<std::string>{"well"});
}

TEST_CASE("rank: no group generator where it should be is an error of the environment") {
  ThreadFabric fabric({});
  ThreadBackend backend(fabric, 0);
  CHECK_THROWS_AS(serve_as_rank({"127.0.0.1:1", {}, 0, 200ms}, backend), EnvironmentError);
}

TEST_CASE("watchdog: a process that does not take its end is ended with exit code 3") {
  const pid_t child = fork();
  if (child == 0) {
    Watchdog watchdog;
    watchdog.arm(50ms, [] { return "stuck, as this test wants"; });
    std::this_thread::sleep_for(60s);
    std::_Exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 3);
}

TEST_CASE("watchdog: an end that was taken is forgotten, a later one is not") {
  const pid_t child = fork();
  if (child == 0) {
    Watchdog watchdog;
    watchdog.arm(60s, [] { return "the first"; });
    watchdog.arm(50ms, [] { return "the second, as this test wants"; });
    watchdog.disarm();
    std::this_thread::sleep_for(60s);
    std::_Exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 3);
}

}  // namespace cohort
