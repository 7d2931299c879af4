// What a spec may say and what it may not: each wrong one is refused with its place, what is
// allowed and the nearest name.
#include <doctest/doctest.h>

#include "experiments/nearest_name.h"
#include "experiments/read_cell.h"
#include "experiments/setting.h"
#include "policies/errors.h"
#include "tests/experiments/base_spec.h"

namespace cohort {
namespace {

using testing::base_spec;
using testing::WrongValue;

// The message of the refusal of the base spec with one value changed; empty when it is taken.
std::string refusal_of_change(const std::string& pointer, const std::string& value) {
  auto document = base_spec();
  SpecFiles files(".");
  try {
    document[Json::json_pointer(pointer)] = Json::parse(value);
    static_cast<void>(read_cell(document, files));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("spec: every wrong value is refused with its pointer and what is allowed") {
  const WrongValue cases[] = {
      {"/workload/compuet", R"("1ms")", "/workload/compuet: ", "nearest: \"compute\""},
      {"/clustr", "{}", "/clustr: ", "nearest: \"cluster\""},
      {"/workload/compute", "100", "/workload/compute: ", "without a unit"},
      {"/workload/compute", R"("100")", "/workload/compute: ", "ms"},
      {"/workload/compute", R"("100MB")", "/workload/compute: ", "ms"},
      {"/workload/compute", R"("-5ms")", "/workload/compute: ", ""},
      {"/workload/compute", R"("nan ms")", "/workload/compute: ", ""},
      {"/workload/compute", R"("0ms")", "/workload/compute: ", "above 0"},
      {"/workload/compute", R"("1000000s")", "/workload/compute: ", "at most"},
      {"/workload/payload", R"("60Gbit/s")", "/workload/payload: ", "MB"},
      {"/workload/payload", "60", "/workload/payload: ", "without a unit"},
      {"/workload/backward_share", "1.5", "/workload/backward_share: ", "from 0 to 1"},
      {"/workload/buckets", "0", "/workload/buckets: ", "from 1"},
      {"/workload/model", R"("vgg16")", "/workload/model: ", "nearest: \"vgg16-cifar10\""},
      {"/workload/gpu", R"("v100")", "/workload/gpu: ", "without a \"model\""},
      {"/workload/training", "{}", "/workload/training: ", "\"model\" is missing"},
      {"/cluster/nic/bandwidth", R"("56Gb/s")", "/cluster/nic/bandwidth: ", "Gbit/s"},
      {"/cluster/nodes", "0", "/cluster/nodes: ", "from 1"},
      {"/cluster/nodes", "-1", "/cluster/nodes: ", "from 1"},
      {"/cluster/nodes", "2.5", "/cluster/nodes: ", "whole number"},
      {"/cluster/nodes", "1000000000", "/cluster/nodes: ", "1048576"},
      {"/cluster/nodes", "1048576", "/cluster/gpus_per_node: ", "1048576 workers in all"},
      {"/cluster/gpus_per_node", "[2, 0]", "/cluster/gpus_per_node/1: ", "from 1"},
      {"/cluster/gpus_per_node", "[2, 2, 2]", "/cluster/nodes: ", "3, the length"},
      {"/cluster/fabric/kind", R"("switcht")", "/cluster/fabric/kind: ", "nearest: \"switched\""},
      {"/cluster/collective", R"("rng")", "/cluster/collective: ", "nearest: \"ring\""},
      {"/cluster/collective", R"({"measured": [[8, 1], [8, 2]]})",
       "/cluster/collective/measured/1/0: ", "strictly"},
      {"/cluster/collective", R"({"measured": "none.json"})",
       "/cluster/collective/measured: ", "no such file"},
      {"/cluster/overrides", R"([{"node": 2, "nic_latency": "1us"}])",
       "/cluster/overrides/0/node: ", "from 0 to 1"},
      {"/cluster/overrides", R"([{"worker": 1, "nic_latency": "1us"}])",
       "/cluster/overrides/0/nic_latency: ", "node"},
      {"/cluster/overrides",
       R"([{"node": 1, "nic_latency": "1us"}, {"node": 1, "nic_latency": "2us"}])",
       "/cluster/overrides/1/nic_latency: ", "given before for node 1"},
      {"/name", R"("a\nb")", "/name: ", "on one line"},
      {"/name", R"("")", "/name: ", "1 to 200 bytes"},
      {"/policies/1", R"({"kind": "smart", "label": "a\tb"})",
       "/policies/1/label: ", "on one line"},
      {"/cluster/links", R"([{"from": 0, "to": 1, "bandwidth": "1GB/s"}])",
       "/cluster/links: ", "either"},
      {"/stragglers/0/probability", "1.5", "/stragglers/0/probability: ", "from 0 to 1"},
      {"/stragglers/0/probability", "-0.1", "/stragglers/0/probability: ", "from 0 to 1"},
      {"/stragglers/0/probability", R"("5/n")", "/stragglers/0/probability: ", "from 0 to 1"},
      {"/stragglers/0/factor", "0", "/stragglers/0/factor: ", "from 1"},
      {"/stragglers/0/kind", R"("bernouli")", "/stragglers/0/kind: ", "nearest: \"bernoulli\""},
      {"/stragglers/0", R"({"kind": "fixed", "workers": [4], "factor": 2})",
       "/stragglers/0/workers/0: ", "from 0 to 3"},
      {"/stragglers/0", R"({"kind": "link", "nodes": [0], "enter": 1, "leave": 1, "factor": 0.5})",
       "/stragglers/0/factor: ", "from 1"},
      {"/stragglers/0", R"({"kind": "trace", "file": "none.csv"})",
       "/stragglers/0/file: ", "none.csv"},
      {"/policies", R"([{"kind":"smart","inter_intra":true,"group_buffer":false}])",
       "/policies/0/inter_intra: ", "nothing to divide"},
      {"/policies", R"([{"kind":"random","vocabulary":65537}])",
       "/policies/0/vocabulary: ", "65536"},
      {"/policies", R"([{"kind":"parameter-server","servers":65537}])",
       "/policies/0/servers: ", "65536"},
      {"/policies", "[]", "/policies: ", "at least one"},
      {"/policies/0", R"("all-reduc")", "/policies/0: ", "nearest: \"all-reduce\""},
      {"/policies/1/treshold", "3", "/policies/1/treshold: ", "nearest: \"threshold\""},
      {"/policies/1/group_size", "5", "/policies/1/group_size: ", ""},
      {"/policies/1/order", R"("update_then_avrage")",
       "/policies/1/order: ", "nearest: \"update_then_average\""},
      {"/policies/1/what", R"("gradients")", "/policies/1/what: ", "unknown key"},
      {"/policies/0", R"({"kind": "all-reduce", "overlap": true, "what": "models"})",
       "/policies/0/what: ", "allowed: \"gradients\""},
      {"/policies/1", R"("all-reduce")", "/policies/1: ", "is taken by /policies/0"},
      {"/policies/1", R"({"kind": "smart", "label": "all-reduce"})",
       "/policies/1/label: ", "is taken"},
      {"/policies/1", R"({"kind": "static", "phases": [[[0, 1], [1, 2]]]})", "/policies/1/phases/0",
       ""},
      {"/policies/1", R"({"kind": "static", "phases": [[[0, 4]]]})", "/policies/1/phases/0", ""},
      {"/stop", "{}", "/stop: ", "at least one"},
      {"/stop/loss", "0.5", "/stop/loss: ", "/workload/training is missing"},
      {"/stop", R"({"loss": 0.5})", "/stop: ", "at least one of steps_per_worker"},
      {"/stop/seconds", "10", "/stop/seconds: ", "without a unit"},
      {"/stop/steps_per_worker", "0", "/stop/steps_per_worker: ", "from 1"},
      {"/seeds", "[1, 1]", "/seeds/1: ", "each seed once"},
      {"/seeds", "[]", "/seeds: ", "at least one"},
      {"/seeds", "[-1]", "/seeds/0: ", "from 0"},
      {"/seeds", "[9223372036854775808]", "/seeds/0: ", "9223372036854775807"},
      {"/measure", "{}", "/measure: ", "/workload/training is missing"},
      {"/run", R"({"backend": "gloo"})", "/run/backend: ", "mpi"},
      {"/run", R"({"start_limit": "0s"})", "/run/start_limit: ", "0"},
      {"/run", R"({"nodes": 3})", "/run/nodes: ", "hosts"},
      {"/run", R"({"on_los": "fail"})", "/run/on_los: ", "on_loss"},
  };
  for (const auto& wrong : cases) {
    const auto message = refusal_of_change(wrong.pointer, wrong.value);
    CAPTURE(wrong.pointer);
    CAPTURE(wrong.value);
    CAPTURE(message);
    CHECK(message.starts_with(wrong.place));
    CHECK(message.find(wrong.words) != std::string::npos);
  }
}

TEST_CASE("spec: values that are right are taken") {
  const std::pair<const char*, const char*> cases[] = {
      {"/workload/interference", "0.1"},
      {"/cluster/gpus_per_node", "[1, 3]"},
      {"/cluster/collective", R"({"measured": [[1024, 1.5], [1048576, 5]]})"},
      {"/cluster/overrides",
       R"([{"node": 1, "nic_bandwidth": "1GB/s"}, {"worker": 0, "compute_factor": 2}])"},
      {"/cluster/communicator", R"({"setup": "150ms", "cache": 60})"},
      {"/stragglers", R"([])"},
      {"/stragglers/0",
       R"({"kind": "burst", "enter": 0.01, "leave": "1/4", "factor": 3, "scope": "node"})"},
      {"/stragglers/0",
       R"({"kind": "jitter", "distribution": "pareto", "shape": 2.5, "scale": "1ms"})"},
      {"/policies/1/threshold", "null"},
      {"/policies/1", R"({"kind": "static", "phases": [[[0, 1], [2, 3]], [[0, 2]]]})"},
      {"/stop", R"({"seconds": "3s"})"},
  };
  for (const auto& [pointer, value] : cases) {
    CAPTURE(pointer);
    CHECK(refusal_of_change(pointer, value) == "");
  }
}

TEST_CASE("spec: a probability of 1/n is one over the number of workers") {
  SpecFiles files(".");
  const auto cell = read_cell(base_spec(), files);
  CHECK(std::get<Bernoulli>(cell.stragglers[0].model).probability == 0.25);
}

TEST_CASE("spec: a graph of links joins all nodes, or is refused") {
  auto document = base_spec();
  SpecFiles files(".");
  document["cluster"].erase("nic");
  document["cluster"]["links"] = Json::parse(R"([{"from": 0, "to": "s", "bandwidth": "1GB/s"}])");
  CHECK_THROWS_WITH_AS(static_cast<void>(read_cell(document, files)),
                       "/cluster/links: no path of links joins node 0 and node 1", InputError);
  document["cluster"]["links"].push_back(
      Json::parse(R"({"from": "s", "to": 1, "bandwidth": "1GB/s"})"));
  CHECK(read_cell(document, files).cluster.links.size() == 2);
}

TEST_CASE("spec: text that is not JSON is refused with line and column") {
  const auto message = [](const std::string& text) -> std::string {
    try {
      static_cast<void>(parse_json(text, "f"));
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(message("").starts_with("f: the file is empty"));
  CHECK(message("{\n  \"a\": NaN\n}").starts_with("f:2:"));
  CHECK(message("{\"a\": 1").starts_with("f:1:"));
  CHECK(message("{\"a\": 1e999}").starts_with("f:1:"));
  CHECK(message("{\"a\": 1,\n \"a\": 2}").starts_with("f:2:4: key \"a\" stands twice"));
  CHECK(message(std::string("{\"a\": 1}\n\0 not JSON", 18))
            .starts_with("f:2:1: not JSON: found a NUL"));
  CHECK(
      message(std::string("\xff\xfe{\0}\0", 6)).starts_with("f:1:1: not JSON: the text is UTF-16"));
  CHECK(message("\"\xff\"").starts_with("f:1:"));
  CHECK(message(std::string(100'000, '[')).find("deeper than 64") != std::string::npos);
  CHECK(message("{\"a\": 1 // a remark\n}") == "");
}

TEST_CASE("spec: a worker's own compute factor replaces that of its node, in any order") {
  for (const char* overrides :
       {R"([{"node": 0, "compute_factor": 2}, {"worker": 1, "compute_factor": 3}])",
        R"([{"worker": 1, "compute_factor": 3}, {"node": 0, "compute_factor": 2}])"}) {
    auto document = base_spec();
    SpecFiles files(".");
    document["cluster"]["overrides"] = Json::parse(overrides);
    const auto factors = read_cell(document, files).cluster.compute_factor;
    CHECK(factors == std::vector<double>{2, 3, 1, 1});
  }
}

TEST_CASE("nearest name: a name that begins with what was found comes first") {
  const std::string_view names[] = {"kind", "scope", "probability"};
  CHECK(nearest_name("prob", names) == "probability");
  CHECK(nearest_name("Prob", names) == "probability");
  CHECK(nearest_name("pr", names) == "kind");
}

TEST_CASE("nearest name: swaps, case and missing letters are near") {
  CHECK(edit_distance("compuet", "compute") == 1);
  CHECK(edit_distance("Smart", "smart") == 0);
  CHECK(edit_distance("", "abc") == 3);
  const std::string_view names[] = {"latency", "bandwidth"};
  CHECK(nearest_name("bandwith", names) == "bandwidth");
}

}  // namespace
}  // namespace cohort
