#include "experiments/resolved.h"

#include <algorithm>

#include "experiments/resolved_training.h"

namespace cohort {
namespace {

template <typename... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};

template <typename Value>
Json value_or_list(const std::vector<Value>& values) {
  const bool equal = std::all_of(values.begin(), values.end(),
                                 [&](const Value& value) { return value == values.front(); });
  if (equal && !values.empty()) return values.front();
  return values;
}

template <typename Value>
Json json_or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json json_or_null(const std::optional<Time>& value) {
  return value ? Json(value->count()) : Json(nullptr);
}

Json link_json(const GraphLink& link) {
  const auto end = [](const GraphLink::End& at) {
    return std::visit([](const auto& value) { return Json(value); }, at);
  };
  return {{"name", link.name},
          {"from", end(link.from)},
          {"to", end(link.to)},
          {"bandwidth_bytes_per_second", link.bandwidth},
          {"latency_ns", link.latency.count()}};
}

Json collective_json(const std::variant<Collective, MeasuredCurve>& collective) {
  constexpr const char* kNames[] = {"ring", "tree", "hierarchical", "auto"};
  if (const auto* kind = std::get_if<Collective>(&collective))
    return kNames[static_cast<std::size_t>(*kind)];
  return {{"measured_bytes_per_second", std::get<MeasuredCurve>(collective).bus_bandwidth}};
}

Json cluster_json(const ClusterSpec& cluster) {
  std::vector<std::int64_t> nic_latency;
  for (const auto latency : cluster.nic_latency) nic_latency.push_back(latency.count());
  Json links = Json::array();
  for (const auto& link : cluster.links) links.push_back(link_json(link));
  return {{"nodes", cluster.gpus_per_node.size()},
          {"gpus_per_node", value_or_list(cluster.gpus_per_node)},
          {"nic_bandwidth_bytes_per_second", value_or_list(cluster.nic_bandwidth)},
          {"nic_latency_ns", value_or_list(nic_latency)},
          {"nic_acknowledgements", cluster.nic_acknowledgements},
          {"nic_window", cluster.nic_window},
          {"nics_per_node", cluster.nics_per_node},
          {"fabric", cluster.fabric == FabricKind::Switched ? "switched" : "shared"},
          {"fabric_bandwidth_bytes_per_second", cluster.fabric_bandwidth},
          {"fabric_latency_ns", cluster.fabric_latency.count()},
          {"core_bandwidth_bytes_per_second", json_or_null(cluster.core_bandwidth)},
          {"host_bandwidth_bytes_per_second", json_or_null(cluster.host_bandwidth)},
          {"memory_bandwidth_bytes_per_second", json_or_null(cluster.memory_bandwidth)},
          {"links", std::move(links)},
          {"collective", collective_json(cluster.collective)},
          {"communicator_setup_ns", cluster.communicator_setup.count()},
          {"communicator_cache", cluster.communicator_cache},
          {"coordination_latency_ns", cluster.coordination_latency.count()},
          {"coordination_service_ns", cluster.coordination_service.count()},
          {"coordination_hosted", cluster.coordination_hosted},
          {"sharing_spread", cluster.sharing_spread},
          {"compute_factor", value_or_list(cluster.compute_factor)}};
}

Json workload_json(const WorkloadSpec& workload) {
  return {{"compute_ns", workload.compute.count()},    {"payload_bytes", workload.payload},
          {"backward_share", workload.backward_share}, {"buckets", workload.buckets},
          {"interference", workload.interference},     {"drain_ns", workload.drain.count()}};
}

Json straggler_json(const StragglerSpec& spec) {
  constexpr const char* kScopes[] = {"worker", "node", "all"};
  Json result = std::visit(
      Overloaded{
          [](const Bernoulli& m) -> Json {
            return {{"kind", "bernoulli"}, {"probability", m.probability}, {"factor", m.factor}};
          },
          [](const Fixed& m) -> Json {
            return {{"kind", "fixed"}, {"workers", m.workers}, {"factor", m.factor}};
          },
          [](const Burst& m) -> Json {
            return {
                {"kind", "burst"}, {"enter", m.enter}, {"leave", m.leave}, {"factor", m.factor}};
          },
          [](const Lognormal& m) -> Json {
            return {{"kind", "jitter"}, {"distribution", "lognormal"}, {"sigma", m.sigma}};
          },
          [](const ShiftedExponential& m) -> Json {
            return {
                {"kind", "jitter"}, {"distribution", "exponential"}, {"mean_ns", m.mean.count()}};
          },
          [](const Pareto& m) -> Json {
            return {{"kind", "jitter"},
                    {"distribution", "pareto"},
                    {"shape", m.shape},
                    {"scale_ns", m.scale.count()}};
          },
          [](const Replay& m) -> Json {
            return {{"kind", "trace"},
                    {"as", m.as == Replay::As::Seconds ? "seconds" : "factor"},
                    {"repeat", m.repeat}};
          }},
      spec.model);
  result["scope"] = kScopes[static_cast<std::size_t>(spec.scope)];
  return result;
}

Json link_straggler_json(const LinkStraggler& link) {
  return {{"kind", "link"},
          {"nodes", link.nodes},
          {"enter_per_second", link.enter_per_second},
          {"leave_per_second", link.leave_per_second},
          {"factor", link.factor}};
}

}  // namespace

Json resolved_json(const OptionValue& value) {
  return std::visit(Overloaded{[](std::monostate) { return Json(nullptr); },
                               [](Time time) { return Json(time.count()); },
                               [](const auto& plain) { return Json(plain); }},
                    value);
}

Json resolved_json(const PolicyChoice& policy) {
  Json options = Json::object();
  for (const auto& [name, value] : policy.options.all()) options[name] = resolved_json(value);
  return {{"kind", policy.entry->name}, {"label", policy.label}, {"options", std::move(options)}};
}

Json resolved_json(const RunSpec& run) {
  return {{"listen", run.listen},
          {"backend", name_of(run.backend)},
          {"on_loss", name_of(run.on_loss)},
          {"start_limit_ns", run.start_limit.count()},
          {"nodes", name_of(run.nodes)}};
}

Json resolved_json(const Cell& cell) {
  Json stragglers = Json::array();
  for (const auto& spec : cell.stragglers) stragglers.push_back(straggler_json(spec));
  for (const auto& link : cell.link_stragglers) stragglers.push_back(link_straggler_json(link));
  Json resolved{{"cluster", cluster_json(cell.cluster)},
                {"workload", workload_json(cell.workload)},
                {"stragglers", std::move(stragglers)},
                {"trace_fingerprints", cell.trace_fingerprints},
                {"stop",
                 {{"steps_per_worker", json_or_null(cell.stop.steps_per_worker)},
                  {"total_steps", json_or_null(cell.stop.total_steps)},
                  {"seconds_ns", json_or_null(cell.stop.seconds)}}},
                {"warmup_steps", json_or_null(cell.warmup_steps)}};
  if (!cell.training) return resolved;
  resolved["training"] = resolved_json(cell.training);
  resolved["stop"]["loss"] = json_or_null(cell.stop.loss);
  return resolved;
}

}  // namespace cohort
