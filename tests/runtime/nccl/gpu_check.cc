// usage: gpu_check MODULE RANKS own|shared LEAST_SHARE MEBIBYTES...
//
// Checks the nccl backend in MODULE on this machine's GPUs, with ranks as processes on one GPU each
// (`own`) or several to a GPU (`shared`), with at least LEAST_SHARE of the bare bandwidth, and
// prints rows of a Markdown table
//   | ranks | what | found | wanted | verdict |
// Exit code 0 when all is as wanted, 1 when something is not, 3 when a rank failed.
// Built against CUDA and NCCL, and a second time against their test double.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <string>
#include <thread>

#include "runtime/operation.h"
#include "tests/runtime/nccl/bare_mean.h"
#include "tests/runtime/nccl/overlapping_groups.h"
#include "tests/runtime/nccl/training_check.h"

namespace cohort {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kTurns = 1000;
constexpr double kLargestError = 1e-5;
constexpr int kRounds = 15;
constexpr int kWarmUp = 3;
constexpr auto kSpin = std::chrono::milliseconds(1);  // as a rank waits, then it naps

// Places of the blackboard.
constexpr std::size_t kBare = 1000;
constexpr std::size_t kAll = 1001;
constexpr std::size_t kFound = 2000;

using Sizes = std::vector<std::size_t>;  // of group means, in MiB

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// A row's number, from rank 0 to the parent.
void tell(const Rank& rank, std::size_t row, double found) {
  std::vector<std::uint8_t> bytes(sizeof found);
  std::memcpy(bytes.data(), &found, sizeof found);
  rank.board.write(kFound + row, bytes);
}

double told(const Blackboard& board, std::size_t row) {
  double found = 0;
  std::memcpy(&found, board.read(kFound + row).data(), sizeof found);
  return found;
}

message::Start group_mean_of_all(std::uint32_t ranks, std::uint64_t sync) {
  message::Start start;
  start.sync = SyncId{sync};
  start.communicator = kAllMembers;
  for (std::uint32_t i = 0; i < ranks; ++i) {
    start.members.push_back({WorkerId{i}, Role::Blocking, 1.0 / ranks});
  }
  return start;
}

message::Prepare prepare_of(const Rank& rank, std::size_t entries) {
  message::Prepare prepare;
  prepare.member = rank.rank;
  prepare.workers = rank.ranks;
  for (std::uint32_t i = 0; i < rank.ranks; ++i) prepare.ranks.push_back(i);
  prepare.entries = entries;
  return prepare;
}

// As a rank that may spin for a while.
template <class Poll>
void wait(Poll poll) {
  const auto begin = Clock::now();
  while (!poll()) {
    if (Clock::now() - begin > kSpin) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

// One group mean as a rank does it.
void mean_of_all(const Rank& rank, Replica& replica, std::uint64_t sync) {
  const auto start = group_mean_of_all(rank.ranks, sync);
  const auto operation = begin_operation(
      start, {}, {replica, rank.transport(), [] { return Clock::now().time_since_epoch(); }});
  wait([&] { return operation->poll(); });
}

// Largest relative error of a mean whose exact values are known.
double error_of_mean(const Rank& rank) {
  constexpr std::size_t kEntries = 1 << 20;
  Replica replica(prepare_of(rank, kEntries), rank.vectors());
  std::vector<float> values(kEntries);
  for (std::size_t i = 0; i < kEntries; ++i) {
    values[i] = static_cast<float>(i % 1000 + 1) * static_cast<float>(rank.rank + 1);
  }
  rank.vectors().write(values, replica.parameters.entries());
  mean_of_all(rank, replica, 1);
  rank.vectors().read(replica.parameters.entries(), values);
  double largest = 0;
  for (std::size_t i = 0; i < kEntries; ++i) {
    const auto exact = static_cast<double>(i % 1000 + 1) * (rank.ranks + 1) / 2;
    largest = std::max(largest, std::abs(values[i] - exact) / exact);
  }
  return largest;
}

struct Seconds {
  double bare = 0;
  double own = 0;
};

// By turns, so that both meet the same machine.
Seconds time_means(const Rank& rank, BareMean& bare, std::size_t mebibytes) {
  const auto entries = mebibytes * (std::size_t{1} << 20) / sizeof(float);
  Replica replica(prepare_of(rank, entries), rank.vectors());
  const Buffer buffer(rank.vectors(), entries);
  const auto settle = [&] {
    const auto fence = rank.vectors().fence();
    wait([&] { return fence->test(); });
  };
  settle();
  std::vector<double> bare_times;
  std::vector<double> own_times;
  for (int round = 0; round < kWarmUp + kRounds; ++round) {
    auto begin = Clock::now();
    bare.run(buffer.entries(), entries);
    if (round >= kWarmUp) bare_times.push_back(seconds_since(begin));
    begin = Clock::now();
    mean_of_all(rank, replica, 2);
    settle();
    if (round >= kWarmUp) own_times.push_back(seconds_since(begin));
  }
  return {median(bare_times), median(own_times)};
}

void check_rank(const Rank& rank, const Sizes& sizes) {
  if (rank.rank == 0) rank.board.write(kBare, BareMean::rendezvous());
  BareMean bare(rank.rank, rank.ranks, rank.board.read(kBare));
  std::vector<std::uint32_t> all = prepare_of(rank, 0).ranks;
  if (rank.rank == 0) rank.board.write(kAll, rank.transport().rendezvous());
  const auto begin = Clock::now();
  finish(*rank.transport().create(kAllMembers, all, rank.board.read(kAll)));
  std::vector<double> rows{seconds_since(begin), error_of_mean(rank)};
  for (const auto mebibytes : sizes) {
    const auto seconds = time_means(rank, bare, mebibytes);
    rows.insert(rows.end(), {seconds.bare, seconds.own});
  }
  const auto groups = Clock::now();
  run_overlapping_groups(rank, kTurns);
  rows.push_back(seconds_since(groups));
  if (rank.rank == 0) {
    const auto of_models = check_models(rank.backend);
    rows.insert(rows.end(), of_models.begin(), of_models.end());
  }
  for (std::size_t row = 0; rank.rank == 0 && row < rows.size(); ++row) tell(rank, row, rows[row]);
}

void print_rows(const Blackboard& board, const Sizes& sizes, double least_share,
                CheckTable& table) {
  table.row("communicator of all made", fmt::format("{:.3f} s", told(board, 0)), "stands", true);
  const auto error = told(board, 1);
  table.row("group mean, largest relative error", fmt::format("{:.1e}", error),
            fmt::format("{:.0e}", kLargestError), error <= kLargestError);
  std::size_t row = 2;
  for (const auto mebibytes : sizes) {
    const auto bare = told(board, row++);
    const auto own = told(board, row++);
    const auto bytes = static_cast<double>(mebibytes) * (1 << 20);
    table.row(fmt::format("group mean of {} MiB against ncclAllReduce and 1/g bare", mebibytes),
              fmt::format("{:.2f} of {:.2f} GB/s: {:.1f} %", bytes / own / 1e9, bytes / bare / 1e9,
                          100 * bare / own),
              fmt::format("{:.0f} %", 100 * least_share), bare / own >= least_share);
  }
  table.row(fmt::format("{} random overlapping groups, delays, means verified", kTurns),
            fmt::format("{:.2f} s", told(board, row++)), "no stall", true);
  std::vector<double> of_models;
  while (of_models.size() < model_numbers()) of_models.push_back(told(board, row++));
  print_model_rows(of_models, table);
}

int check(const Job& job, const Sizes& sizes, double least_share) {
  Blackboard board;
  const auto complaints = run_ranks(job, board, [&](const Rank& rank) { check_rank(rank, sizes); });
  if (!complaints.empty()) {
    fmt::print(stderr, "{}", complaints);
    return 3;
  }
  CheckTable table(fmt::format("{}{}", job.ranks, job.share_gpus ? " on shared GPUs" : ""));
  print_rows(board, sizes, least_share, table);
  if (!check_training_job(job, table)) return 3;
  return table.all_right() ? 0 : 1;
}

}  // namespace
}  // namespace cohort

int main(int count, char** arguments) {
  if (count < 6) {
    fmt::print(stderr, "usage: gpu_check MODULE RANKS own|shared LEAST_SHARE MEBIBYTES...\n");
    return 2;
  }
  cohort::Job job;
  job.module = arguments[1];
  job.ranks = static_cast<std::uint32_t>(std::stoul(arguments[2]));
  job.share_gpus = std::string(arguments[3]) == "shared";
  cohort::Sizes sizes;
  for (int i = 5; i < count; ++i) sizes.push_back(std::stoul(arguments[i]));
  return cohort::check(job, sizes, std::stod(arguments[4]));
}
