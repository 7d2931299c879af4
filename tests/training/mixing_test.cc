// The closed forms of SEMANTICS 4 against matrices averaged over every outcome.
#include "training/mixing.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include "policies/errors.h"

namespace cohort {
namespace {

std::vector<Member> group(const std::vector<std::uint32_t>& workers) {
  std::vector<Member> members;
  for (const auto w : workers)
    members.push_back({WorkerId{w}, Role::Blocking, 1.0 / static_cast<double>(workers.size())});
  return members;
}

MixingMatrix group_mean(std::uint32_t n, const std::vector<std::uint32_t>& workers) {
  return mixing_matrix(n, SyncKind::GroupMean, group(workers));
}

MixingMatrix pair_mean(std::uint32_t n, std::uint32_t a, std::uint32_t b) {
  const Member pair[] = {{WorkerId{a}, Role::Blocking, 0.5}, {WorkerId{b}, Role::Passive, 0.5}};
  return mixing_matrix(n, SyncKind::PairMean, pair);
}

// All neighbour mixes of one step on a ring of at least 3, weights 1/3.
MixingMatrix ring_mix(std::uint32_t n) {
  MixingMatrix round(n, n);
  for (std::uint32_t w = 0; w < n; ++w) {
    const Member mix[] = {{WorkerId{w}, Role::Blocking, 1.0 / 3},
                          {WorkerId{(w + n - 1) % n}, Role::Source, 1.0 / 3},
                          {WorkerId{(w + 1) % n}, Role::Source, 1.0 / 3}};
    round.row(w) = mixing_matrix(n, SyncKind::NeighbourMix, mix).row(w);
  }
  return round;
}

bool doubly_stochastic(const MixingMatrix& matrix) {
  return (matrix.rowwise().sum().array() - 1).abs().maxCoeff() < 1e-12 &&
         (matrix.colwise().sum().array() - 1).abs().maxCoeff() < 1e-12 && matrix.minCoeff() >= 0;
}

class Mean {
 public:
  explicit Mean(std::uint32_t n) : sum_(MixingMatrix::Zero(n, n)) {}
  void add(const MixingMatrix& w) {
    sum_ += w.transpose() * w;
    ++count_;
  }
  [[nodiscard]] MixingMatrix value() const { return sum_ / count_; }

 private:
  MixingMatrix sum_;
  int count_ = 0;
};

// E[W'W] over all groups of `size` among n.
MixingMatrix mean_over_groups(std::uint32_t n, std::uint32_t size) {
  Mean mean(n);
  std::vector<bool> in(n);
  std::fill(in.begin(), in.begin() + size, true);
  do {
    std::vector<std::uint32_t> workers;
    for (std::uint32_t w = 0; w < n; ++w)
      if (in[w]) workers.push_back(w);
    mean.add(group_mean(n, workers));
  } while (std::prev_permutation(in.begin(), in.end()));
  return mean.value();
}

// E[W'W] over all orders of n, cut into groups of `size`; a leftover of one joins the last.
MixingMatrix mean_over_divisions(std::uint32_t n, std::uint32_t size) {
  Mean mean(n);
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0U);
  do {
    MixingMatrix w = MixingMatrix::Identity(n, n);
    for (std::uint32_t first = 0; first < n;) {
      auto last = std::min(first + size, n);
      if (size > 1 && last + 1 == n) last = n;
      w = group_mean(n, {order.begin() + first, order.begin() + last}) * w;
      first = last;
    }
    mean.add(w);
  } while (std::next_permutation(order.begin(), order.end()));
  return mean.value();
}

// E[W'W] over all choices of one head on each of `nodes` nodes of `per_node`; inter phase, then
// intra phase.
MixingMatrix mean_over_heads(std::uint32_t nodes, std::uint32_t per_node) {
  const auto n = nodes * per_node;
  MixingMatrix intra = MixingMatrix::Identity(n, n);
  for (std::uint32_t node = 0; node < nodes; ++node) {
    std::vector<std::uint32_t> all(per_node);
    std::iota(all.begin(), all.end(), node * per_node);
    intra = group_mean(n, all) * intra;
  }
  Mean mean(n);
  std::vector<std::uint32_t> head(nodes, 0);
  for (bool more = true; more;) {
    std::vector<std::uint32_t> heads;
    MixingMatrix inter = MixingMatrix::Identity(n, n);
    for (std::uint32_t node = 0; node < nodes; ++node) {
      heads.push_back(node * per_node + head[node]);
      std::vector<std::uint32_t> rest;
      for (std::uint32_t local = 0; local < per_node; ++local)
        if (local != head[node]) rest.push_back(node * per_node + local);
      inter = group_mean(n, rest) * inter;
    }
    mean.add(intra * group_mean(n, heads) * inter);
    std::uint32_t node = 0;
    while (node < nodes && ++head[node] == per_node) head[node++] = 0;
    more = node < nodes;
  }
  return mean.value();
}

}  // namespace

