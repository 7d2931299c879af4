// Reader of the text that nccl-tests programs print (all_reduce_perf and its sisters), in the
// versions seen: with or without `redop` and `root`, `error` or `#wrong`, prefixes before rows,
// other output between them, N/A columns.
//
// Size and time of a row are the truth. Bandwidths are derived from them; the printed ones serve as
// a check only. Times are the out-of-place column.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "traces/text_file.h"

namespace cohort {

enum class NcclCollective : std::uint8_t {
  Unknown,
  AllReduce,
  AllGather,  // an all-to-all looks the same where the log does not name it
  ReduceScatter,
  AllToAll,
  Broadcast,
  Reduce,
  SendReceive,
  Gather,
  Scatter,
};
[[nodiscard]] std::string_view name(NcclCollective collective);

// Bus bandwidth over algorithm bandwidth (nccl-tests, doc/PERFORMANCE.md): all-reduce 2(g-1)/g;
// all-gather, reduce-scatter, all-to-all, gather, scatter (g-1)/g; the rest 1. Empty for Unknown.
[[nodiscard]] std::optional<double> bus_factor(NcclCollective collective, std::uint32_t ranks);

struct NcclRow {
  std::uint64_t bytes = 0;
  double time_us = 0;  // > 0
  std::optional<double> printed_algorithm_gb_per_s;
  std::optional<double> printed_bus_gb_per_s;
  std::size_t line = 0;
};

struct NcclLog {
  std::string file;
  NcclCollective collective = NcclCollective::Unknown;
  bool collective_named = false;  // by the log itself; else deduced from its columns and bandwidths
  std::uint32_t ranks = 0;        // 0: the log does not list them
  std::vector<std::string> hosts;     // in order of their first rank
  std::vector<NcclRow> rows;          // in order of the file
  std::vector<std::string> failures;  // why the run failed; empty: it did not
  std::vector<std::string> warnings;
};

// Whether a text has anything that only these programs, or the end of a failed run of them, print.
[[nodiscard]] bool is_nccl_log(std::string_view text);

// Throws InputError when the file is missing, a directory, empty, no such log, or holds several
// runs.
[[nodiscard]] NcclLog read_nccl_log(const TextFile& file);
[[nodiscard]] NcclLog read_nccl_log(const std::filesystem::path& file);

}  // namespace cohort
