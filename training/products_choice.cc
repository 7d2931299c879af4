#include "training/products.h"

namespace cohort {
namespace wide {

template <typename T>
Products<T> kernels();  // products_wide.cc

}  // namespace wide

namespace {

bool machine_has_wide_vectors() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi2");
}

template <typename T>
Products<T> chosen() {
  if (const auto* library = library_products<T>()) return *library;
  return machine_has_wide_vectors() ? wide::kernels<T>() : baseline_products<T>();
}

}  // namespace

template <typename T>
const Products<T>& products() {
  static const Products<T> kernels = chosen<T>();
  return kernels;
}

template const Products<float>& products();
template const Products<double>& products();

}  // namespace cohort
