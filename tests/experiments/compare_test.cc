// Predicted against measured on hand-made rows: errors, phases, intervals, pairs, what is left out.
#include "experiments/compare.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "policies/errors.h"
#include "tests/experiments/base_spec.h"

namespace cohort {
namespace {

using doctest::Approx;
using testing::TemporaryDirectory;

// Four workers; the rest of their time is wait.
std::string row(const char* label, int seed, double throughput, double compute, double coordinate,
                const char* kind, const char* more = "") {
  return fmt::format(R"({{{}"policy":"{}","label":"{}","seed":{},"workers":4,"{}_seconds":1,)"
                     R"("throughput_steps_per_second":{},"compute_fraction":{},"wait_fraction":{},)"
                     R"("sync_fraction":0,"coordinate_fraction":{},"error":null}})"
                     "\n",
                     more, label, label, seed, kind, throughput, compute, 1 - compute - coordinate,
                     coordinate);
}

struct Directories {
  TemporaryDirectory simulated;
  TemporaryDirectory real;
  Directories(const std::string& simulated_rows, const std::string& real_rows) {
    simulated.write("results.jsonl", simulated_rows);
    real.write("results.jsonl", real_rows);
  }
  [[nodiscard]] Comparison compare() const {
    return compare_results(simulated.path(), real.path());
  }
};

TEST_CASE("compare: the recorded coordination stands in place of the simulated one") {
  // Simulated: 0.1 s a step, none of it coordination. Measured: 0.125 s, a fifth of it.
  const Directories directories(row("a", 1, 40, 0.8, 0, "simulated"),
                                row("a", 1, 32, 0.64, 0.2, "measured"));
  const auto comparison = directories.compare();
  REQUIRE(comparison.policies.size() == 1);
  const auto& policy = comparison.policies[0];
  CHECK(policy.plain_error() == Approx(40.0 / 32 - 1));
  CHECK(policy.predicted.mean == Approx(4 / (0.1 + 0.025)));
  CHECK(policy.error() == Approx(0).epsilon(1e-9));
  CHECK(comparison.worst_plain_error == Approx(0.25));
}

TEST_CASE("compare: a simulation of a group generator that hosts all policies is left as it is") {
  const Directories directories(row("a", 1, 40, 0.8, 0.1, "simulated"),
                                row("a", 1, 32, 0.64, 0.2, "measured"));
  directories.simulated.write("manifest.json",
                              R"({"resolved":{"cluster":{"coordination_hosted":true}}})");
  const auto policy = directories.compare().policies[0];
  CHECK(policy.predicted.mean == policy.plain.mean);
  CHECK(policy.plain.mean == Approx(40));
}

TEST_CASE("compare: a manifest that is damaged is refused, one that says nothing of it is not") {
  const Directories directories(row("a", 1, 40, 0.8, 0, "simulated"),
                                row("a", 1, 32, 0.64, 0.2, "measured"));
  directories.simulated.write("manifest.json", "{\"resolved\": ");
  CHECK_THROWS_AS(static_cast<void>(directories.compare()), InputError);
  for (const char* text : {"[]", R"({"resolved":1})", R"({"resolved":{"cluster":[]}})"}) {
    directories.simulated.write("manifest.json", text);
    CHECK_FALSE(directories.compare().hosted);
  }
}

TEST_CASE("compare: phases are seconds per worker-step") {
  const Directories directories(row("a", 1, 40, 0.8, 0, "simulated"),
                                row("a", 1, 32, 0.64, 0.2, "measured"));
  const auto policy = directories.compare().policies[0];
  CHECK(policy.plain_phases[0] == Approx(0.08));
  CHECK(policy.plain_phases[1] == Approx(0.02));
  CHECK(policy.measured_phases[0] == Approx(0.08));
  CHECK(policy.measured_phases[3] == Approx(0.025));
}

TEST_CASE("compare: the interval is Student's, over seeds") {
  std::string simulated;
  std::string real;
  for (int seed = 1; seed <= 3; ++seed) {
    simulated += row("a", seed, 10, 1, 0, "simulated");
    real += row("a", seed, 9 + seed, 1, 0, "measured");
  }
  const auto policy = Directories(simulated, real).compare().policies[0];
  CHECK(policy.measured.mean == Approx(11));
  CHECK(policy.measured.half_width.value() == Approx(4.302653 / std::sqrt(3.0)));  // t(2), 97.5 %
  CHECK(policy.plain.half_width.value() == 0);
}

TEST_CASE("compare: one seed has no interval") {
  const Directories directories(row("a", 1, 40, 1, 0, "simulated"),
                                row("a", 1, 32, 1, 0, "measured"));
  CHECK_FALSE(directories.compare().policies[0].measured.half_width.has_value());
}

TEST_CASE("compare: times to the target loss, of the seeds that reached it in both") {
  const auto rows = [](const char* kind, const char* first, const char* second) {
    return row("a", 1, 40, 1, 0, kind, first) + row("a", 2, 40, 1, 0, kind, second) +
           row("b", 1, 40, 1, 0, kind);
  };
  const auto comparison =
      Directories(
          rows("simulated", R"("time_to_loss_seconds":3,)", R"("time_to_loss_seconds":5,)"),
          rows("measured", R"("time_to_loss_seconds":4,)", R"("time_to_loss_seconds":null,)"))
          .compare();
  REQUIRE(comparison.policies[0].to_loss.has_value());
  const auto& to_loss = *comparison.policies[0].to_loss;
  CHECK(to_loss.seeds == std::vector<std::uint64_t>{1});
  CHECK(to_loss.measured.mean == 4);
  CHECK(to_loss.error() == Approx(-0.25));
  CHECK_FALSE(comparison.policies[1].to_loss.has_value());
}

// Policies a, b, c measured at 10, 20 and 20.5 with intervals of about +-1.3.
std::string three_policies(const char* kind, double a, double b, double c) {
  std::string rows;
  for (const auto& [label, at] : {std::pair{"a", a}, std::pair{"b", b}, std::pair{"c", c}})
    for (int seed = 1; seed <= 2; ++seed)
      rows += row(label, seed, at + 0.1 * (2 * seed - 3), 1, 0, kind);
  return rows;
}

TEST_CASE("compare: pairs with intervals that overlap are not judged, the others by their order") {
  const auto real = three_policies("measured", 10, 20, 20.5);
  const auto right = Directories(three_policies("simulated", 11, 18, 17), real).compare();
  CHECK(right.judged_pairs == 2);
  CHECK(right.right_pairs == 2);
  const auto wrong = Directories(three_policies("simulated", 11, 10, 17), real).compare();
  CHECK(wrong.right_pairs == 1);
}

TEST_CASE("compare: cells are told apart by their settings, and pairs judged inside a cell") {
  const auto rows = [](const char* kind) {
    std::string text;
    for (int seed = 1; seed <= 2; ++seed) {
      text += row("a", seed, 10, 1, 0, kind, R"("/x":1,)");
      text += row("a", seed, 20, 1, 0, kind, R"("/x":2,)");
    }
    return text;
  };
  const auto comparison = Directories(rows("simulated"), rows("measured")).compare();
  REQUIRE(comparison.policies.size() == 2);
  CHECK(comparison.policies[1].cell == Json{{"/x", 2}});
  CHECK(comparison.judged_pairs == 0);
}

TEST_CASE("compare: rows without a partner or a result are named") {
  auto failed = row("c", 1, 1, 1, 0, "measured");
  failed.replace(failed.find(R"("error":null)"), 12, R"("error":"rank 2 was lost")");
  const Directories directories(
      row("a", 1, 40, 1, 0, "simulated") + row("b", 1, 40, 1, 0, "simulated") +
          row("c", 1, 40, 1, 0, "simulated"),
      row("a", 1, 32, 1, 0, "measured") + row("a", 2, 32, 1, 0, "measured") + failed);
  const auto comparison = directories.compare();
  CHECK(comparison.policies.size() == 1);
  CHECK(comparison.left_out ==
        std::vector<std::string>{"\"a\" seed 2: measured, not simulated",
                                 "\"c\" seed 1: measured, failed: rank 2 was lost",
                                 "\"b\" seed 1: simulated, not measured"});
}

TEST_CASE("compare: directories of the wrong kind, damaged or without common rows are refused") {
  const auto refusal = [](const std::string& simulated, const std::string& real) -> std::string {
    try {
      static_cast<void>(Directories(simulated, real).compare());
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  const auto simulated = row("a", 1, 40, 1, 0, "simulated");
  const auto real = row("a", 1, 40, 1, 0, "measured");
  CHECK(refusal(simulated, simulated).find("no column measured_seconds") != std::string::npos);
  CHECK(refusal(real, real).find("no column simulated_seconds") != std::string::npos);
  CHECK(refusal(simulated, "{").find("results.jsonl:1: is no JSON") != std::string::npos);
  CHECK(refusal(simulated, row("b", 1, 40, 1, 0, "measured")).find("no row can be compared") !=
        std::string::npos);
}

TEST_CASE("compare: a throughput of the whole run is not compared with one of a window") {
  const auto whole = row("a", 1, 40, 1, 0, "simulated", R"("whole_run_window":true,)");
  const auto window = row("a", 1, 80, 1, 0, "measured", R"("whole_run_window":false,)");
  const auto good = row("b", 1, 40, 1, 0, "simulated") + whole;
  const auto comparison = Directories(good, row("b", 1, 40, 1, 0, "measured") + window).compare();
  CHECK(comparison.policies.size() == 1);
  REQUIRE(comparison.left_out.size() == 1);
  CHECK(comparison.left_out[0].find("\"a\" seed 1: the simulated throughput is of the whole run") ==
        0);
}

TEST_CASE("compare: rows of other numbers of workers are left out") {
  auto other = row("a", 1, 40, 1, 0, "simulated");
  other.replace(other.find("\"workers\":4"), 11, "\"workers\":8");
  const Directories directories(
      other + row("b", 1, 40, 1, 0, "simulated"),
      row("a", 1, 40, 1, 0, "measured") + row("b", 1, 40, 1, 0, "measured"));
  const auto comparison = directories.compare();
  CHECK(comparison.policies.size() == 1);
  CHECK(comparison.left_out ==
        std::vector<std::string>{"\"a\" seed 1: has 8 workers simulated, 4 measured"});
}

TEST_CASE("compare: specs of other work are named, unless it was swept") {
  const auto manifest = [](int compute) {
    return fmt::format(R"({{"resolved":{{"stragglers":[],"workload":{{"compute_ns":{},)"
                       R"("payload_bytes":40}}}}}})",
                       compute);
  };
  for (const bool swept : {false, true}) {
    const char* cell = swept ? R"("/workload/compute":"1ms",)" : "";
    const Directories directories(row("a", 1, 40, 1, 0, "simulated", cell),
                                  row("a", 1, 40, 1, 0, "measured", cell));
    directories.simulated.write("manifest.json", manifest(9));
    CHECK(directories.compare().differences.empty());  // the other has none
    directories.real.write("manifest.json", manifest(2));
    const auto differences = directories.compare().differences;
    CHECK(differences ==
          (swept ? std::vector<std::string>{}
                 : std::vector<std::string>{"/workload/compute: 9 simulated, 2 measured"}));
    directories.real.write("manifest.json", manifest(9));
    CHECK(directories.compare().differences.empty());
  }
}

}  // namespace
}  // namespace cohort
