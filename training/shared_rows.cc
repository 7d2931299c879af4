#include "training/shared_rows.h"

#include <sys/mman.h>

#include <new>

namespace cohort {
namespace {

constexpr std::size_t kLine = 64;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

}  // namespace

RowMemory row_memory(std::size_t bytes) {
  const bool huge = bytes >= kHugePage;
  const std::size_t unit = huge ? kHugePage : kLine;
  RowMemory memory(std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit));
  if (!memory) throw std::bad_alloc();
  if (huge)
    (void)madvise(memory.get(), bytes, MADV_HUGEPAGE);  // advice: a refusal costs time alone
  return memory;
}

}  // namespace cohort
