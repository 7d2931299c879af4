#include "training/mixing_report.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>

#include "policies/errors.h"
#include "training/idle_run.h"

namespace cohort {
namespace {

MixingReport report(const std::string& name, const Topology& topology,
                    const Options& options = {}) {
  const auto* entry = find_policy(name);
  return mixing_report(*entry, resolve(*entry, options), topology, 1);
}

double rho(const MixingReport& report) {
  REQUIRE(report.rates.size() == 1);
  CHECK(report.rates[0].quantity == "rho");
  CHECK(report.rates[0].exact);
  return report.rates[0].value;
}

Options with(const std::string& name, OptionValue value) {
  Options options;
  options.set(name, std::move(value));
  return options;
}

}  // namespace

TEST_CASE(
    "mixing report: the static schedule at any N, lambda_2(P'P) and spectral radius of P-J/n") {
  struct Row {
    std::uint32_t per_node;
    double squared, radius;
  };
  // L = 8 by the pattern of the exact rows: 7^3 / 8^3, (7/8)^2, the decimals .66992 and .76563.
  for (const auto& row : {Row{1, 0, 0}, Row{2, 1.0 / 8, 1.0 / 4}, Row{3, 8.0 / 27, 4.0 / 9},
                          Row{4, 27.0 / 64, 9.0 / 16}, Row{8, 343.0 / 512, 49.0 / 64}})
    for (const std::uint32_t nodes : {2U, 4U}) {
      CAPTURE(row.per_node);
      CAPTURE(nodes);
      const auto rates = report("static", Topology(nodes, row.per_node)).rates;
      REQUIRE(rates.size() == 2);
      CHECK(rates[0].exact);
      CHECK(std::abs(rates[0].value - row.squared) < 1e-12);
      CHECK(std::abs(rates[1].value - row.radius) < 1e-7);
    }
}

TEST_CASE("mixing report: the static schedule with 8 workers a node, .66992 and .76563") {
  const auto rates = report("static", Topology(2, 8)).rates;
  CHECK(rates.at(0).value == doctest::Approx(.66992).epsilon(1e-5));
  CHECK(rates.at(1).value == doctest::Approx(.76563).epsilon(1e-5));
}

TEST_CASE("mixing report: 16 workers on 4 nodes, the published policies") {
  const Topology topology(4, 4);
  CHECK(rho(report("all-reduce", topology)) == 0);
  CHECK(rho(report("parameter-server", topology)) == 0);
  CHECK(rho(report("d-psgd", topology)) == doctest::Approx(.90108).epsilon(1e-5));
  CHECK(rho(report("ad-psgd", topology)) == doctest::Approx(.9375).epsilon(1e-12));
  CHECK(rho(report("ad-psgd", topology, with("exclusive_all", true))) ==
        doctest::Approx(14.0 / 15).epsilon(1e-12));
  CHECK(rho(report("ad-psgd", topology, with("graph", std::string("ring")))) ==
        doctest::Approx(.99524).epsilon(1e-5));
  CHECK(rho(report("random", topology)) == doctest::Approx(.8).epsilon(1e-12));
  CHECK(rho(report("random", topology, with("group_size", std::int64_t{2}))) ==
        doctest::Approx(14.0 / 15).epsilon(1e-12));
  CHECK(rho(report("smart", topology)) == .5625);
  CHECK(rho(report("smart", topology, with("inter_intra", false))) ==
        doctest::Approx(.2).epsilon(1e-12));
}

TEST_CASE("mixing report: d-psgd on a complete graph mixes in one step") {
  CHECK(rho(report("d-psgd", Topology(2, 3), with("graph", std::string("complete")))) == 0);
}

TEST_CASE(
    "mixing report: smart's own object, everybody idle, keeps 9/16 of what differs between nodes") {
  const Topology topology(4, 4);
  const auto* entry = find_policy("smart");
  const auto policy = make_policy(*entry, resolve(*entry, {}), topology, 5);
  Eigen::VectorXd between(16);
  for (int w = 0; w < 16; ++w) between(w) = w / 4 == 0 ? 3 : -1;
  const auto rounds = idle_run(*policy, topology, 40);
  for (std::size_t division = 0; division < rounds.size(); division += 2) {
    Eigen::VectorXd x = between;
    for (const auto& round : {rounds[division], rounds[division + 1]})
      for (const auto& sync : round) x = mixing_matrix(16, sync.kind, sync.members) * x;
    CHECK(x.squaredNorm() / between.squaredNorm() == doctest::Approx(.5625).epsilon(1e-12));
  }
}

TEST_CASE("mixing report: an estimate says that it is one, and lies near the closed form") {
  // Fixed divisions mix a little worse than fresh ones, (.5625).
  const auto few = report("smart", Topology(4, 4), with("vocabulary", std::int64_t{400}));
  REQUIRE(few.rates.size() == 1);
  CHECK_FALSE(few.rates[0].exact);
  CHECK(few.rates[0].meaning.find("estimated") != std::string::npos);
  CHECK(few.rates[0].value == doctest::Approx(.5625).epsilon(.05));
  const auto heads = report("smart", Topology(4, 4), with("head_group_size", std::int64_t{2}));
  CHECK_FALSE(heads.rates.at(0).exact);
  CHECK(heads.rates.at(0).value > .5625);
  CHECK(heads.rates.at(0).value < 1);
}

TEST_CASE("mixing report: the matrix of every policy keeps the mean") {
  const std::array<std::uint32_t, 3> uneven = {3, 2, 4};
  for (const auto& entry : all_policies())
    for (const auto& topology : {Topology(uneven), Topology(3, 2)}) {
      CAPTURE(entry.name);
      const auto found = mixing_report(entry, resolve(entry, {}), topology, 1);
      REQUIRE(found.matrix.rows() == topology.workers());
      CHECK((found.matrix.rowwise().sum().array() - 1).abs().maxCoeff() < 1e-9);
      CHECK((found.matrix.colwise().sum().array() - 1).abs().maxCoeff() < 1e-9);
      for (const auto& rate : found.rates) {
        CHECK(rate.value >= 0);
        CHECK(rate.value < 1);
      }
    }
}

TEST_CASE(
    "mixing report: asynchronous parameter servers have no rate, and neither has a lone worker") {
  const auto async = report("parameter-server", Topology(2, 2), with("mode", std::string("async")));
  CHECK(async.rates.empty());
  CHECK_FALSE(async.note.empty());
  for (const auto& entry : all_policies())
    CHECK(mixing_report(entry, resolve(entry, {}), Topology(1, 1), 1).rates.empty());
}

TEST_CASE("mixing report: more workers than can be computed are refused") {
  CHECK_THROWS_AS(report("smart", Topology(200, 4)), InputError);
}

}  // namespace cohort
