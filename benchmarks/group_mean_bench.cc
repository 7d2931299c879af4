// The group mean of a real run against what it is made of, called bare: MPI_Allreduce in place on
// the same communicator and the same scaling. Alternating in one run; each repeat behind a barrier,
// its time that of the slowest rank. The group generator's trip is in neither.
//
// usage: mpirun -np G group_mean_bench [MIB]      prints a table on rank 0; a wrong mean is an
// error
#include <mpi.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "runtime/live_operations.h"
#include "runtime/mpi/mpi_transport.h"
#include "runtime/mpi_job.h"
#include "runtime/patience.h"

namespace {

using namespace cohort;
using Seconds = std::chrono::duration<double>;

constexpr CommunicatorId kCommunicator{1};
constexpr int kWarmUp = 20;
constexpr int kRepeats = 400;

double slowest(double seconds) {
  double all = 0;
  MPI_Allreduce(&seconds, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all;
}

template <typename Call>
double timed(Call call) {
  MPI_Barrier(MPI_COMM_WORLD);
  const auto began = std::chrono::steady_clock::now();
  call();
  return slowest(Seconds(std::chrono::steady_clock::now() - began).count());
}

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

message::Prepare prepare_of(const MpiJob& job, std::uint64_t entries) {
  message::Prepare prepare;
  prepare.member = job.rank();
  prepare.workers = job.size();
  prepare.ranks.resize(job.size());
  std::iota(prepare.ranks.begin(), prepare.ranks.end(), 0U);
  prepare.entries = entries;
  return prepare;
}

message::Start mean_of_all(std::uint32_t workers, bool create) {
  message::Start start;
  start.communicator = kCommunicator;
  start.create = create;
  for (std::uint32_t worker = 0; worker < workers; ++worker) {
    start.members.push_back({WorkerId{worker}, Role::Blocking, 1.0 / workers});
  }
  return start;
}

class Bench {
 public:
  Bench(MpiJob& job, std::uint64_t entries)
      : job_(job),
        transport_(dynamic_cast<MpiTransport&>(job.backend().transport())),
        replica_(prepare_of(job, entries), job.backend().vectors()),
        live_(replica_, transport_, false,
              {.now = [] { return std::chrono::steady_clock::now().time_since_epoch(); },
               .send = [](const Message&) {},
               .await_snapshots = [] {}}),
        patience_(!transport_.crowded()) {
    transport_.connect(replica_.prepare().ranks, {});
    mean(true);
  }

  void mean(bool create = false) {
    live_.start(mean_of_all(job_.size(), create), Time{});
    patience_.progressed();
    while (!live_.empty()) {
      if (!live_.poll()) patience_.wait(inbox_);
    }
  }
  void bare() {
    float* entries = replica_.parameters.entries();
    const auto count = replica_.parameters.count();
    MPI_Allreduce(MPI_IN_PLACE, entries, static_cast<int>(count), MPI_FLOAT, MPI_SUM,
                  transport_.communicator(kCommunicator));
    replica_.unit().scale(1.0 / job_.size(), entries, count);
  }
  // All ranks begin with the same parameters, so every mean leaves them as they are.
  [[nodiscard]] float first() const { return replica_.parameters.entries()[0]; }

 private:
  MpiJob& job_;
  MpiTransport& transport_;
  Replica replica_;
  LiveOperations live_;
  Inbox inbox_;
  Patience patience_;
};

void print(const char* name, const std::vector<double>& seconds, double bus_bytes) {
  const double median = quantile(seconds, 0.5);
  std::printf("%-28s %8.3f ms median  %8.3f ms lowest tenth  %8.2f GB/s bus\n", name, 1e3 * median,
              1e3 * quantile(seconds, 0.1), 1e-9 * bus_bytes / median);
}

}  // namespace

int main(int count, char** arguments) {
  const double mebibytes = count > 1 ? std::atof(arguments[1]) : 4;
  const auto entries = static_cast<std::uint64_t>(mebibytes * (1 << 18));
  prctl(PR_SET_TIMERSLACK, 1UL);  // as ranks do
  MpiJob job;
  Bench bench(job, entries);
  const float first = bench.first();
  std::vector<double> ours;
  std::vector<double> bare;
  for (int i = 0; i < kWarmUp + kRepeats; ++i) {
    const bool ours_first = i % 2 == 0;
    double mean = 0;
    if (ours_first) mean = timed([&] { bench.mean(); });
    const double called = timed([&] { bench.bare(); });
    if (!ours_first) mean = timed([&] { bench.mean(); });
    if (i < kWarmUp) continue;
    ours.push_back(mean);
    bare.push_back(called);
  }
  if (bench.first() != first) {
    std::fprintf(stderr, "a wrong mean: %g instead of %g\n", bench.first(), first);
    return 4;
  }
  if (job.rank() != 0) return 0;
  const double g = job.size();
  const double bus_bytes = 2 * (g - 1) / g * 4.0 * static_cast<double>(entries);
  std::printf("group mean of %.3g MiB, %u ranks, %s, %d repeats\n", mebibytes, job.size(),
              job.backend().transport().crowded() ? "more than cores" : "a core each", kRepeats);
  print("group mean", ours, bus_bytes);
  print("bare MPI_Allreduce + scaling", bare, bus_bytes);
  std::printf("bandwidth of the bare call: %.1f %% (median), %.1f %% (lowest tenth)\n",
              100 * quantile(bare, 0.5) / quantile(ours, 0.5),
              100 * quantile(bare, 0.1) / quantile(ours, 0.1));
}
