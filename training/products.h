// Matrix products at the vector width of the machine the program runs on.
//
// The one place of training/ that needs wide vectors; on Eigen's kernels, single-threaded, without
// allocation. A packaged binary is compiled for its distribution's oldest processor, so on x86-64
// these products are compiled twice, for that one and for x86-64-v3 (AVX2 and FMA), and the choice
// is made once per process. Eigen's blocking is fixed, not taken from the machine's caches, and no
// result depends on where the numbers lie: all machines of one width compute the same. (AVX-512 is
// left out: Eigen 3.4's kernels for it were slower than those for AVX2 on the machine where both
// were measured.)
#pragma once

namespace cohort {

// All matrices are column-major and dense. C (rows x columns) = or += the product over `inner`.
struct ProductShape {
  long rows = 0;
  long columns = 0;
  long inner = 0;
};

enum class Into { Overwrite, Add };

template <typename T>
struct Products {
  using Product = void (*)(ProductShape, const T* a, const T* b, T* c, Into);
  Product plain;             // A B:  A is rows x inner, B is inner x columns
  Product left_transposed;   // A' B: A is inner x rows, B is inner x columns
  Product right_transposed;  // A B': A is rows x inner, B is columns x inner
};

// T is float or double.
template <typename T>
[[nodiscard]] const Products<T>& products();

// Those of the oldest processor the binary is for, whatever this machine can do.
template <typename T>
[[nodiscard]] const Products<T>& baseline_products();

}  // namespace cohort
