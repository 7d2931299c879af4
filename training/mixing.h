// Mixing matrices and how fast they bring replicas together; on Eigen, in double precision.
//
// Convention: x holds one number per worker in a column, a synchronisation maps x to W x, and row i
// of W says what worker i ends with. Products are written as they act: P = W_k ... W_1. J is the
// matrix of ones. The squared consensus distance |x - mean|^2 shrinks by the factor rho = largest
// |eigenvalue| of E[W'W] - J/n: exactly for exchangeable schemes, at least as fast otherwise
// ([SEMANTICS 4], [Boyd 2006]). Group, pair and complete neighbour rounds are doubly stochastic.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <span>

#include "policies/synchronisation.h"

namespace cohort {

using MixingMatrix = Eigen::MatrixXd;

// Matrix of one synchronisation of n workers. Group and pair mean: all members but forwarders and
// sources end with the weighted mean. Neighbour mix: the reader's row alone. Server kinds act on n
// + 1 numbers, the last one being the servers': a push changes no parameters, a pull gives its
// worker the servers'. Throws ContractError when a member is not below n and not a server.
[[nodiscard]] MixingMatrix mixing_matrix(std::uint32_t workers, SyncKind kind,
                                         std::span<const Member> members);

// rho for the mean of W'W, symmetric, n by n.
[[nodiscard]] double mixing_rate(const MixingMatrix& mean_of_squares);

// rho of the product P of one period: the second largest eigenvalue of P'P.
[[nodiscard]] double squared_rate(const MixingMatrix& product);

// Largest |eigenvalue| of P - J/n: the decay per period in the long run.
[[nodiscard]] double spectral_radius(const MixingMatrix& product);

// Closed forms of SEMANTICS 4; n at least 1. A lone worker has rate 0.
[[nodiscard]] double one_group_rate(std::uint32_t workers, std::uint32_t group_size);
// All n cut into groups of `group_size` at random, a leftover of one joining the last group:
// (groups - 1)/(n - 1).
[[nodiscard]] double division_rate(std::uint32_t workers, std::uint32_t group_size);
// One edge of the complete graph; g = 2 of one_group_rate.
[[nodiscard]] double uniform_pair_rate(std::uint32_t workers);
// One edge of the complete bipartite graph of `active` and `passive` workers.
[[nodiscard]] double bipartite_pair_rate(std::uint32_t active, std::uint32_t passive);
[[nodiscard]] double ring_edge_rate(std::uint32_t workers);
// D-PSGD on a ring with weights 1/3, all workers once.
[[nodiscard]] double ring_mix_rate(std::uint32_t workers);
// `smart`, everybody idle, one inter and one intra phase, all heads together, `per_node` workers on
// each of several nodes.
[[nodiscard]] double inter_intra_rate(std::uint32_t per_node);

}  // namespace cohort
