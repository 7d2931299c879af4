// Ranks as local processes: their environment, their ends, and that none outlives its owner.
#include "runtime/local_ranks.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "policies/errors.h"
#include "tests/temporary_directory.h"

namespace cohort {
namespace {

using namespace std::chrono_literals;

using testing::content;
using testing::TemporaryDirectory;

std::vector<std::string> shell(const std::string& script) { return {"/bin/sh", "-c", script}; }

// Whether the process has ended; one that nobody has reaped yet has.
bool ended(pid_t process) {
  std::ifstream stat("/proc/" + std::to_string(process) + "/stat");
  std::string number;
  std::string name;
  std::string state;
  return !(stat >> number >> name >> state) || state == "Z" || state == "X";
}

// Waits for it, within a bound.
bool gone(pid_t process) {
  for (int i = 0; i < 500; ++i) {
    if (ended(process)) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

pid_t number_in(const TemporaryDirectory& folder, const std::string& name) {
  for (int i = 0; i < 500; ++i) {
    const auto text = content(folder.path() / name);
    if (text.ends_with("\n")) return std::stoi(text);
    std::this_thread::sleep_for(10ms);
  }
  return 0;
}

TEST_CASE("local ranks: each is told where the group generator is, the secret and its number") {
  const TemporaryDirectory folder;
  Secret secret{};
  secret[0] = 0xab;
  secret[15] = 0x01;
  LocalRanks ranks(shell("echo $COHORT_SERVER $COHORT_SECRET $COHORT_LOCAL_RANK >" +
                         folder.path().string() + "/$COHORT_RANK"),
                   2, "127.0.0.1:7", secret);
  CHECK(ranks.join(10s).empty());
  CHECK(content(folder.path() / "0") ==
        "127.0.0.1:7 ab0000000000000000000000000000"
        "01 0\n");
  CHECK(content(folder.path() / "1").ends_with(" 1\n"));
}

TEST_CASE("local ranks: one that ends with a code or by a signal is named") {
  LocalRanks ranks(shell("[ $COHORT_RANK = 0 ] && exit 3; [ $COHORT_RANK = 1 ] && kill -9 $$; :"),
                   3, "", {});
  const auto complaints = ranks.join(10s);
  REQUIRE(complaints.size() == 2);
  CHECK(complaints[0] == "rank 0 ended with exit code 3");
  CHECK(complaints[1].starts_with("rank 1 was ended by signal 9"));
}

TEST_CASE(
    "local ranks: one that does not end is ended, also when it ignores SIGTERM or is stopped") {
  const TemporaryDirectory folder;
  LocalRanks ranks(shell("trap '' TERM; echo $$ >" + folder.path().string() +
                         "/$COHORT_RANK; [ $COHORT_RANK = 1 ] && kill -STOP $$; "
                         "while :; do sleep 1; done"),
                   2, "", {});
  const auto first = number_in(folder, "0");
  const auto second = number_in(folder, "1");
  REQUIRE(first > 0);
  REQUIRE(second > 0);
  const auto complaints = ranks.join(100ms);
  REQUIRE(complaints.size() == 2);
  CHECK(complaints[0] == "rank 0 did not end within 100 ms and was ended");
  CHECK(gone(first));
  CHECK(gone(second));
}

TEST_CASE("local ranks: none outlives its owner, however that ends") {
  const TemporaryDirectory folder;
  const pid_t owner = ::fork();
  if (owner == 0) {
    const LocalRanks ranks(shell("echo $$ >" + folder.path().string() + "/rank; exec sleep 100"), 1,
                           "", {});
    number_in(folder, "rank");
    ::kill(::getpid(), SIGKILL);
  }
  ::waitpid(owner, nullptr, 0);
  const auto rank = number_in(folder, "rank");
  REQUIRE(rank > 0);
  CHECK(gone(rank));
}

TEST_CASE("local ranks: a command that cannot be started is an error of the environment") {
  CHECK_THROWS_AS(LocalRanks({"/nowhere/cohort"}, 2, "", {}), EnvironmentError);
}

}  // namespace
}  // namespace cohort
