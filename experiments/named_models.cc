#include "experiments/named_models.h"

#include <array>

namespace cohort {
namespace {

using std::chrono::microseconds;

// [Johnson 2017]: github.com/jcjohnson/cnn-benchmarks, README: batch 16, 224 x 224, fp32, cuDNN
// 5.1, forward and backward pass without update.
constexpr std::string_view kTorch = "[Johnson 2017], batch 16, fp32, cuDNN 5.1";
// [NVIDIA 2021]: github.com/NVIDIA/DeepLearningExamples, PyTorch/Classification/ConvNets:
// resnet50v1.5/README.md has images a second of one GPU (367 and 938, container 21.03), configs.yml
// the batches.
constexpr std::string_view kVolta = "[NVIDIA 2021], ResNet-50 v1.5, batch 112, fp32, 367 images/s";
constexpr std::string_view kAmpere = "[NVIDIA 2021], ResNet-50 v1.5, batch 256, TF32, 938 images/s";

constexpr std::array kResNet18 = {
    StepTime{"gtx-1080-ti", 16, microseconds(32'780), kTorch},
    StepTime{"titan-x-pascal", 16, microseconds(31'540), kTorch},
    StepTime{"gtx-1080", 16, microseconds(43'940), kTorch},
};
constexpr std::array kResNet50 = {
    StepTime{"gtx-1080-ti", 16, microseconds(101'210), kTorch},
    StepTime{"titan-x-pascal", 16, microseconds(103'580), kTorch},
    StepTime{"gtx-1080", 16, microseconds(149'820), kTorch},
    StepTime{"v100", 112, microseconds(305'177), kVolta},
    StepTime{"a100", 256, microseconds(272'921), kAmpere},
};
constexpr std::array kResNet200 = {
    StepTime{"titan-x-pascal", 16, microseconds(296'510), kTorch},
};

constexpr std::array kModels = {
    NamedModel{"vgg16-cifar10",
               14'982'474,
               "counted: 13 convolutions of [Simonyan 2015], then 512-512-10 as usual for 32 x 32",
               {}},
    NamedModel{"resnet18-imagenet", 11'689'512, "[He 2016]; torchvision's num_params", kResNet18},
    NamedModel{"resnet50-imagenet", 25'557'032, "[He 2016]; torchvision's num_params", kResNet50},
    NamedModel{"resnet200-imagenet", 64'673'832,
               "counted: bottlenecks 3, 24, 36, 3 of [He 2016b], post-activation", kResNet200},
    NamedModel{"transformer-base",
               63'082'496,
               "counted: base model of [Vaswani 2017], one embedding of 37,000 tokens shared by "
               "both sides and the output",
               {}},
};

}  // namespace

std::span<const NamedModel> named_models() { return kModels; }

}  // namespace cohort
