#include "policies/registry.h"

#include <doctest/doctest.h>

#include "policies/errors.h"
#include "tests/policies/policy_script.h"

namespace cohort {
namespace {

const PolicyEntry& entry_of(const std::string& name) {
  const auto* entry = find_policy(name);
  REQUIRE(entry != nullptr);
  return *entry;
}

}  // namespace

TEST_CASE("registry: the seven policies of the published work, in the order of their listing") {
  std::vector<std::string> names;
  for (const auto& entry : all_policies()) names.push_back(entry.name);
  CHECK(names == std::vector<std::string>{"all-reduce", "parameter-server", "d-psgd", "ad-psgd",
                                          "static", "random", "smart"});
}

TEST_CASE("registry: central policies are random and smart") {
  for (const auto& entry : all_policies()) {
    CAPTURE(entry.name);
    const bool central = entry.name == "random" || entry.name == "smart";
    CHECK((entry.where == Where::Central) == central);
  }
}

TEST_CASE("registry: an unknown name is not found") { CHECK(find_policy("all_reduce") == nullptr); }

TEST_CASE("registry: every policy documents itself and every option") {
  for (const auto& entry : all_policies()) {
    CAPTURE(entry.name);
    CHECK_FALSE(entry.rule.empty());
    CHECK_FALSE(entry.source.empty());
    for (const auto& option : entry.options) {
      CAPTURE(option.name);
      CHECK_FALSE(option.description.empty());
      CHECK_FALSE(option.source.empty());
      const bool off = std::holds_alternative<std::monostate>(option.default_value);
      if (!off) CHECK_NOTHROW(check_value(option, option.default_value));
    }
  }
}

TEST_CASE("registry: every policy takes an endpoint bandwidth, read by its driver") {
  for (const auto& entry : all_policies()) {
    CAPTURE(entry.name);
    const auto resolved = resolve(entry, {});
    CHECK(resolved.has("endpoint_bandwidth"));
    CHECK_FALSE(resolved.maybe<double>("endpoint_bandwidth").has_value());
  }
}

TEST_CASE("registry: an option that the policy does not have is a broken contract") {
  CHECK_THROWS_AS((void)resolve(entry_of("all-reduce"), option("threshold", std::int64_t{4})),
                  ContractError);
}

TEST_CASE("registry: values are checked against their option") {
  const Topology topology(2, 2);
  CHECK(place_of_refusal("all-reduce", option("timing", std::string("later")), topology) ==
        "/timing");
  CHECK(place_of_refusal("all-reduce", option("overlap", std::int64_t{1}), topology) == "/overlap");
  CHECK(place_of_refusal("all-reduce", option("overlap", std::monostate{}), topology) ==
        "/overlap");
  CHECK(place_of_refusal("all-reduce", option("endpoint_bandwidth", -1.0), topology) ==
        "/endpoint_bandwidth");
  CHECK(place_of_refusal("all-reduce", option("endpoint_bandwidth", std::monostate{}), topology) ==
        "accepted");
}

TEST_CASE("registry: an overlapped all-reduce cannot run in the background") {
  Options options = option("overlap", true);
  options.set("timing", std::string("background"));
  CHECK(place_of_refusal("all-reduce", options, Topology(2, 2)) == "/overlap");
}

TEST_CASE("registry: an overlapped all-reduce averages gradients") {
  const auto resolved = resolve(entry_of("all-reduce"), option("overlap", true));
  CHECK(resolved.get<std::string>("what") == "gradients");
  CHECK(resolve(entry_of("all-reduce"), {}).get<std::string>("what") == "models");
}

TEST_CASE("registry: an overlapped all-reduce cannot average models") {
  Options options = option("overlap", true);
  options.set("what", std::string("models"));
  CHECK(place_of_refusal("all-reduce", options, Topology(2, 2)) == "/what");
}

TEST_CASE("registry: gradients are averaged neither in the background nor with their momentum") {
  Options background = option("what", std::string("gradients"));
  background.set("timing", std::string("background"));
  CHECK(place_of_refusal("all-reduce", background, Topology(2, 2)) == "/what");
  Options momentum = option("what", std::string("gradients"));
  momentum.set("average_momentum", true);
  CHECK(place_of_refusal("all-reduce", momentum, Topology(2, 2)) == "/average_momentum");
}

TEST_CASE("registry: all but parameter servers can average before they update") {
  for (const auto& entry : all_policies()) {
    CAPTURE(entry.name);
    const auto resolved = resolve(entry, {});
    CHECK(resolved.has("order") == (entry.name != "parameter-server"));
    if (resolved.has("order")) CHECK(resolved.get<std::string>("order") == "update_then_average");
  }
}

TEST_CASE("registry: policies of groups can average momentum") {
  for (const auto& entry : all_policies()) {
    CAPTURE(entry.name);
    const auto resolved = resolve(entry, {});
    CHECK(resolved.has("average_momentum") == resolved.has("timing"));
  }
}

TEST_CASE("registry: a label names the options that differ from their default") {
  const auto& entry = entry_of("all-reduce");
  CHECK(default_label(entry, option("overlap", false)) == "all-reduce");
  CHECK(default_label(entry, option("overlap", true)) == "all-reduce overlap=true");
  CHECK(default_label(entry, option("timing", std::string("background"))) ==
        "all-reduce timing=background");
  CHECK(default_label(entry, option("endpoint_bandwidth", 2.5e9)) ==
        "all-reduce endpoint_bandwidth=2.5GB/s");
}

TEST_CASE("registry: labels show times, null and lists") {
  CHECK(default_label(entry_of("parameter-server"), option("update_time", Time{1'500'000})) ==
        "parameter-server update_time=1500us");
  CHECK(default_label(entry_of("smart"), option("threshold", std::monostate{})) ==
        "smart threshold=null");
  CHECK(default_label(entry_of("d-psgd"), option("graph", Phases{{{0, 1}}})) ==
        "d-psgd graph=given");
}

TEST_CASE("registry: a choice that is none is refused with what is allowed") {
  const auto& entry = entry_of("parameter-server");
  CHECK_THROWS_WITH_AS((void)make_policy(entry, resolve(entry, option("mode", std::string("asyn"))),
                                         Topology(1, 2, 1), 1),
                       "/mode: found \"asyn\"; allowed: \"sync\", \"async\"", InputError);
}

TEST_CASE("registry: counts, times and graphs are checked against their option") {
  const Topology topology(1, 4, 1);
  CHECK(place_of_refusal("parameter-server", option("servers", std::int64_t{0}), topology) ==
        "/servers");
  CHECK(place_of_refusal("parameter-server", option("update_time", Time{-1}), topology) ==
        "/update_time");
  CHECK(place_of_refusal("d-psgd", option("graph", std::string("star")), topology) == "/graph");
  CHECK(place_of_refusal("d-psgd", option("graph", Phases{{{0, 1}}, {{1, 2}}}), topology) ==
        "/graph");
  CHECK(place_of_refusal("d-psgd", option("weights", std::int64_t{1}), topology) == "/weights");
}

TEST_CASE("registry: all-reduce needs no parameter server") {
  const auto& entry = entry_of("all-reduce");
  CHECK(servers_needed(entry, resolve(entry, {})) == 0);
}

}  // namespace cohort
