#include "traces/topology_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "policies/errors.h"
#include "traces/number.h"

namespace cohort {
namespace {

constexpr std::size_t kMostDevices = 1024;  // of one node

struct NamedKind {
  std::string_view name;
  PathKind kind;
};
constexpr std::array kKinds = {
    NamedKind{"X", PathKind::Self},      NamedKind{"PIX", PathKind::OneBridge},
    NamedKind{"PXB", PathKind::Bridges}, NamedKind{"PHB", PathKind::HostBridge},
    NamedKind{"NODE", PathKind::Node},   NamedKind{"SYS", PathKind::System},
    NamedKind{"SOC", PathKind::System},
};

std::optional<DevicePath> parse_path(std::string_view word) {
  if (word.starts_with("NV")) {
    const auto links = parse_number<std::uint32_t>(word.substr(2));
    if (!links || *links == 0) return std::nullopt;
    return DevicePath{PathKind::NvLink, *links};
  }
  const auto kind = std::ranges::find(kKinds, word, &NamedKind::name);
  return kind == kKinds.end() ? std::nullopt : std::optional(DevicePath{kind->kind, 0});
}

// Terminals show the head underlined: ESC [ ... m.
std::string without_escapes(std::string_view line) {
  std::string plain;
  while (!line.empty()) {
    if (line.starts_with("\x1b[")) {
      line.remove_prefix(std::min(line.find('m'), line.size() - 1) + 1);
    } else {
      plain += line.front();
      line.remove_prefix(1);
    }
  }
  return plain;
}

bool is_gpu(std::string_view word) {
  return word.starts_with("GPU") && parse_number<std::uint32_t>(word.substr(3));
}

// The columns of a head: names of devices, then those of affinities.
struct Head {
  std::vector<std::string> devices;
  std::vector<std::string TopologyDevice::*> affinities;
};

using Heading = std::pair<std::string_view, std::string TopologyDevice::*>;
constexpr std::array kHeadings = {
    Heading{"CPU Affinity", &TopologyDevice::cpu_affinity},
    Heading{"NUMA Affinity", &TopologyDevice::numa_affinity},
    Heading{"GPU NUMA ID", &TopologyDevice::gpu_numa_id},
};

// Empty when the line is no head: a row goes on with the kind of a path behind its first GPU, and
// only a head names affinities.
std::optional<Head> parse_head(std::string_view line) {
  const Words words = split_words(line);
  if (words.size() < 2 || !is_gpu(words[0]) || parse_path(words[1])) return std::nullopt;
  Head head;
  std::size_t at = 0;
  for (; at < words.size() && words[at] != "CPU" && words[at] != "NUMA"; ++at) {
    head.devices.emplace_back(words[at]);
  }
  std::string rest;
  for (; at < words.size(); ++at) rest += fmt::format("{}{}", rest.empty() ? "" : " ", words[at]);
  for (const auto& [heading, affinity] : kHeadings) {
    if (!rest.starts_with(heading)) continue;
    head.affinities.push_back(affinity);
    rest.erase(0, heading.size() + 1);
  }
  return rest.empty() && !head.affinities.empty() ? std::optional(head) : std::nullopt;
}

// Numbers and ranges with commas between.
bool is_list(std::string_view word) {
  for (;;) {
    const std::string_view range = word.substr(0, word.find(','));
    const std::size_t dash = range.find('-');
    if (!parse_number<std::uint32_t>(range.substr(0, dash))) return false;
    if (dash != std::string_view::npos && !parse_number<std::uint32_t>(range.substr(dash + 1))) {
      return false;
    }
    if (range.size() == word.size()) return true;
    word.remove_prefix(range.size() + 1);
  }
}

class TopologyMatrixReader {
 public:
  explicit TopologyMatrixReader(const TextFile& file) : file_(file) { matrix_.file = file.name; }

  TopologyMatrix read() {
    each_line(file_.text, [this](std::string_view line, std::size_t number) {
      line_ = number;
      read_line(without_escapes(line));
    });
    if (!head_) {
      throw InputError(file_.name, "has no head of a matrix (GPU0 ... CPU Affinity ...)");
    }
    check();
    return std::move(matrix_);
  }

 private:
  void read_line(std::string_view line) {
    if (auto head = parse_head(line)) return start(std::move(*head));
    const Words words = split_words(line);
    if (!head_ || words.empty()) return;
    if (words.size() == 2 && words[0].ends_with(':')) return name_adapter(words);
    const auto device = find(words[0]);
    if (device != matrix_.devices.end()) return read_row(words, *device);
    if (is_gpu(words[0])) refuse(fmt::format("found a row of {}, which no column names", words[0]));
  }

  void start(Head head) {
    if (head_) refuse("found a second head; expected one matrix in a file");
    if (head.devices.size() > kMostDevices) {
      refuse(
          fmt::format("found {} devices; expected at most {}", head.devices.size(), kMostDevices));
    }
    for (const std::string& device : head.devices) {
      if (find(device) != matrix_.devices.end()) refuse(fmt::format("names {} twice", device));
      TopologyDevice added;
      added.name = device;
      added.gpu = is_gpu(device);
      matrix_.devices.push_back(std::move(added));
    }
    matrix_.paths.resize(matrix_.devices.size());
    head_ = std::move(head);
  }

