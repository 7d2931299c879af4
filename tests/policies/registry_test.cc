#include "policies/registry.h"

#include <doctest/doctest.h>

#include "policies/errors.h"

namespace cohort {
namespace {

const PolicyEntry& entry_of(const std::string& name) {
  const auto* entry = find_policy(name);
  REQUIRE(entry != nullptr);
  return *entry;
}

std::string place_of_refusal(const std::string& name, const Options& given,
                             const Topology& topology) {
  const auto& entry = entry_of(name);
  try {
    (void)make_policy(entry, resolve(entry, given), topology, 1);
  } catch (const InputError& error) {
    return error.where();
  }
  return "accepted";
}

Options with(const std::string& name, OptionValue value) {
  Options options;
  options.set(name, std::move(value));
  return options;
}

}  // namespace

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
  CHECK_THROWS_AS((void)resolve(entry_of("all-reduce"), with("threshold", std::int64_t{4})),
                  ContractError);
}

TEST_CASE("registry: values are checked against their option") {
  const Topology topology(2, 2);
  CHECK(place_of_refusal("all-reduce", with("timing", std::string("later")), topology) ==
        "/timing");
  CHECK(place_of_refusal("all-reduce", with("overlap", std::int64_t{1}), topology) == "/overlap");
  CHECK(place_of_refusal("all-reduce", with("overlap", std::monostate{}), topology) == "/overlap");
  CHECK(place_of_refusal("all-reduce", with("endpoint_bandwidth", -1.0), topology) ==
        "/endpoint_bandwidth");
  CHECK(place_of_refusal("all-reduce", with("endpoint_bandwidth", std::monostate{}), topology) ==
        "accepted");
}

TEST_CASE("registry: an overlapped all-reduce cannot run in the background") {
  Options options = with("overlap", true);
  options.set("timing", std::string("background"));
  CHECK(place_of_refusal("all-reduce", options, Topology(2, 2)) == "/overlap");
}

TEST_CASE("registry: a label names the options that differ from their default") {
  const auto& entry = entry_of("all-reduce");
  CHECK(default_label(entry, with("overlap", false)) == "all-reduce");
  CHECK(default_label(entry, with("overlap", true)) == "all-reduce overlap=true");
  CHECK(default_label(entry, with("timing", std::string("background"))) ==
        "all-reduce timing=background");
  CHECK(default_label(entry, with("endpoint_bandwidth", 2.5e9)) ==
        "all-reduce endpoint_bandwidth=2.5e+09B/s");
}

TEST_CASE("registry: all-reduce needs no parameter server") {
  const auto& entry = entry_of("all-reduce");
  CHECK(servers_needed(entry, resolve(entry, {})) == 0);
}

}  // namespace cohort
