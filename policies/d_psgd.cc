#include "policies/d_psgd.h"

#include <algorithm>
#include <cmath>

#include "policies/errors.h"
#include "policies/sync_table.h"

namespace cohort {
namespace {

class NeighbourAveraging final : public Policy {
 public:
  NeighbourAveraging(MixingWeights weights, const Topology& topology)
      : weights_(std::move(weights)), workers_(topology.workers()) {}

  void step(const Event& event, Actions& out) override {
    switch (event.kind) {
      case EventKind::WorkerReady:
        on_ready(index(event.worker), event.step, out);
        break;
      case EventKind::WorkerLeft:
        on_gone(index(event.worker), Status::Left, out);
        break;
      case EventKind::WorkerLost:
        on_gone(index(event.worker), Status::Lost, out);
        break;
      case EventKind::SyncDone:
        release(take_reader(event.sync), out);
        break;
      case EventKind::SyncFailed: {
        const auto reader = take_reader(event.sync);
        if (workers_[reader].status == Status::Mixing) mix(reader, out);
        break;
      }
      case EventKind::WorkerJoined:
      case EventKind::TimerFired:
        break;
    }
  }

 private:
  enum class Status : std::uint8_t { Computing, Waiting, Mixing, Left, Lost };
  struct Worker {
    std::uint64_t reported = 0;  // ready reports so far: the last one was of step reported - 1
    std::uint32_t missing = 0;   // waiting: live neighbours that have not reported its step
    Status status = Status::Computing;
    [[nodiscard]] bool gone() const { return status == Status::Left || status == Status::Lost; }
  };

  void on_ready(std::uint32_t id, std::uint64_t step, Actions& out) {
    auto& worker = workers_[id];
    worker.status = Status::Waiting;
    worker.reported = step + 1;
    worker.missing = 0;
    for (const auto neighbour : weights_.graph().neighbours(id)) {
      const auto& other = workers_[neighbour];
      if (neighbour != id && !other.gone() && other.reported <= step) ++worker.missing;
    }
    if (worker.missing == 0) mix(id, out);
    for (const auto neighbour : weights_.graph().neighbours(id))
      if (neighbour != id && workers_[neighbour].reported == step + 1)
        no_longer_missing(neighbour, out);
  }

  void on_gone(std::uint32_t id, Status status, Actions& out) {
    auto& worker = workers_[id];
    worker.status = status;
    for (const auto neighbour : weights_.graph().neighbours(id))
      if (neighbour != id && worker.reported < workers_[neighbour].reported)
        no_longer_missing(neighbour, out);
  }

  void no_longer_missing(std::uint32_t id, Actions& out) {
    auto& worker = workers_[id];
    if (worker.status == Status::Waiting && --worker.missing == 0) mix(id, out);
  }

  [[nodiscard]] bool is_source(std::uint32_t candidate, std::uint32_t reader) const {
    const auto& other = workers_[candidate];
    return candidate != reader && other.status != Status::Lost &&
           other.reported >= workers_[reader].reported && weights_.weight(reader, candidate) > 0;
  }

  void mix(std::uint32_t reader, Actions& out) {
    const auto neighbours = weights_.graph().neighbours(reader);
    double own = 1;
    bool alone = true;
    for (const auto source : neighbours) {
      if (!is_source(source, reader)) continue;
      own -= weights_.weight(reader, source);
      alone = false;
    }
    if (alone) return release(reader, out);
    workers_[reader].status = Status::Mixing;
    const SyncId id{next_sync_++};
    readers_.insert(id, reader);
    out.start(id, SyncKind::NeighbourMix, workers_[reader].reported - 1);
    out.add_member(WorkerId{reader}, Role::Blocking, own);
    for (const auto source : neighbours)
      if (is_source(source, reader))
        out.add_member(WorkerId{source}, Role::Source, weights_.weight(reader, source));
  }

  void release(std::uint32_t id, Actions& out) {
    workers_[id].status = Status::Computing;
    out.release(WorkerId{id});
  }

