// Compiled for the oldest processor the binary is for.
#define Eigen EigenForBaseline
#define COHORT_WIDTH baseline_width
#include "training/product_kernels.h"

namespace cohort {

template <typename T>
const Products<T>& baseline_products() {
  static const Products<T> kernels = baseline_width::kernels<T>();
  return kernels;
}

template const Products<float>& baseline_products();
template const Products<double>& baseline_products();

}  // namespace cohort
