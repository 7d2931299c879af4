#include "benchmarks/memory.h"

#include <malloc.h>

#include <cstdlib>
#include <new>

namespace {

std::size_t live = 0;
std::size_t peak = 0;

void* take(std::size_t bytes) {
  void* block = std::malloc(bytes);
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

void* operator new(std::size_t bytes) { return take(bytes); }
void* operator new[](std::size_t bytes) { return take(bytes); }
void operator delete(void* block) noexcept { give_back(block); }
void operator delete[](void* block) noexcept { give_back(block); }
void operator delete(void* block, std::size_t) noexcept { give_back(block); }
void operator delete[](void* block, std::size_t) noexcept { give_back(block); }

namespace cohort {

std::size_t live_bytes() { return live; }
std::size_t peak_bytes() { return peak; }
void reset_peak_bytes() { peak = live; }

}  // namespace cohort
