// The lines of an nccl-tests log taken apart one by one; private to the reader in nccl_tests.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "traces/nccl_tests.h"
#include "traces/text_file.h"

namespace cohort {

struct NcclRank {
  std::uint32_t rank = 0;
  std::string host;
  std::string gpu;  // device number and bus id; empty when cut off
};
// `#  Rank  0 Group  0 Pid 123 on HOST device  0 [0x27] NAME`.
[[nodiscard]] std::optional<NcclRank> parse_rank(const Words& words);

// Where the columns of the table stand, counted from `type`.
struct NcclColumns {
  std::size_t time = 0;   // of the out-of-place half, followed by algbw, busbw and the check
  std::size_t count = 0;  // of all columns from `type` on
  std::optional<std::size_t> redop;
  std::optional<std::size_t> root;
  bool counts_wrong = false;  // `#wrong` (a count) instead of `error` (a deviation)
};
// `#  size  count  type  redop  root  time  algbw  busbw #wrong  time  ...`.
[[nodiscard]] std::optional<NcclColumns> parse_columns(const Words& words);

struct NcclCells {
  NcclRow row;
  std::uint64_t wrong = 0;  // wrong elements, both halves together
  bool reduces = false;     // has a reduction operation
  bool rooted = false;
};
enum class RowKind : std::uint8_t { None, Damaged, Whole };
// A row may follow a prefix, glued on or not: `[STAT]:12288  3072  float ...`.
[[nodiscard]] RowKind parse_row(const Words& words, const NcclColumns& columns, NcclCells& cells);

}  // namespace cohort