TEST_CASE("mixing: group, pair and neighbour matrices are doubly stochastic") {
  CHECK(doubly_stochastic(group_mean(7, {1, 4, 5})));
  CHECK(doubly_stochastic(pair_mean(5, 0, 3)));
  CHECK(doubly_stochastic(ring_mix(6)));
}

TEST_CASE("mixing: constants stay constant and the mean of all is kept") {
  Eigen::VectorXd x(6);
  x << 3, -1, 4, 1.5, -9, 2;
  const Eigen::VectorXd constant = Eigen::VectorXd::Constant(6, 2.5);
  for (const auto& w : {group_mean(6, {0, 2, 5}), pair_mean(6, 1, 4), ring_mix(6)}) {
    CHECK((w * constant - constant).cwiseAbs().maxCoeff() < 1e-15);
    CHECK((w * x).mean() == doctest::Approx(x.mean()).epsilon(1e-12));
  }
}

TEST_CASE("mixing: a group mean gives its members their mean and leaves the others alone") {
  const Eigen::Vector4d x(1, 2, 3, 6);
  CHECK((group_mean(4, {0, 2, 3}) * x - Eigen::Vector4d(10.0 / 3, 2, 10.0 / 3, 10.0 / 3))
            .cwiseAbs()
            .maxCoeff() < 1e-14);
}

TEST_CASE("mixing: a forwarder carries data and is not changed") {
  auto members = group({0, 1});
  members.push_back({WorkerId{2}, Role::Forwarder, 0});
  const auto w = mixing_matrix(3, SyncKind::GroupMean, members);
  CHECK((w - group_mean(3, {0, 1})).cwiseAbs().maxCoeff() == 0);
}

TEST_CASE("mixing: a push changes no parameters, a pull gives the servers' to its worker") {
  const Member exchange[] = {{WorkerId{1}, Role::Blocking, 1}, {WorkerId{3}, Role::Server, 0}};
  const Eigen::Vector4d x(1, 2, 3, 10);
  CHECK(mixing_matrix(3, SyncKind::ServerPush, exchange) * x == x);
  CHECK(mixing_matrix(3, SyncKind::ServerPull, exchange) * x == Eigen::Vector4d(1, 10, 3, 10));
}

TEST_CASE("mixing: a lone worker changes nothing") {
  CHECK(group_mean(1, {0}) == MixingMatrix::Identity(1, 1));
  CHECK(mixing_rate(MixingMatrix::Identity(1, 1)) == 0);
  CHECK(one_group_rate(1, 4) == 0);
  CHECK(division_rate(1, 4) == 0);
  CHECK(uniform_pair_rate(1) == 0);
  CHECK(ring_edge_rate(1) == 0);
  CHECK(ring_mix_rate(1) == 0);
}

TEST_CASE("mixing: a member that is no worker is refused") {
  CHECK_THROWS_AS(group_mean(2, {0, 2}), ContractError);
}

TEST_CASE("mixing: all-reduce, rho 0") {
  CHECK(mixing_rate(group_mean(4, {0, 1, 2, 3})) < 1e-14);
  CHECK(one_group_rate(16, 16) == 0);
}

TEST_CASE("mixing: one random group of g, rho (n-g)/(n-1)") {
  for (const std::uint32_t n : {4U, 7U, 9U})
    for (std::uint32_t g = 1; g <= n; ++g)
      CHECK(mixing_rate(mean_over_groups(n, g)) ==
            doctest::Approx(static_cast<double>(n - g) / (n - 1)).epsilon(1e-12));
  CHECK(one_group_rate(7, 3) == doctest::Approx(4.0 / 6).epsilon(1e-12));
  CHECK(one_group_rate(16, 2) == doctest::Approx(.93333).epsilon(1e-5));
  CHECK(one_group_rate(16, 4) == doctest::Approx(.8).epsilon(1e-12));
  CHECK(mixing_rate(mean_over_groups(16, 4)) == doctest::Approx(.8).epsilon(1e-12));
}

TEST_CASE("mixing: division of all n into groups of g, rho (n-g)/(g(n-1))") {
  for (const std::uint32_t g : {1U, 2U, 3U, 6U}) {
    const double rho = static_cast<double>(6 - g) / (g * 5);
    CHECK(mixing_rate(mean_over_divisions(6, g)) == doctest::Approx(rho).epsilon(1e-12));
    CHECK(division_rate(6, g) == doctest::Approx(rho).epsilon(1e-12));
  }
  CHECK(division_rate(16, 2) == doctest::Approx(.46667).epsilon(1e-5));
  CHECK(division_rate(16, 4) == doctest::Approx(.2).epsilon(1e-12));
  CHECK(division_rate(16, 8) == doctest::Approx(.06667).epsilon(1e-4));
}

TEST_CASE("mixing: division with a leftover") {
  for (const std::uint32_t n : {5U, 7U})
    for (const std::uint32_t g : {2U, 3U, 4U, 5U, 6U})
      CHECK(mixing_rate(mean_over_divisions(n, g)) ==
            doctest::Approx(division_rate(n, g)).epsilon(1e-12));
}

