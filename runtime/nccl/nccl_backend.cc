#include "runtime/nccl/nccl_backend.h"

#include <cstdlib>

#include "runtime/nccl/busy_step.h"
#include "runtime/nccl/device_model.h"
#include "runtime/nccl/nccl_transport.h"

namespace cohort {
namespace {

class NcclBackend : public Backend {
 public:
  explicit NcclBackend(const NcclOptions& options)
      : gpu_(options.rank, options.local_rank),
        vectors_(gpu_),
        transport_(gpu_, vectors_.stream(), NcclTransport::Limits{}) {}

  std::string name() const override { return "nccl"; }
  std::string device() const override { return gpu_.name(); }
  VectorUnit& vectors() override { return vectors_; }
  Transport& transport() override { return transport_; }
  std::unique_ptr<LocalStep> emulated_step() override {
    gpu_.use();
    return std::make_unique<BusyStep>(gpu_);
  }
  std::unique_ptr<ModelUnit> model(const TrainingPlan& plan) override {
    return make_device_model(gpu_, vectors_.stream(), plan.training, *plan.dataset);
  }

 private:
  Gpu gpu_;
  DeviceVectors vectors_;
  NcclTransport transport_;
};

void count_as_host_of_its_own(std::uint32_t rank) {
  const auto host = "cohort-rank-" + std::to_string(rank);
  ::setenv("NCCL_HOSTID", host.c_str(), 1);
}

}  // namespace
}  // namespace cohort

cohort::Backend* cohort_make_nccl_backend(const cohort::NcclOptions& options) {
  if (options.share_gpus) cohort::count_as_host_of_its_own(options.rank);
  return std::make_unique<cohort::NcclBackend>(options).release();
}
