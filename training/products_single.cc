// Where only one width is compiled: the compiler's target already says what the machine has.
#include "training/products.h"

namespace cohort {

template <typename T>
const Products<T>& products() {
  return baseline_products<T>();
}

template const Products<float>& products();
template const Products<double>& products();

}  // namespace cohort