  std::uint32_t take_reader(SyncId id) {
    const auto reader = *readers_.find(id);
    readers_.erase(id);
    return reader;
  }

  MixingWeights weights_;
  std::vector<Worker> workers_;
  SyncTable<std::uint32_t> readers_;  // of the live mixes
  std::uint64_t next_sync_ = 0;
};

constexpr double kTolerance = 1e-9;

void check_row(const Matrix& weights, std::size_t i, const Graph& graph) {
  const auto where = "/weights/" + std::to_string(i);
  const auto n = weights.size();
  if (weights[i].size() != n)
    throw InputError(where, "found " + std::to_string(weights[i].size()) + " numbers; a row has " +
                                std::to_string(n) + ", one per worker");
  double row = 0;
  for (std::size_t j = 0; j < n; ++j) {
    const auto weight = weights[i][j];
    const auto place = where + "/" + std::to_string(j);
    if (!(weight >= 0 && weight <= 1))
      throw InputError(place, "found " + std::to_string(weight) + "; a weight is from 0 to 1");
    if (weight > 0 && i != j &&
        !graph.adjacent(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j)))
      throw InputError(place, "gives weight to a worker that is no neighbour in \"graph\"");
    row += weight;
  }
  if (std::abs(row - 1) > kTolerance)
    throw InputError(where, "sums to " + std::to_string(row) + "; the weights of a row sum to 1");
}

void check_weights(const Matrix& weights, const Graph& graph) {
  if (weights.size() != graph.workers())
    throw InputError("/weights", "found " + std::to_string(weights.size()) + " rows; there are " +
                                     std::to_string(graph.workers()) + " workers");
  for (std::size_t i = 0; i < weights.size(); ++i) check_row(weights, i, graph);
  for (std::size_t j = 0; j < weights.size(); ++j) {
    double column = 0;
    for (const auto& row : weights) column += row[j];
    if (std::abs(column - 1) > kTolerance)
      throw InputError("/weights", "column " + std::to_string(j) + " sums to " +
                                       std::to_string(column) +
                                       "; columns sum to 1 too, so that the mean is kept");
  }
}

void check_d_psgd(const Options& options, const Topology& topology) {
  const auto& graph = options.all().at("graph");
  check_graph(graph, topology);
  if (const auto weights = options.maybe<Matrix>("weights"))
    check_weights(*weights, Graph(graph, topology));
}

}  // namespace

MixingWeights::MixingWeights(const Options& options, const Topology& topology)
    : graph_(options.all().at("graph"), topology),
      given_(options.maybe<Matrix>("weights").value_or(Matrix{})),
      ring_of_two_(topology.workers() == 2 &&
                   options.all().at("graph") == OptionValue(std::string("ring"))) {}

double MixingWeights::weight(std::uint32_t reader, std::uint32_t source) const {
  if (!given_.empty()) return given_[reader][source];
  if (ring_of_two_) return 2.0 / 3;
  return 1.0 / (1 + std::max(graph_.degree(reader), graph_.degree(source)));
}

PolicyEntry d_psgd_entry() {
  return {
      .name = "d-psgd",
      .where = Where::Local,
      .rule = "Every worker mixes with its neighbours in a fixed graph, once a step.",
      .source = "[Lian 2017]",
      .options = {graph_option("ring"),
                  {.name = "weights",
                   .type = OptionType::Weights,
                   .nullable = true,
                   .description = "mixing matrix, doubly stochastic, positive only along edges of "
                                  "the graph; null: Metropolis-Hastings",
                   .source = "[Xiao 2004]"},
                  order_option(),
                  endpoint_bandwidth_option()},
      .reads_neighbours = true,
      .make = [](const Options& options, const Topology& topology,
                 std::uint64_t) -> std::unique_ptr<Policy> {
        return std::make_unique<NeighbourAveraging>(MixingWeights(options, topology), topology);
      },
      .check = check_d_psgd};
}

}  // namespace cohort
