#include "training/mixing.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "policies/errors.h"

namespace cohort {
namespace {

bool changes(Role role) { return role != Role::Forwarder && role != Role::Source; }

MixingMatrix server_matrix(std::uint32_t workers, SyncKind kind, std::span<const Member> members) {
  MixingMatrix matrix = MixingMatrix::Identity(workers + 1, workers + 1);
  if (kind == SyncKind::ServerPush) return matrix;
  for (const auto& member : members) {
    if (member.role == Role::Server) continue;
    matrix.row(index(member.worker)).setZero();
    matrix(index(member.worker), workers) = 1;
  }
  return matrix;
}

MixingMatrix without_mean(const MixingMatrix& matrix) {
  return matrix.array() - 1.0 / static_cast<double>(matrix.rows());
}

}  // namespace

MixingMatrix mixing_matrix(std::uint32_t workers, SyncKind kind, std::span<const Member> members) {
  for (const auto& member : members)
    if (member.role != Role::Server && index(member.worker) >= workers)
      throw ContractError("mixing matrix: member " + std::to_string(index(member.worker)) + " of " +
                          std::to_string(workers) + " workers");
  if (kind == SyncKind::ServerPush || kind == SyncKind::ServerPull)
    return server_matrix(workers, kind, members);
  MixingMatrix matrix = MixingMatrix::Identity(workers, workers);
  for (const auto& receiver : members) {
    if (!changes(receiver.role)) continue;
    matrix.row(index(receiver.worker)).setZero();
    for (const auto& giver : members)
      matrix(index(receiver.worker), index(giver.worker)) += giver.weight;
  }
  return matrix;
}

namespace {

// The solvers leave rounding noise where a rate is 0.
double without_noise(double rate) { return rate < 1e-14 ? 0 : rate; }

}  // namespace

double mixing_rate(const MixingMatrix& mean_of_squares) {
  const Eigen::SelfAdjointEigenSolver<MixingMatrix> solver(without_mean(mean_of_squares),
                                                           Eigen::EigenvaluesOnly);
  return without_noise(solver.eigenvalues().cwiseAbs().maxCoeff());
}

double squared_rate(const MixingMatrix& product) {
  return mixing_rate(product.transpose() * product);
}

double spectral_radius(const MixingMatrix& product) {
  const Eigen::EigenSolver<MixingMatrix> solver(without_mean(product), false);
  return without_noise(solver.eigenvalues().cwiseAbs().maxCoeff());
}

double one_group_rate(std::uint32_t workers, std::uint32_t group_size) {
  if (group_size >= workers) return 0;
  return static_cast<double>(workers - group_size) / (workers - 1);
}

double division_rate(std::uint32_t workers, std::uint32_t group_size) {
  if (group_size >= workers) return 0;
  const auto leftover = workers % group_size;
  const auto groups = workers / group_size + (leftover > 1 ? 1 : 0);
  return static_cast<double>(groups - 1) / (workers - 1);
}

double uniform_pair_rate(std::uint32_t workers) { return one_group_rate(workers, 2); }

// Laplacian of the complete bipartite graph: second smallest eigenvalue min(a, p), a p edges.
double bipartite_pair_rate(std::uint32_t active, std::uint32_t passive) {
  if (active + passive < 3) return 0;
  return 1 - 1.0 / (2.0 * std::max(active, passive));
}

double ring_edge_rate(std::uint32_t workers) {
  if (workers < 3) return 0;
  return 1 - (1 - std::cos(2 * std::numbers::pi / workers)) / workers;
}

double ring_mix_rate(std::uint32_t workers) {
  if (workers == 1) return 0;
  const double second = (1 + 2 * std::cos(2 * std::numbers::pi / workers)) / 3;
  return second * second;
}

double inter_intra_rate(std::uint32_t per_node) {
  const double kept = 1 - 1.0 / per_node;
  return kept * kept;
}

}  // namespace cohort
