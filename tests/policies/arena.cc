#include "tests/policies/arena.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

namespace cohort {
namespace {

constexpr std::size_t kCapacity = 1 << 20;
constexpr std::size_t kAlign = 16;

struct BlockHeader {
  std::uint64_t size;  // of the block behind it, a multiple of kAlign
  std::uint64_t used;
};
static_assert(sizeof(BlockHeader) == kAlign);

struct Arena {
  alignas(kAlign) std::byte bytes[kCapacity]{};
  std::size_t end = 0;
  bool active = false;

  [[nodiscard]] bool holds(const void* block) const {
    return std::less_equal<>{}(bytes, block) && std::less<>{}(block, bytes + kCapacity);
  }
  [[nodiscard]] BlockHeader* header(std::size_t at) {
    return std::launder(reinterpret_cast<BlockHeader*>(bytes + at));
  }

  // The lowest free block of exactly that size, else a new one at the end: the layout depends on
  // what is live, and as little as possible on the order in which it was allocated.
  void* allocate(std::size_t wanted) {
    const auto size = std::max(kAlign, (wanted + kAlign - 1) / kAlign * kAlign);
    for (std::size_t at = 0; at < end; at += sizeof(BlockHeader) + header(at)->size) {
      if (header(at)->used != 0 || header(at)->size != size) continue;
      header(at)->used = 1;
      return bytes + at + sizeof(BlockHeader);
    }
    if (end + sizeof(BlockHeader) + size > kCapacity) std::abort();
    new (bytes + end) BlockHeader{size, 1};
    auto* block = bytes + end + sizeof(BlockHeader);
    end += sizeof(BlockHeader) + size;
    return block;
  }
  void free(void* block) {
    auto* bytes_of_block = static_cast<std::byte*>(block);
    auto* freed = header(static_cast<std::size_t>(bytes_of_block - bytes) - sizeof(BlockHeader));
    freed->used = 0;
    std::memset(block, 0, freed->size);
  }
};

constinit Arena arena;

void* allocate(std::size_t size) {
  if (arena.active) return arena.allocate(size);
  if (void* block = std::malloc(size == 0 ? 1 : size)) return block;
  throw std::bad_alloc();
}

void deallocate(void* block) noexcept {
  if (arena.holds(block)) {
    arena.free(block);
  } else {
    std::free(block);
  }
}

}  // namespace

ArenaScope::ArenaScope() { arena.active = true; }
ArenaScope::~ArenaScope() { arena.active = false; }

std::span<const std::byte> arena_image() { return {arena.bytes, arena.end}; }

void restore_arena(std::span<const std::byte> image) {
  std::ranges::copy(image, arena.bytes);
  if (arena.end > image.size())
    std::memset(arena.bytes + image.size(), 0, arena.end - image.size());
  arena.end = image.size();
}

void clear_arena() { restore_arena({}); }

}  // namespace cohort

// All forms, because a sanitizer replaces each on its own.
void* operator new(std::size_t size) { return cohort::allocate(size); }
void* operator new[](std::size_t size) { return cohort::allocate(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return cohort::allocate(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return cohort::allocate(size);
}
void operator delete(void* block) noexcept { cohort::deallocate(block); }
void operator delete[](void* block) noexcept { cohort::deallocate(block); }
void operator delete(void* block, std::size_t) noexcept { cohort::deallocate(block); }
void operator delete[](void* block, std::size_t) noexcept { cohort::deallocate(block); }
void operator delete(void* block, const std::nothrow_t&) noexcept { cohort::deallocate(block); }
void operator delete[](void* block, const std::nothrow_t&) noexcept { cohort::deallocate(block); }
