// Built without libxsmm.
#include "training/products.h"

namespace cohort {

template <typename T>
const Products<T>* library_products() {
  return nullptr;
}

template const Products<float>* library_products();
template const Products<double>* library_products();

}  // namespace cohort