TEST_CASE("mixing: one uniform pair of the complete graph, rho (n-2)/(n-1)") {
  for (const std::uint32_t n : {3U, 8U, 16U}) {
    Mean mean(n);
    for (std::uint32_t a = 0; a < n; ++a)
      for (std::uint32_t b = 0; b < a; ++b) mean.add(pair_mean(n, a, b));
    CHECK(mixing_rate(mean.value()) ==
          doctest::Approx(static_cast<double>(n - 2) / (n - 1)).epsilon(1e-12));
    CHECK(uniform_pair_rate(n) ==
          doctest::Approx(static_cast<double>(n - 2) / (n - 1)).epsilon(1e-12));
  }
  CHECK(uniform_pair_rate(16) == doctest::Approx(.93333).epsilon(1e-5));
}

TEST_CASE("mixing: one uniform pair of the complete bipartite graph, rho 1-1/n") {
  for (const std::uint32_t n : {4U, 7U, 16U}) {
    Mean mean(n);
    for (std::uint32_t a = 0; a < n; a += 2)
      for (std::uint32_t b = 1; b < n; b += 2) mean.add(pair_mean(n, a, b));
    CHECK(mixing_rate(mean.value()) ==
          doctest::Approx(bipartite_pair_rate((n + 1) / 2, n / 2)).epsilon(1e-12));
    if (n % 2 == 0) CHECK(mixing_rate(mean.value()) == doctest::Approx(1 - 1.0 / n).epsilon(1e-12));
  }
  CHECK(bipartite_pair_rate(8, 8) == doctest::Approx(.9375).epsilon(1e-12));
}

TEST_CASE("mixing: one uniform edge of a ring, rho 1-(1-cos(2 pi/n))/n") {
  for (const std::uint32_t n : {3U, 5U, 8U, 16U}) {
    Mean mean(n);
    for (std::uint32_t a = 0; a < n; ++a) mean.add(pair_mean(n, a, (a + 1) % n));
    CHECK(mixing_rate(mean.value()) == doctest::Approx(ring_edge_rate(n)).epsilon(1e-12));
  }
  CHECK(ring_edge_rate(16) == doctest::Approx(.99524).epsilon(1e-5));
}

TEST_CASE("mixing: D-PSGD ring, all workers once, rho ((1+2cos(2 pi/n))/3)^2") {
  for (const std::uint32_t n : {3U, 4U, 5U, 9U, 16U})
    CHECK(std::abs(squared_rate(ring_mix(n)) - ring_mix_rate(n)) < 1e-12);
  CHECK(ring_mix_rate(16) == doctest::Approx(.90108).epsilon(1e-5));
}

TEST_CASE("mixing: smart, everybody idle, heads in one group, rho ((L-1)/L)^2") {
  for (const auto& [nodes, per_node] : {std::pair{4U, 2U}, {2U, 4U}, {4U, 4U}, {2U, 8U}}) {
    const double kept = 1 - 1.0 / per_node;
    CHECK(mixing_rate(mean_over_heads(nodes, per_node)) ==
          doctest::Approx(kept * kept).epsilon(1e-12));
    CHECK(inter_intra_rate(per_node) == doctest::Approx(kept * kept).epsilon(1e-12));
  }
  CHECK(inter_intra_rate(4) == .5625);
}

TEST_CASE(
    "mixing: the mean squared consensus distance shrinks by exactly rho for one random group") {
  Eigen::VectorXd x(7);
  x << 5, -2, 0.5, 3, -7, 1, 2;
  const auto distance = [](const Eigen::VectorXd& y) {
    return (y.array() - y.mean()).matrix().squaredNorm();
  };
  double sum = 0;
  int count = 0;
  for (std::uint32_t a = 0; a < 7; ++a)
    for (std::uint32_t b = 0; b < a; ++b)
      for (std::uint32_t c = 0; c < b; ++c) {
        sum += distance(group_mean(7, {a, b, c}) * x);
        ++count;
      }
  CHECK(sum / count / distance(x) == doctest::Approx(one_group_rate(7, 3)).epsilon(1e-12));
}

TEST_CASE("mixing: the squared consensus distance shrinks by at most rho over a fixed round") {
  const auto w = ring_mix(9);
  Eigen::VectorXd x(9);
  x << 5, -2, 0.5, 3, -7, 1, 2, 8, -4;
  x.array() -= x.mean();
  const double shrunk = (w * x).squaredNorm() / x.squaredNorm();
  CHECK(shrunk <= ring_mix_rate(9) + 1e-12);
  Eigen::VectorXd wave(9);
  for (int i = 0; i < 9; ++i) wave(i) = std::cos(2 * 3.141592653589793 * i / 9);
  CHECK((w * wave).squaredNorm() / wave.squaredNorm() ==
        doctest::Approx(ring_mix_rate(9)).epsilon(1e-12));
}

}  // namespace cohort
