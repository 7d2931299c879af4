#include "traces/nccl_tests.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>

#include "policies/errors.h"
#include "traces/nccl_table.h"
#include "traces/text_file.h"

namespace cohort {
namespace {

struct Program {
  std::string_view name;
  NcclCollective collective;
};
constexpr std::array kPrograms = {
    Program{"all_reduce_perf", NcclCollective::AllReduce},
    Program{"all_gather_perf", NcclCollective::AllGather},
    Program{"reduce_scatter_perf", NcclCollective::ReduceScatter},
    Program{"alltoall_perf", NcclCollective::AllToAll},
    Program{"broadcast_perf", NcclCollective::Broadcast},
    Program{"reduce_perf", NcclCollective::Reduce},
    Program{"sendrecv_perf", NcclCollective::SendReceive},
    Program{"gather_perf", NcclCollective::Gather},
    Program{"scatter_perf", NcclCollective::Scatter},
};

// The program's name as a whole word ("reduce_perf" is part of "all_reduce_perf").
bool names(std::string_view line, std::string_view program) {
  const std::size_t at = line.find(program);
  return at != std::string_view::npos &&
         (at == 0 ||
          !(std::isalnum(static_cast<unsigned char>(line[at - 1])) != 0 || line[at - 1] == '_'));
}

// What a log says besides its table.
constexpr std::array<std::string_view, 4> kFailureWords = {
    "mpirun noticed that process", "MPI_ABORT was invoked", "Primary job  terminated",
    "Segmentation fault"};

bool is_failure(std::string_view line) {
  const std::size_t test = line.find("Test ");
  const bool test_failure = test != std::string_view::npos && holds(line.substr(test), "failure");
  return test_failure || (holds(line, "Out of bounds values") && holds(line, "FAILED")) ||
         std::ranges::any_of(kFailureWords,
                             [&](std::string_view words) { return holds(line, words); });
}

class NcclLogReader {
 public:
  explicit NcclLogReader(const TextFile& file) : file_(file) { log_.file = file.name; }

  NcclLog read() {
    if (file_.text.empty()) throw InputError(log_.file, "is empty; expected an nccl-tests log");
    each_line(file_.text, [this](std::string_view line, std::size_t number) {
      line_ = number;
      read_line(line);
    });
    finish();
    return std::move(log_);
  }

 private:
  void read_line(std::string_view line) {
    note_program(line);
    note_failure(line);
    const Words words = split_words(line);
    if (holds(line, "Using devices")) start_run();
    if (const auto rank = parse_rank(words)) {
      add_rank(*rank);
    } else if (const auto columns = parse_columns(words)) {
      columns_ = *columns;
    } else if (columns_) {
      read_row(words);
    }
  }

  void start_run() {
    if (++runs_ > 1) {
      throw file_.complaint(line_, "a second run starts here; expected one run in a file");
    }
  }

  void note_program(std::string_view line) {
    if (log_.collective_named) return;
    for (const Program& program : kPrograms) {
      if (!names(line, program.name)) continue;
      log_.collective = program.collective;
      log_.collective_named = true;
    }
  }

  void note_failure(std::string_view line) {
    ended_ = ended_ || holds(line, "Out of bounds values");
    if (is_failure(line)) log_.failures.push_back(fmt::format("line {}: {}", line_, excerpt(line)));
  }

  void add_rank(const NcclRank& rank) {
    if (const auto [at, added] = ranks_.try_emplace(rank.rank, rank); !added) {
      throw file_.complaint(
          line_, fmt::format("rank {} is listed twice; expected one run in a file", rank.rank));
    }
    if (std::ranges::find(log_.hosts, rank.host) == log_.hosts.end()) {
      log_.hosts.push_back(rank.host);
    }
    const auto [first, alone] = gpus_.try_emplace(rank.host + " " + rank.gpu, rank.rank);
    if (!alone && !rank.gpu.empty() && !shared_gpu_) {
      shared_gpu_ = true;
      log_.warnings.push_back(
          fmt::format("ranks {} and {} show the same GPU ({} device {}): "
                      "timings of a shared GPU feed no link model",
                      first->second, rank.rank, rank.host, rank.gpu));
    }
  }

  void read_row(const Words& words) {
    NcclCells cells;
    const RowKind kind = parse_row(words, *columns_, cells);
    if (kind == RowKind::Damaged) {
      log_.warnings.push_back(fmt::format("line {}: a damaged row, left out", line_));
    }
    if (kind != RowKind::Whole) return;
    cells.row.line = line_;
    if (cells.wrong > 0) {
      log_.failures.push_back(fmt::format("line {}: {} wrong elements", line_, cells.wrong));
    }
    reduces_ = cells.reduces;
    rooted_ = cells.rooted;
    log_.rows.push_back(cells.row);
  }

  void finish() {
    if (!columns_ && log_.failures.empty()) {
      throw InputError(log_.file,
                       "is no nccl-tests log: no table header with size, count, type, ... time, "
                       "algbw, busbw was found");
    }
    if (!ended_) {
      log_.warnings.emplace_back(
          "no line \"Out of bounds values\": the log was cut off or the run did not end");
    }
    count_ranks();
    if (!log_.collective_named) log_.collective = deduced();
    check_printed();
  }

