// Recorded logs fed to fresh policies: identical, or found at the line; damage is refused, never
// more.
#include "experiments/replay.h"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>

#include "experiments/base_run.h"
#include "policies/errors.h"
#include "policies/random.h"
#include "tests/experiments/base_spec.h"

namespace cohort {
namespace {

using testing::base_spec;
using testing::content;
using testing::TemporaryDirectory;

// The log of a run of every policy, options of every type among them.
std::string recorded(const TemporaryDirectory& directory) {
  auto document = base_spec();
  document["policies"] = Json::parse(R"(["all-reduce", "parameter-server", "d-psgd", "ad-psgd",
    "static", "random", "smart",
    {"kind": "parameter-server", "mode": "async", "servers": 2, "update_time": "1ms"},
    {"kind": "d-psgd", "graph": [[0, 1], [1, 2], [2, 3]]},
    {"kind": "static", "phases": [[[0, 1], [2, 3]], [[0, 2], [1, 3]]]},
    {"kind": "smart", "timing": "background", "threshold": null, "endpoint_bandwidth": "1GB/s"}])");
  document["seeds"] = {1};
  const Experiment experiment(directory.write("spec.json", document.dump()), {});
  const auto report = run_base(experiment, {.out = directory.path() / "out", .progress = {}});
  REQUIRE(report.failed == 0);
  return content(directory.path() / "out" / "events.jsonl");
}

std::string refusal_of_log(const std::filesystem::path& log) {
  try {
    static_cast<void>(replay(log));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("replay: the log of a simulation of every policy gives identical actions") {
  const TemporaryDirectory directory;
  const auto log = recorded(directory);
  const auto runs = replay(directory.path() / "out");
  CHECK(runs.size() == 11);
  for (const auto& run : runs) {
    CAPTURE(run.label);
    CHECK_FALSE(run.difference.has_value());
    CHECK(run.events >= 4 * 20);
  }
}

TEST_CASE("replay: a changed action is found at its line, and the runs behind it are replayed") {
  const TemporaryDirectory directory;
  auto log = recorded(directory);
  const auto at = log.find(R"({"release":3})");
  log.replace(at, 13, R"({"release":2})");
  const auto line = 1 + std::count(log.begin(), log.begin() + static_cast<long>(at), '\n');
  const auto runs = replay(directory.write("changed", log));
  REQUIRE(runs.size() == 11);
  REQUIRE(runs[0].difference.has_value());
  CHECK(runs[0].difference->line == static_cast<std::size_t>(line));
  CHECK(runs[0].difference->recorded.find(R"({"release":2},{"release":2})") != std::string::npos);
  CHECK(runs[0].difference->repeated.find(R"({"release":2},{"release":3})") != std::string::npos);
  CHECK_FALSE(runs[1].difference.has_value());
}

TEST_CASE("replay: another seed in the head gives other actions where a policy draws") {
  const TemporaryDirectory directory;
  auto log = recorded(directory);
  const auto head = log.find(R"("kind":"random")");
  log.replace(log.find(R"("seed":1)", head), 8, R"("seed":2)");
  const auto runs = replay(directory.write("changed", log));
  CHECK(runs[5].difference.has_value());
}

TEST_CASE("replay: what cannot be a log is refused with file and line") {
  const TemporaryDirectory directory;
  const auto log = recorded(directory);
  const auto second = log.find('\n') + 1;
  const auto says = [&](const std::string& text, const char* words) {
    const auto message = refusal_of_log(directory.write("damaged", text));
    CAPTURE(message);
    CHECK(message.find(words) != std::string::npos);
  };
  says("", "holds no run");
  says(log.substr(second), "damaged:1: an event before the first");
  says(log.substr(0, log.size() - 5), "cut off");
  says(log.substr(0, second) + "{\"at\":1", "damaged:2: the file ends within the line");
  says(log.substr(0, second) + "nothing\n", "damaged:2: is no JSON");
  says(log.substr(0, second) + R"({"at":1,"event":"ready","worker":9,"step":0,"compute":1})" + "\n",
       "D6");
  says(log.substr(0, second) + R"({"at":-1,"event":"joined","worker":0})" + "\n",
       R"("at" is "-1")");
  says(log.substr(0, second) + R"({"at":1,"event":"joined","worker":0,"x":1})" + "\n", "beside");
  says(R"({"run":{"kind":"smrt"}})"
       "\n",
       "damaged:1: /run");
  says(
      R"({"run":{"kind":"smart","label":"a","options":{},"seed":1,"gpus_per_node":[4],"servers":0}})"
      "\n",
      "/run/options: the key");
}

TEST_CASE("replay: mixed-up lines are refused or found as a difference") {
  const TemporaryDirectory directory;
  const auto log = recorded(directory);
  std::vector<std::string> lines;
  for (std::size_t from = 0; from < log.size(); from = log.find('\n', from) + 1)
    lines.push_back(log.substr(from, log.find('\n', from) + 1 - from));
  std::size_t seen = 0;
  for (std::size_t i = 1; i + 1 < 60; i += 2) {
    auto mixed = lines;
    std::swap(mixed[i], mixed[i + 5]);
    std::string text;
    for (const auto& line : mixed) text += line;
    const auto file = directory.write("mixed", text);
    const auto message = refusal_of_log(file);
    if (!message.empty() || replay(file)[0].difference) ++seen;
  }
  CHECK(seen > 20);  // two joins may change places
}

TEST_CASE("replay: cut ends and flipped bytes are replayed or refused, nothing else") {
  const TemporaryDirectory directory;
  const auto whole = recorded(directory);
  std::size_t refused = 0;
  constexpr std::uint32_t kTries = 400;
  for (std::uint32_t i = 0; i < kTries; ++i) {
    Stream random(29, Purpose::Failure, i, 0);
    auto text = whole;
    if (i % 3 == 0) text.resize(random.below(static_cast<std::uint32_t>(text.size())));
    for (std::uint32_t flips = random.below(4); flips > 0 && !text.empty(); --flips)
      text[random.below(static_cast<std::uint32_t>(text.size()))] =
          static_cast<char>(random.below(256));
    if (!refusal_of_log(directory.write("damaged", text)).empty()) ++refused;
  }
  CHECK(refused > kTries / 2);
  CHECK(refused < kTries);
}

}  // namespace
}  // namespace cohort
