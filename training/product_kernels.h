// The products of one vector width. Compiled once per width, each time into a namespace of its own
// (COHORT_WIDTH) and with Eigen's namespace renamed after it: otherwise the linker would keep one
// of several equally named functions, and might keep the one this machine cannot execute. For the
// products_*.cc alone.
#pragma once

// The workspace of Eigen's product lies on the stack up to this size: with the fixed blocking and
// at most kRowsAtOnce rows, each of its two parts is 1.25 MB at most.
#define EIGEN_STACK_ALLOCATION_LIMIT (5 << 18)
#define EIGEN_DONT_PARALLELIZE
// Small products take the same way as large ones: Eigen's short cut for them rounds as the address
// of the result is aligned, so that equal numbers at another place would give another result.
#define EIGEN_GEMM_TO_COEFFBASED_THRESHOLD 1

#include <Eigen/Core>

#include "training/products.h"

namespace cohort::COHORT_WIDTH {

inline constexpr std::ptrdiff_t kFirstCacheBytes = 32 << 10;
inline constexpr std::ptrdiff_t kSecondCacheBytes = 512 << 10;
inline constexpr std::ptrdiff_t kThirdCacheBytes = 4 << 20;
inline constexpr Eigen::Index kRowsAtOnce = 384;

template <typename T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
template <typename T>
using Input = Eigen::Map<const Matrix<T>>;

template <typename T, typename A, typename B>
void multiply(const A& a, const B& b, ProductShape shape, T* c, Into into) {
  Eigen::Map<Matrix<T>> result(c, shape.rows, shape.columns);
  for (Eigen::Index first = 0; first < shape.rows; first += kRowsAtOnce) {
    const auto count = std::min<Eigen::Index>(kRowsAtOnce, shape.rows - first);
    auto rows = result.middleRows(first, count);
    if (into == Into::Overwrite) {
      rows.noalias() = a.middleRows(first, count) * b;
    } else {
      rows.noalias() += a.middleRows(first, count) * b;
    }
  }
}

template <typename T>
Products<T> kernels() {
  Eigen::setCpuCacheSizes(kFirstCacheBytes, kSecondCacheBytes, kThirdCacheBytes);
  return {
      .plain =
          [](ProductShape s, const T* a, const T* b, T* c, Into into) {
            multiply(Input<T>(a, s.rows, s.inner), Input<T>(b, s.inner, s.columns), s, c, into);
          },
      .left_transposed =
          [](ProductShape s, const T* a, const T* b, T* c, Into into) {
            multiply(Input<T>(a, s.inner, s.rows).transpose(), Input<T>(b, s.inner, s.columns), s,
                     c, into);
          },
      .right_transposed =
          [](ProductShape s, const T* a, const T* b, T* c, Into into) {
            multiply(Input<T>(a, s.rows, s.inner), Input<T>(b, s.columns, s.inner).transpose(), s,
                     c, into);
          },
  };
}

}  // namespace cohort::COHORT_WIDTH