  void count_ranks() {
    if (ranks_.empty()) {
      log_.warnings.emplace_back("the log lists no ranks: bus bandwidths cannot be derived");
      return;
    }
    log_.ranks = static_cast<std::uint32_t>(ranks_.size());
    if (ranks_.rbegin()->first != log_.ranks - 1) {
      log_.warnings.push_back(
          fmt::format("{} ranks are listed, but the last is rank {}: bus "
                      "bandwidths cannot be derived",
                      log_.ranks, ranks_.rbegin()->first));
      log_.ranks = 0;
    }
  }

  // From the columns and the ratio of the printed bandwidths, where they are printed with digits
  // enough.
  [[nodiscard]] NcclCollective deduced() const {
    const auto sharp = [](const NcclRow& row) {
      return row.printed_bus_gb_per_s && row.printed_algorithm_gb_per_s.value_or(0) >= 1;
    };
    const auto row = std::ranges::find_if(log_.rows, sharp);
    if (row == log_.rows.end() || log_.ranks < 2) return NcclCollective::Unknown;
    const double ratio = *row->printed_bus_gb_per_s / *row->printed_algorithm_gb_per_s;
    const auto fits = [&](NcclCollective collective) {
      const auto factor = bus_factor(collective, log_.ranks);
      return factor && std::abs(ratio / *factor - 1) < 0.02;
    };
    const auto either = [&](NcclCollective one, NcclCollective other) {
      return fits(one) ? one : fits(other) ? other : NcclCollective::Unknown;
    };
    if (reduces_ && rooted_) return either(NcclCollective::Reduce, NcclCollective::Unknown);
    if (reduces_) return either(NcclCollective::AllReduce, NcclCollective::ReduceScatter);
    if (rooted_) return either(NcclCollective::Broadcast, NcclCollective::Unknown);
    return either(NcclCollective::AllGather, NcclCollective::SendReceive);
  }

  void check_printed() {
    const auto factor = log_.ranks > 0 ? bus_factor(log_.collective, log_.ranks) : std::nullopt;
    std::size_t off = 0;
    const NcclRow* first = nullptr;
    for (const NcclRow& row : log_.rows) {
      const double algorithm = static_cast<double>(row.bytes) / row.time_us / 1e3;
      if (agrees(row.printed_algorithm_gb_per_s, algorithm) &&
          (!factor || agrees(row.printed_bus_gb_per_s, algorithm * *factor))) {
        continue;
      }
      if (off++ == 0) first = &row;
    }
    if (off == 0) return;
    log_.warnings.push_back(
        fmt::format("{} rows (first: line {}) print bandwidths more than 2 % off their size, time "
                    "and number of ranks; size and time are used",
                    off, first->line));
  }

  // 2 %, and half a unit of the last of two decimals.
  static bool agrees(std::optional<double> printed, double derived) {
    return !printed || std::abs(*printed - derived) <= 0.02 * derived + 0.0051;
  }

  const TextFile& file_;
  NcclLog log_;
  std::size_t line_ = 0;
  std::size_t runs_ = 0;
  bool ended_ = false;
  bool reduces_ = false;
  bool rooted_ = false;
  bool shared_gpu_ = false;
  std::optional<NcclColumns> columns_;
  std::map<std::uint32_t, NcclRank> ranks_;
  std::map<std::string, std::uint32_t> gpus_;
};

}  // namespace

std::string_view name(NcclCollective collective) {
  switch (collective) {
    case NcclCollective::Unknown:
      return "unknown";
    case NcclCollective::AllReduce:
      return "all-reduce";
    case NcclCollective::AllGather:
      return "all-gather";
    case NcclCollective::ReduceScatter:
      return "reduce-scatter";
    case NcclCollective::AllToAll:
      return "all-to-all";
    case NcclCollective::Broadcast:
      return "broadcast";
    case NcclCollective::Reduce:
      return "reduce";
    case NcclCollective::SendReceive:
      return "send-receive";
    case NcclCollective::Gather:
      return "gather";
    case NcclCollective::Scatter:
      return "scatter";
  }
  throw ContractError("unknown collective");
}

std::optional<double> bus_factor(NcclCollective collective, std::uint32_t ranks) {
  const double share = (ranks - 1.0) / ranks;
  switch (collective) {
    case NcclCollective::Unknown:
      return std::nullopt;
    case NcclCollective::AllReduce:
      return 2 * share;
    case NcclCollective::AllGather:
    case NcclCollective::ReduceScatter:
    case NcclCollective::AllToAll:
    case NcclCollective::Gather:
    case NcclCollective::Scatter:
      return share;
    case NcclCollective::Broadcast:
    case NcclCollective::Reduce:
    case NcclCollective::SendReceive:
      return 1;
  }
  throw ContractError("unknown collective");
}

bool is_nccl_log(std::string_view text) {
  bool found = false;
  each_line(text, [&found](std::string_view line, std::size_t) {
    found = found || holds(line, "Using devices") || is_failure(line) ||
            (holds(line, "nThread") && holds(line, "minBytes")) || parse_columns(split_words(line));
  });
  return found;
}

NcclLog read_nccl_log(const TextFile& file) { return NcclLogReader(file).read(); }

NcclLog read_nccl_log(const std::filesystem::path& file) {
  return read_nccl_log(read_text_file(file));
}

}  // namespace cohort
