#include "meeting_place.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>

namespace stand_in {
namespace {

// The files of places that this process founded and has not met at, by id.
class Founded {
 public:
  void keep(const std::string& id, int file) {
    const std::lock_guard lock(mutex_);
    files_[id] = file;
  }
  void close(const std::string& id) {
    const std::lock_guard lock(mutex_);
    const auto found = files_.find(id);
    if (found == files_.end()) return;
    ::close(found->second);
    files_.erase(found);
  }

 private:
  std::mutex mutex_;
  std::map<std::string, int> files_;
};

Founded& founded() {
  static Founded files;
  return files;
}

}  // namespace

// From one rank to another: full while `sent` is one ahead of `received`.
struct Lane {
  std::atomic<std::uint64_t> sent;
  std::atomic<std::uint64_t> received;
  std::size_t count;
  std::array<float, kChunk> values;
};

// Zeros at first. Only what is touched takes memory.
struct MeetingPlace::Memory {
  std::atomic<int> met;
  std::atomic<int> left;
  std::atomic<int> waiting;
  std::atomic<std::uint64_t> barriers;
  std::array<std::uint64_t, kMostRanks> gpus;
  std::array<std::array<float, kChunk>, kMostRanks> parts;
  std::array<std::array<Lane, kMostRanks>, kMostRanks> lanes;
};

std::string MeetingPlace::found() {
  const int file = ::memfd_create("cohort stand-in", MFD_CLOEXEC);
  if (file < 0 || ::ftruncate(file, sizeof(Memory)) != 0) {
    throw std::runtime_error("no memory file");
  }
  // The number of a file is used again, that of a place is not.
  static std::atomic<std::uint64_t> place = 0;
  const auto id = "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(file) + " " +
                  std::to_string(++place);
  founded().keep(id, file);
  return id;
}

MeetingPlace::MeetingPlace(const std::string& id, int rank, int ranks,
                           const std::atomic<bool>& abort)
    : id_(id), rank_(rank), ranks_(ranks), abort_(abort) {
  if (ranks > kMostRanks) throw std::runtime_error("more ranks than the stand-in has room for");
  const int file = ::open(id.substr(0, id.find(' ')).c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) throw std::runtime_error("nobody is at " + id);
  void* memory = ::mmap(nullptr, sizeof(Memory), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (memory == MAP_FAILED) throw std::runtime_error("cannot map " + id);
  memory_ = static_cast<Memory*>(memory);
}

MeetingPlace::~MeetingPlace() {
  founded().close(id_);
  ::munmap(memory_, sizeof(Memory));
}

template <class Condition>
void MeetingPlace::wait_until(Condition condition) const {
  while (!condition()) {
    if (abort_) throw Aborted();
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

void MeetingPlace::meet(std::uint64_t gpu) {
  memory_->gpus[static_cast<std::size_t>(rank_)] = gpu;
  ++memory_->met;
  wait_until([this] { return memory_->met >= ranks_; });
  founded().close(id_);
}

bool MeetingPlace::shares_gpu() const {
  auto gpus = memory_->gpus;
  const auto end = gpus.begin() + ranks_;
  std::sort(gpus.begin(), end);
  return std::adjacent_find(gpus.begin(), end) != end;
}

void MeetingPlace::barrier() {
  const auto passed = memory_->barriers.load();
  if (++memory_->waiting == ranks_) {
    memory_->waiting = 0;
    ++memory_->barriers;
  }
  wait_until([&] { return memory_->barriers != passed; });
}

void MeetingPlace::sum(const float* from, float* to, std::size_t count) {
  for (std::size_t first = 0; first < count; first += kChunk) {
    const auto size = std::min(kChunk, count - first);
    std::memcpy(memory_->parts[static_cast<std::size_t>(rank_)].data(), from + first,
                size * sizeof(float));
    barrier();
    for (std::size_t i = 0; i < size; ++i) {
      float total = 0;
      for (int r = 0; r < ranks_; ++r) total += memory_->parts[static_cast<std::size_t>(r)][i];
      to[first + i] = total;
    }
    barrier();
  }
}

void MeetingPlace::transfer(std::span<Side> sides) {
  wait_until([&] {
    bool over = true;
    for (auto& side : sides) over = progress(side) && over;
    return over;
  });
}

// Moves one chunk if it can; whether the side is over.
bool MeetingPlace::progress(Side& side) {
  if (side.count == 0) return true;
  const auto here = static_cast<std::size_t>(rank_);
  const auto there = static_cast<std::size_t>(side.peer);
  auto& lane = side.send ? memory_->lanes[here][there] : memory_->lanes[there][here];
  const bool full = lane.sent != lane.received;
  if (full == side.send) return false;
  const auto size = side.send ? std::min(kChunk, side.count) : lane.count;
  if (size > side.count) throw std::runtime_error("more was sent than is received");
  auto* values = lane.values.data();
  std::memcpy(side.send ? values : side.entries, side.send ? side.entries : values,
              size * sizeof(float));
  if (side.send) lane.count = size;
  ++(side.send ? lane.sent : lane.received);
  side.entries += size;
  side.count -= size;
  return side.count == 0;
}

void MeetingPlace::leave() {
  ++memory_->left;
  wait_until([this] { return memory_->left >= ranks_; });
}

}  // namespace stand_in
