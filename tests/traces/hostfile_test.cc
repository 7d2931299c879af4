#include "traces/hostfile.h"

#include <doctest/doctest.h>

#include <string>

#include "policies/errors.h"
#include "tests/skip.h"
#include "tests/traces/files.h"

namespace cohort {
namespace {

Hostfile hostfile_of(std::string text) { return read_hostfile({"hosts", std::move(text)}); }

TEST_CASE("hostfile: slots and maxima, comments, blanks, CRLF, hosts that stand there again") {
  const Hostfile hosts = read_hostfile(read_text_file(test::sample("hostfile_4_hosts.txt")));
  REQUIRE(hosts.hosts.size() == 4);
  CHECK(hosts.slots == 17);
  CHECK(hosts.hosts[0].name == "alpha1");
  CHECK(hosts.hosts[0].slots == 8);
  CHECK_FALSE(hosts.hosts[0].max_slots);
  CHECK(hosts.hosts[1].slots == 3);
  CHECK(hosts.hosts[1].max_slots == 5);
  CHECK(hosts.hosts[2].name == "beta.example");
  CHECK(hosts.hosts[2].max_slots == 8);
  CHECK(hosts.hosts[3].slots == 0);
  CHECK(hosts.warnings.empty());
}

TEST_CASE("hostfile: a line without slots counts one, and says so") {
  const Hostfile hosts = hostfile_of("node1\nnode1\nme@node2 max_slots=2\n10.0.0.1");
  REQUIRE(hosts.hosts.size() == 3);
  CHECK(hosts.hosts[0].slots == 2);
  CHECK(hosts.hosts[1].name == "node2");
  CHECK(hosts.hosts[1].slots == 1);
  CHECK(hosts.slots == 4);
  REQUIRE(hosts.warnings.size() == 4);
  CHECK(hosts.warnings[3] == "line 4: 10.0.0.1 has no slots=N, counted as 1");
}

TEST_CASE("hostfile: wrong lines are refused with their number") {
  struct Case {
    const char* text;
    const char* says;
  };
  for (const Case& c :
       {Case{"node1 slots=8\nnode2 slots=8 max_slots=4\n",
             "hosts:2: found max_slots 4 below the 8 slots of node2"},
        Case{"node1 slots=-1\n", "hosts:1: found \"-1\"; expected a whole number"},
        Case{"node1 slots=1.5\n", "found \"1.5\""},
        Case{"node1 slots=99999999999999999999\n", "found \"99999999999999999999\""},
        Case{"node1 slots=\n", "found \"\"; expected a whole number"},
        Case{"node1 slots\n", "found \"slots\"; expected a = behind it"},
        Case{"node1 slots 8\n", "found \"slots\"; expected a = behind it"},
        Case{"node1 slots=8 slots=8\n", "found \"slots\"; expected it once"},
        Case{"\nnode1 gpus=8\n", "hosts:2: found \"gpus\"; expected slots=N"},
        Case{"node1 slots=8 node2\n", "found \"node2\"; expected slots=N"},
        Case{"no/de slots=8\n", "found \"no/de\"; expected the name of a host"},
        Case{"=8\n", "found \"=\"; expected the name of a host"},
        Case{"# nobody\n\n", "hosts: names no host"}}) {
    CAPTURE(c.text);
    CHECK_THROWS_WITH_AS((void)hostfile_of(c.text), doctest::Contains(c.says), InputError);
  }
}

TEST_CASE("cases: the hostfile has 20 slots on three of four hosts") {
  const auto file = test::cases() / "hostfiles/openmpi_slots.txt";
  if (!std::filesystem::exists(file)) return skip("the shared cases are not at hand");
  const Hostfile hosts = read_hostfile(read_text_file(file));
  REQUIRE(hosts.hosts.size() == 4);
  CHECK(hosts.hosts[0].slots == 8);
  CHECK(hosts.hosts[1].slots == 8);
  CHECK(hosts.hosts[1].max_slots == 16);
  CHECK(hosts.hosts[2].slots == 4);
  CHECK(hosts.hosts[3].name == "node004.cluster.example");
  CHECK(hosts.hosts[3].slots == 0);
  CHECK(hosts.slots == 20);
}

}  // namespace
}  // namespace cohort