  void read_row(const Words& words, TopologyDevice& device) {
    if (device.line != 0) {
      refuse(fmt::format("{} has a row on line {} already", device.name, device.line));
    }
    device.line = line_;
    const std::span cells = std::span(words).subspan(1);
    const std::size_t columns = matrix_.devices.size();
    if (cells.size() < columns) {
      refuse(fmt::format("found {} cells in the row of {}; expected {}, one per device",
                         cells.size(), device.name, columns));
    }
    auto& row = matrix_.paths[index(device)];
    for (const std::string_view cell : cells.first(columns)) {
      const auto path = parse_path(cell);
      if (!path) {
        refuse(fmt::format("found {}; expected X, NV#, PIX, PXB, PHB, NODE or SYS", excerpt(cell)));
      }
      row.push_back(*path);
    }
    read_affinities(cells.subspan(columns), device);
  }

  // A column may be left blank; which one cannot be told then, nor what stands in the others.
  void read_affinities(std::span<const std::string_view> words, TopologyDevice& device) {
    const auto& columns = head_->affinities;
    if (words.size() > columns.size()) {
      refuse(fmt::format("found {} behind the paths of {}; expected {} affinities",
                         excerpt(words[columns.size()]), device.name, columns.size()));
    }
    if (words.size() < columns.size()) {
      if (device.gpu) {
        matrix_.warnings.push_back(fmt::format("line {}: {} of {} affinities of {}, left out",
                                               line_, words.size(), columns.size(), device.name));
      }
      return;
    }
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (words[i] == "N/A") continue;
      if (!is_list(words[i])) {
        refuse(fmt::format("found {} as affinity of {}; expected a list such as 0-23,48-71 or N/A",
                           excerpt(words[i]), device.name));
      }
      device.*columns[i] = words[i];
    }
  }

  void name_adapter(const Words& words) {
    const auto device = find(words[0].substr(0, words[0].size() - 1));
    if (device != matrix_.devices.end()) device->adapter = words[1];
  }

  void check() const {
    for (const TopologyDevice& device : matrix_.devices) {
      if (device.line != 0) continue;
      throw InputError(file_.name,
                       fmt::format("has a column of {}, but no row: cut off?", device.name));
    }
    for (const TopologyDevice& device : matrix_.devices) check_row(device);
  }

  void check_row(const TopologyDevice& device) const {
    const std::size_t self = index(device);
    for (std::size_t other = 0; other < matrix_.devices.size(); ++other) {
      const DevicePath there = matrix_.paths[self][other];
      const DevicePath back = matrix_.paths[other][self];
      const std::string& to = matrix_.devices[other].name;
      if ((there.kind == PathKind::Self) != (other == self)) {
        throw file_.complaint(device.line,
                              fmt::format("found {} from {} to {}; expected X for a device itself, "
                                          "and there alone",
                                          name(there), device.name, to));
      }
      if (other < self && there != back) {
        throw file_.complaint(device.line, fmt::format("found {} from {} to {}, but {} back on "
                                                       "line {}; expected a symmetric matrix",
                                                       name(there), device.name, to, name(back),
                                                       matrix_.devices[other].line));
      }
    }
  }

  std::vector<TopologyDevice>::iterator find(std::string_view device) {
    return std::ranges::find(matrix_.devices, device, &TopologyDevice::name);
  }
  [[nodiscard]] std::size_t index(const TopologyDevice& device) const {
    return static_cast<std::size_t>(&device - matrix_.devices.data());
  }
  [[noreturn]] void refuse(std::string what) const {
    throw file_.complaint(line_, std::move(what));
  }

  const TextFile& file_;
  TopologyMatrix matrix_;
  std::size_t line_ = 0;
  std::optional<Head> head_;
};

}  // namespace

std::string name(DevicePath path) {
  if (path.kind == PathKind::NvLink) return fmt::format("NV{}", path.nvlinks);
  return std::string(std::ranges::find(kKinds, path.kind, &NamedKind::kind)->name);
}

std::size_t TopologyMatrix::gpus() const {
  return static_cast<std::size_t>(std::ranges::count(devices, true, &TopologyDevice::gpu));
}

bool is_topology_matrix(std::string_view text) {
  bool found = false;
  each_line(text, [&found](std::string_view line, std::size_t) {
    found = found || (holds(line, "Affinity") && parse_head(without_escapes(line)));
  });
  return found;
}

TopologyMatrix read_topology_matrix(const TextFile& file) {
  return TopologyMatrixReader(file).read();
}

std::vector<DevicePath> gpu_paths(const TopologyMatrix& matrix) {
  std::vector<DevicePath> paths;
  for (std::size_t a = 0; a < matrix.devices.size(); ++a) {
    for (std::size_t b = a + 1; b < matrix.devices.size(); ++b) {
      if (!matrix.devices[a].gpu || !matrix.devices[b].gpu) continue;
      if (std::ranges::find(paths, matrix.paths[a][b]) == paths.end()) {
        paths.push_back(matrix.paths[a][b]);
      }
    }
  }
  return paths;
}

}  // namespace cohort
