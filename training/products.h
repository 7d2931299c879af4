// Matrix products at the vector width of the machine the program runs on.
//
// The one place of training/ that needs wide vectors; single-threaded, without allocation once a
// shape is known. A packaged binary is compiled for its distribution's oldest processor, so the
// choice is made once per process: with AVX-512 libxsmm's kernels, where the program was built with
// them; with AVX2 and FMA Eigen's, compiled for x86-64-v3; else Eigen's for that oldest processor.
// Eigen's blocking is fixed, not taken from the machine's caches, and no result depends on where
// the numbers lie: all machines of one of these three compute the same. (Each is the fastest
// measured on its machines: Eigen 3.4 was slower with AVX-512 than with AVX2, libxsmm 1.17 with
// AVX2 slower than Eigen for the gradients of wide layers.)
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

// libxsmm's; null where it was not built in, or cannot use AVX-512 on this machine.
template <typename T>
[[nodiscard]] const Products<T>* library_products();

}  // namespace cohort
