#include "runtime/curve_copies.h"

#include <doctest/doctest.h>

#include "runtime/host_vectors.h"

namespace cohort {
namespace {

using namespace std::chrono_literals;

// One number, which is the step that it was looked at in.
struct Looked {
  explicit Looked(const CurveCopies::Options& options) : copies(options, vectors, 1) {}

  void look(std::uint64_t step, Time at) {
    parameters.entries()[0] = static_cast<float>(step);
    copies.look(at, step, parameters);
  }
  void look_at_steps(std::uint64_t first, std::uint64_t last) {
    for (auto step = first; step <= last; ++step) look(step, Time(step));
  }
  [[nodiscard]] std::uint64_t step_of(std::uint64_t tick) const {
    const auto& copy = copies.of(tick);
    CHECK(copy.parameters.entries()[0] == static_cast<float>(copy.steps));
    return copy.steps;
  }

  HostVectors vectors;
  Buffer parameters{vectors, 2};
  CurveCopies copies;
};

}  // namespace

TEST_CASE("curve copies: one at the first look, and one whenever so many worker-steps are over") {
  Looked looked({.steps_apart = 8, .worker_steps = 4});
  looked.look_at_steps(0, 7);
  CHECK(looked.copies.last() == 3);
  for (const std::uint64_t tick : {0, 1, 2, 3}) CHECK(looked.step_of(tick) == 2 * tick);
}

TEST_CASE(
    "curve copies: in time, the first look at or after each instant, counted from the first") {
  Looked looked({.time_apart = 10ns});
  looked.look(0, 100ns);
  looked.look(1, 109ns);
  looked.look(2, 113ns);
  looked.look(3, 141ns);
  CHECK(looked.copies.last() == 4);
  CHECK(looked.step_of(1) == 2);
  CHECK(looked.step_of(2) == 3);
  CHECK(looked.step_of(4) == 3);
}

TEST_CASE("curve copies: beyond 64 every second one is forgotten, again and again") {
  Looked looked({});
  looked.look_at_steps(0, 1000);
  CHECK(looked.copies.doublings() == 4);
  CHECK(looked.copies.last() == 62);
  for (std::uint64_t tick = 0; tick <= 62; ++tick) CHECK(looked.step_of(tick) == 16 * tick);
}

TEST_CASE("curve copies: a run of very many instants without a look keeps one for all of them") {
  Looked looked({.time_apart = 1ns});
  looked.look(0, 0ns);
  looked.look(1, 1h);
  REQUIRE(looked.copies.last().has_value());
  CHECK(*looked.copies.last() <= CurveCopies::kMostTicks);
  CHECK(looked.step_of(1) == 1);
}

TEST_CASE("curve copies: with ticks doubled by hand the kept ones serve what they served before") {
  Looked looked({});
  looked.look_at_steps(0, 9);
  looked.copies.double_ticks();
  CHECK(looked.copies.last() == 4);
  for (std::uint64_t tick = 0; tick <= 4; ++tick) CHECK(looked.step_of(tick) == 2 * tick);
}

}  // namespace cohort
