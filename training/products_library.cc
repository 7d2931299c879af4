// libxsmm: kernels for small matrices, compiled for this machine when a shape is first met. They
// read their operands in place; Eigen's copies of the larger one cost a training step a tenth of
// its time.
#include <immintrin.h>
#include <libxsmm.h>

#include <Eigen/Core>
#include <algorithm>
#include <type_traits>

#include "policies/errors.h"
#include "training/products.h"

namespace cohort {
namespace {

// A block of the left operand stays in the second cache; turned ones lie on the stack.
constexpr long kRowsAtOnce = 256;
constexpr long kInnerAtOnce = 1024;
constexpr long kColumnsAtOnce = 32;

// Part of a product: its lengths, and how far columns are apart in the whole matrices.
struct Block {
  ProductShape shape;
  long a_step, b_step, c_step;
  int flags = LIBXSMM_GEMM_FLAG_NONE;
};

libxsmm_blasint length(long count) { return static_cast<libxsmm_blasint>(count); }

template <typename T>
auto find_kernel(const Block& block, Into into) {
  const auto a = length(block.a_step), b = length(block.b_step), c = length(block.c_step);
  const T factor = 1, before = into == Into::Add ? 1 : 0;
  const int prefetch = LIBXSMM_GEMM_PREFETCH_NONE;
  const auto find = [&](auto dispatch) {
    return dispatch(length(block.shape.rows), length(block.shape.columns),
                    length(block.shape.inner), &a, &b, &c, &factor, &before, &block.flags,
                    &prefetch);
  };
  if constexpr (std::is_same_v<T, float>)
    return find(libxsmm_smmdispatch);
  else
    return find(libxsmm_dmmdispatch);
}

// The kernels leave the upper halves of the vector registers set, which slows down all narrower
// instructions after them.
[[gnu::target("avx")]] void clear_upper_halves() { _mm256_zeroupper(); }

template <typename T>
void multiply(const Block& block, const T* a, const T* b, T* c, Into into) {
  const auto kernel = find_kernel<T>(block, into);
  if (kernel == nullptr) throw ContractError("products: libxsmm has no kernel for this block");
  kernel(a, b, c);
  clear_upper_halves();
}

// A B, or A B' with kTurned.
template <typename T, bool kTurned>
void by_blocks(ProductShape shape, const T* a, const T* b, T* c, Into into) {
  for (long k = 0; k < shape.inner; k += kInnerAtOnce)
    for (long i = 0; i < shape.rows; i += kRowsAtOnce)
      multiply({.shape = {.rows = std::min(kRowsAtOnce, shape.rows - i),
                          .columns = shape.columns,
                          .inner = std::min(kInnerAtOnce, shape.inner - k)},
                .a_step = shape.rows,
                .b_step = kTurned ? shape.columns : shape.inner,
                .c_step = shape.rows,
                .flags = kTurned ? LIBXSMM_GEMM_FLAG_TRANS_B : LIBXSMM_GEMM_FLAG_NONE},
               a + k * shape.rows + i, b + k * (kTurned ? shape.columns : 1), c + i,
               k == 0 ? into : Into::Add);
}

// Writes or adds what comes turned, columns x rows, into a part of a matrix.
template <typename T>
void turn_back(ProductShape part, const T* turned, T* to, long step, Into into) {
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  Eigen::Map<Matrix, 0, Eigen::OuterStride<>> result(to, part.rows, part.columns,
                                                     Eigen::OuterStride<>(step));
  const auto from = Eigen::Map<const Matrix>(turned, part.columns, part.rows).transpose();
  if (into == Into::Overwrite)
    result = from;
  else
    result += from;
}

// A' B as the turned B' A: there is no kernel for A'.
template <typename T>
void left_transposed(ProductShape shape, const T* a, const T* b, T* c, Into into) {
  T b_turned[kColumnsAtOnce * kInnerAtOnce], c_turned[kColumnsAtOnce * kRowsAtOnce];
  for (long j = 0; j < shape.columns; j += kColumnsAtOnce)
    for (long k = 0; k < shape.inner; k += kInnerAtOnce) {
      const long columns = std::min(kColumnsAtOnce, shape.columns - j);
      const long inner = std::min(kInnerAtOnce, shape.inner - k);
      libxsmm_otrans(b_turned, b + j * shape.inner + k, sizeof(T), length(inner), length(columns),
                     length(shape.inner), length(columns));
      for (long i = 0; i < shape.rows; i += kRowsAtOnce) {
        const long rows = std::min(kRowsAtOnce, shape.rows - i);
        multiply({{columns, rows, inner}, columns, shape.inner, columns}, b_turned,
                 a + i * shape.inner + k, c_turned, Into::Overwrite);
        turn_back({rows, columns, inner}, c_turned, c + j * shape.rows + i, shape.rows,
                  k == 0 ? into : Into::Add);
      }
    }
}

}  // namespace

template <typename T>
const Products<T>* library_products() {
  static const Products<T> kernels{.plain = by_blocks<T, false>,
                                   .left_transposed = left_transposed<T>,
                                   .right_transposed = by_blocks<T, true>};
  const bool usable = libxsmm_get_target_archid() >= LIBXSMM_X86_AVX512_CORE &&
                      find_kernel<T>({{1, 1, 1}, 1, 1, 1}, Into::Overwrite) != nullptr;
  return usable ? &kernels : nullptr;
}

template const Products<float>* library_products();
template const Products<double>* library_products();

}  // namespace cohort
