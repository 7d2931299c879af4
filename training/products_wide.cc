// Compiled for x86-64-v3 alone; nothing here may run before the machine was asked (see
// products_choice.cc). Includes of the standard library stay few: what they define inline is shared
// with the rest of the program.
#define Eigen EigenForX8664V3
#define COHORT_WIDTH wide
#include "training/product_kernels.h"

namespace cohort::wide {

template Products<float> kernels();
template Products<double> kernels();

}  // namespace cohort::wide
