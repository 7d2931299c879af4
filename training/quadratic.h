// The model whose right answers are known: f(x) = sum_i a_i (x_i - x*_i)^2 / 2, with a_i from 1
// down to 1/condition_number, evenly spaced in the logarithm, and the optimum x* drawn with unit
// variance, the same for every seed. f(x*) = 0.
//
// The loss of a batch of b samples is f(x) + z'(x - x*), its gradient a(x - x*) + z, where z is
// normal with variance noise_variance / b in each coordinate, drawn from the stream (seed, data
// order, worker, step) of the batch. Evaluation leaves z out and counts nothing as correct.
//
// SGD with rate h and momentum m (v <- m v + gradient, x <- x - h v) on gradients whose noise has
// variance s per coordinate (s = noise_variance / b for one worker, / (n b) for the mean of n)
// settles at
//   Var x_i = h s (1 + m) / (a_i (1 - m) (2 (1 + m) - h a_i)),   so
//   E f     = h s (1 + m) / (2 (1 - m)) * sum_i 1 / (2 (1 + m) - h a_i);
// for m = 0: E f = h s / 2 * sum_i 1 / (2 - h a_i). It exists for 0 < h < 2 (1 + m).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "training/model.h"

namespace cohort {

[[nodiscard]] std::vector<double> eigenvalues(const QuadraticOptions& options);
// x*.
template <typename T>
void draw_optimum(std::span<T> optimum);
// z of the batch that `batch` names.
template <typename T>
void draw_noise(const QuadraticOptions& options, const Batch<T>& batch, std::span<T> noise);

// E f as above. Throws ContractError where there is none.
[[nodiscard]] double stationary_loss(const QuadraticOptions& options, double learning_rate,
                                     double momentum, double gradient_variance);

template <typename T>
[[nodiscard]] std::unique_ptr<Model<T>> make_quadratic(const QuadraticOptions& options);

}  // namespace cohort
