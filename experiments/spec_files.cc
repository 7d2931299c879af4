#include "experiments/spec_files.h"

#include <fmt/format.h>

#include "experiments/fingerprint.h"
#include "policies/errors.h"

namespace cohort {
namespace {

std::uint64_t fingerprint_of(const ComputeTrace& trace) {
  Fingerprint fingerprint;
  fingerprint.add(fmt::format("{}x{}", trace.workers(), trace.steps()));
  for (std::uint32_t worker = 0; worker < trace.workers(); ++worker) {
    for (std::uint64_t step = 0; step < trace.steps(); ++step) {
      fingerprint.add(fmt::format_int(trace.at(worker, step).count()).c_str()).add(",");
    }
  }
  return fingerprint.value();
}

std::string_view text_of(const std::vector<std::uint8_t>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::uint64_t fingerprint_of(const Dataset& data) {
  const auto& shape = data.shape;
  Fingerprint fingerprint;
  fingerprint.add(fmt::format("{}x{}x{} {} {} ", shape.channels, shape.height, shape.width,
                              data.classes, data.training.size()));
  for (const auto* samples : {&data.training, &data.test})
    fingerprint.add(text_of(samples->pixels)).add(text_of(samples->labels));
  return fingerprint.value();
}

// Names what is loaded, files by their paths.
struct NameOfData {
  std::string operator()(const SyntheticOptions& o) const {
    return fmt::format("synthetic {} {} {} {} {} {} {}", o.side, o.classes, o.training_samples,
                       o.test_samples, o.teacher_hidden, o.label_noise, o.seed);
  }
  std::string operator()(const FashionMnist& o) const {
    return "fashion-mnist " + o.folder.string();
  }
  std::string operator()(const Cifar10& o) const { return "cifar10 " + o.folder.string(); }
  std::string operator()(const IdxFiles& o) const {
    return fmt::format("idx {}\n{}\n{}\n{}", o.training_images.string(), o.training_labels.string(),
                       o.test_images.string(), o.test_labels.string());
  }
};

}  // namespace

MeasuredCurve read_curve(const SpecNode& list) {
  constexpr double kMostBytes = 1e18;
  constexpr double kMostGigabytesPerSecond = 1e9;
  constexpr std::string_view kPair = "pairs [bytes, bus bandwidth in GB/s]";
  MeasuredCurve curve;
  const auto size = list.size(kPair);
  if (size == 0) list.refuse(fmt::format("at least one of the {}", kPair));
  for (std::size_t i = 0; i < size; ++i) {
    const auto pair = list.at(i);
    if (pair.size(kPair) != 2) pair.refuse("a pair [bytes, bus bandwidth in GB/s]");
    const double bytes = pair.at(0).positive_number(kMostBytes);
    const double gigabytes_per_second = pair.at(1).positive_number(kMostGigabytesPerSecond);
    if (!curve.bus_bandwidth.empty() && bytes <= curve.bus_bandwidth.back().first) {
      pair.at(0).refuse("sizes that increase strictly");
    }
    curve.bus_bandwidth.emplace_back(bytes, gigabytes_per_second * 1e9);
  }
  return curve;
}

std::filesystem::path SpecFiles::path_of(const SpecNode& name) const {
  const auto& text = name.text("the name of a file, relative to the spec");
  if (text.empty() || text.find('\0') != std::string::npos) name.refuse("the name of a file");
  return directory_ / text;
}

SpecFiles::Trace SpecFiles::trace(const SpecNode& name) {
  const auto path = path_of(name);
  const std::scoped_lock lock(mutex_);
  const auto known = traces_.find(path);
  if (known != traces_.end()) return known->second;
  try {
    Trace trace{std::make_shared<const ComputeTrace>(read_compute_trace(path)), 0};
    trace.fingerprint = fingerprint_of(*trace.times);
    return traces_.emplace(path, std::move(trace)).first->second;
  } catch (const InputError& error) {
    name.complain(error.what());
  }
}

SpecFiles::Data SpecFiles::data(const SpecNode& node, const DataOptions& options) {
  const auto name = std::visit(NameOfData{}, options);
  const std::scoped_lock lock(mutex_);
  const auto known = data_.find(name);
  if (known != data_.end()) return known->second;
  try {
    Data data{std::make_shared<const Dataset>(load_dataset(options)), 0};
    data.fingerprint = fingerprint_of(*data.samples);
    return data_.emplace(name, std::move(data)).first->second;
  } catch (const InputError& error) {
    node.complain(error.what());
  }
}

MeasuredCurve SpecFiles::curve(const SpecNode& name) {
  const auto path = path_of(name);
  const std::scoped_lock lock(mutex_);
  const auto known = curves_.find(path);
  if (known != curves_.end()) return known->second;
  try {
    const Json document = read_json_file(path);
    const SpecNode root(document);
    const auto curve = read_curve(document.is_object() ? root.need("measured") : root);
    return curves_.emplace(path, curve).first->second;
  } catch (const InputError& error) {
    const bool has_file = error.where().starts_with(path.string());
    name.complain(has_file ? error.what() : fmt::format("{}: {}", path.string(), error.what()));
  }
}

}  // namespace cohort
