#include "benchmarks/memory.h"

#include <malloc.h>

#include <cstdlib>
#include <new>

namespace {

std::size_t live = 0;
std::size_t peak = 0;

void* count(void* block) {
  if (block == nullptr) throw std::bad_alloc();
  live += malloc_usable_size(block);
  if (live > peak) peak = live;
  return block;
}

void give_back(void* block) {
  if (block == nullptr) return;
  live -= malloc_usable_size(block);
  std::free(block);
}

}  // namespace

void* operator new(std::size_t bytes) { return count(std::malloc(bytes)); }
void* operator new[](std::size_t bytes) { return count(std::malloc(bytes)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto line = static_cast<std::size_t>(alignment);
  return count(std::aligned_alloc(line, (bytes + line - 1) / line * line));
}
void operator delete(void* block) noexcept { give_back(block); }
void operator delete[](void* block) noexcept { give_back(block); }
void operator delete(void* block, std::size_t) noexcept { give_back(block); }
void operator delete(void* block, std::align_val_t) noexcept { give_back(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { give_back(block); }
void operator delete[](void* block, std::size_t) noexcept { give_back(block); }

namespace cohort {

std::size_t live_bytes() { return live; }
std::size_t peak_bytes() { return peak; }
void reset_peak_bytes() { peak = live; }

}  // namespace cohort
