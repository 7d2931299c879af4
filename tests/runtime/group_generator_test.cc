#include "runtime/group_generator.h"

#include <doctest/doctest.h>

#include "tests/policies/policy_variants.h"
#include "tests/runtime/random_job.h"

namespace cohort {
namespace {

using GpusPerNode = std::vector<std::uint32_t>;

const std::vector<GpusPerNode> kClusters = {{1}, {2}, {3}, {2, 2}, {4, 4, 4, 4}, {3, 1, 2}};

RunSetup setup_of(const Variant& variant, const GpusPerNode& nodes) {
  auto setup = plain_setup(variant.entry->name, nodes, 12);
  setup.options = variant.options;
  setup.topology = topology_of(variant, nodes);
  return setup;
}

template <typename Check>
void for_all_policies(std::uint64_t seeds, Check check) {
  for (const auto& nodes : kClusters)
    for (const auto& variant : policy_variants(nodes))
      for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        INFO(variant.label, " on ", nodes.size(), " nodes, seed ", seed);
        auto setup = setup_of(variant, nodes);
        setup.seed = seed;
        check(setup, seed);
      }
}

std::string first(const std::vector<std::string>& lines) {
  return lines.empty() ? "" : lines.front();
}

}  // namespace

TEST_CASE("group generator: every policy runs to its quota with members that take their time") {
  for_all_policies(5, [](const RunSetup& setup, std::uint64_t seed) {
    RandomJob job(setup, seed);
    job.run();
    REQUIRE(job.ended());
    CHECK(job.record().failure == "");
    CHECK(job.record().steps.size() == 12 * setup.topology.workers());
    CHECK(first(job.complaints()) == "");
  });
}

TEST_CASE("group generator: the log of a run replays to identical actions") {
  for_all_policies(3, [](const RunSetup& setup, std::uint64_t seed) {
    RandomJob job(setup, seed);
    job.run();
    CHECK(job.log().events().size() > setup.topology.workers());
    CHECK(job.log().difference(setup) == "");
  });
}

TEST_CASE(
    "group generator: a small cache never asks for what members lack, nor drops what they use") {
  for_all_policies(3, [](RunSetup setup, std::uint64_t seed) {
    setup.communicator_cache = 1;
    RandomJob job(setup, seed);
    job.run();
    CHECK(job.ended());
    CHECK(first(job.complaints()) == "");
  });
}

TEST_CASE(
    "group generator: a lost worker ends the run with a sentence that names it and its group") {
  for_all_policies(4, [](const RunSetup& setup, std::uint64_t seed) {
    const auto worker = static_cast<std::uint32_t>(seed % setup.topology.workers());
    RandomJob job(setup, seed, {{worker, Time{30}}});
    job.run();
    REQUIRE(job.ended());
    const auto& failure = job.record().failure;
    const auto name = std::to_string(worker);
    CHECK(failure.starts_with("worker " + name + " was lost after 0.000 s, in "));
    CHECK(failure.ends_with(": rank " + name + ": gone"));
    CHECK(job.log().difference(setup) == "");
  });
}

TEST_CASE(
    "group generator: a run that may go on does so without lost workers, and its log replays") {
  for_all_policies(8, [](RunSetup setup, std::uint64_t seed) {
    setup.on_loss = OnLoss::Continue;
    const auto workers = setup.topology.workers();
    const auto one = static_cast<std::uint32_t>(seed % workers);
    const auto other = static_cast<std::uint32_t>((seed + 1) % workers);
    RandomJob job(setup, seed, {{one, Time{30 + 7 * static_cast<int>(seed)}}, {other, Time{70}}});
    job.run();
    REQUIRE(job.ended());
    const auto& failure = job.record().failure;
    const bool served = failure.find("when it had left") != std::string::npos;
    if (workers > 2 && !served) CHECK(failure == "");
    CHECK(job.log().difference(setup) == "");
    CHECK(first(job.complaints()) == "");
  });
}

}  // namespace cohort
