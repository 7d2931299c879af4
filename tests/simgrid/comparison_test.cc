// Simulated time within 0.5 % of SimGrid's parallel tasks (DESIGN 7): same platform, same compute
// trace, same policy object.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "tests/simgrid/reference.h"
#include "tests/simgrid/scenarios.h"

namespace cohort {
namespace {

constexpr Shape kSmall{4, 4}, kLarge{16, 8};

Reference& reference() {
  static Reference only({compared_cluster(kSmall), compared_cluster(kLarge)});
  return only;
}

void compare(const std::string& policy, Shape shape, std::uint64_t steps) {
  const Scenario scenario = compared_scenario(policy, shape, steps);
  const ReferenceResult expected = reference().run(scenario);
  const ResultRow row = simulate(scenario);
  const double off = row.elapsed_seconds / expected.simulated_seconds - 1;
  MESSAGE(policy << " on " << shape.nodes << "x" << shape.gpus_per_node << ": "
                 << expected.simulated_seconds << " s, relative difference " << off);
  CHECK(row.worker_steps == steps * shape.nodes * shape.gpus_per_node);
  CHECK(expected.synchronisations > 0);
  CHECK(row.synchronisations ==
        doctest::Approx(static_cast<double>(expected.synchronisations)).epsilon(0.005));
  CHECK(std::abs(off) < 0.005);
}

}  // namespace

TEST_CASE("simgrid: all-reduce on 4x4 takes the same time") { compare("all-reduce", kSmall, 500); }
TEST_CASE("simgrid: the published static schedule on 4x4 takes the same time") {
  compare("static", kSmall, 500);
}
TEST_CASE("simgrid: smart on 4x4 takes the same time") { compare("smart", kSmall, 500); }
TEST_CASE("simgrid: groups that contend for the NICs of 4x4 take the same time") {
  compare("contended", kSmall, 500);
}
TEST_CASE("simgrid: all-reduce on 16x8 takes the same time") { compare("all-reduce", kLarge, 500); }
TEST_CASE("simgrid: the published static schedule on 16x8 takes the same time") {
  compare("static", kLarge, 500);
}
TEST_CASE("simgrid: smart on 16x8 takes the same time") { compare("smart", kLarge, 500); }
TEST_CASE("simgrid: groups that contend for the NICs of 16x8 take the same time") {
  compare("contended", kLarge, 500);
}

}  // namespace cohort
