// In place of device_model.cc in a build without nvcc.
#include "policies/errors.h"
#include "runtime/nccl/device_model.h"

namespace cohort {

std::unique_ptr<ModelUnit> make_device_model(const Gpu& gpu, const GpuStream&, const TrainingSpec&,
                                             const Dataset&) {
  throw EnvironmentError("rank " + std::to_string(gpu.site().rank) +
                         " cannot train on its GPU: cohort was built without nvcc, CUDA's compiler "
                         "(Meson looks for it in root_of_cuda/bin and on the path)");
}

}  // namespace cohort
