#include "runtime/control_link.h"

#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "policies/errors.h"
#include "runtime/job_server.h"
#include "tests/runtime/fake_rank.h"

namespace cohort {

using namespace std::chrono_literals;

TEST_CASE("control link: it tries until the group generator listens") {
  std::string where;
  {
    JobServer reserve({.ranks = 1});
    where = reserve.address();
  }
  std::unique_ptr<JobServer> server;
  std::thread late([&] {
    std::this_thread::sleep_for(100ms);
    server = std::make_unique<JobServer>(JobServer::Options{.listen = where, .ranks = 1});
  });
  // It cannot know the secret of a server that is not there yet: it comes through and is refused.
  CHECK_THROWS_WITH_AS(ControlLink({.server = where, .hello = {}, .receive = {}, .closed = {}}),
                       doctest::Contains("it ended the connection"), EnvironmentError);
  late.join();
}

TEST_CASE("control link: where nobody listens is named when the limit is over") {
  CHECK_THROWS_WITH_AS(ControlLink({.server = "127.0.0.1:1",
                                    .hello = {.rank = 3},
                                    .connect_limit = 100ms,
                                    .receive = {},
                                    .closed = {}}),
                       "rank 3 cannot reach the group generator at 127.0.0.1:1: Connection refused",
                       EnvironmentError);
}

TEST_CASE("control link: it closes although a heartbeat is always due") {
  JobServer server({.ranks = 1});
  FakeRank rank(server, 0, 0ms);
  (void)server.await_ranks();
  rank.close();
}

TEST_CASE("control link: its clock is the group generator's") {
  JobServer server({.ranks = 1});
  const FakeRank rank(server, 0);
  const auto before = std::chrono::steady_clock::now().time_since_epoch();
  const auto there = rank.now();
  CHECK(std::chrono::abs(there - before) < 1s);  // the same process, so the same clock
}

}  // namespace cohort
