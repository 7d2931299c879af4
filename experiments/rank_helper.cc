#include "experiments/rank_helper.h"

#include <fmt/format.h>

#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <optional>
#include <sstream>
#include <string>
#include <thread>

#include "experiments/rank_meeting.h"
#include "experiments/rank_server.h"
#include "experiments/row_maker.h"
#include "experiments/sweep_plan.h"
#include "experiments/this_host.h"
#include "experiments/worker_pool.h"
#include "policies/errors.h"

namespace cohort {
namespace {

using Stream = boost::asio::ip::tcp::iostream;
using SteadyClock = std::chrono::steady_clock;

class Helper {
 public:
  Helper(const Experiment& experiment, const HelpOptions& options)
      : experiment_(experiment),
        options_(options),
        plan_(plan_digest(plan_rows(experiment, Cells::All))) {}

  // One connection, from the search for rank 0 to the end.
  void run() {
    Stream stream;
    if (find_rank_0(stream)) serve(stream);
  }

 private:
  [[nodiscard]] bool over() const { return ended_ || (options_.stop != nullptr && *options_.stop); }

  // False: over before it was found.
  bool find_rank_0(Stream& stream) {
    constexpr std::chrono::milliseconds kPause{50};
    const auto limit = SteadyClock::now() + kMeetingLimit;
    std::string why;
    while (!over()) {
      if (meet(stream, why)) return true;
      if (SteadyClock::now() > limit) {
        throw EnvironmentError(fmt::format(
            "rank {} on {} did not find rank 0 within {} s: {}; all ranks must see the same --out",
            options_.rank, host_name(), kMeetingLimit.count(), why));
      }
      std::this_thread::sleep_for(kPause);
    }
    return false;
  }
  bool meet(Stream& stream, std::string& why) {
    try {
      const auto meeting = read_meeting(meeting_file(options_.out));
      for (const auto& address : meeting.addresses) {
        if (connect(stream, meeting, address, why)) return true;
      }
    } catch (const EnvironmentError& error) {
      why = error.what();
    }
    return false;
  }
  bool connect(Stream& stream, const Meeting& meeting, const std::string& address,
               std::string& why) {
    constexpr std::chrono::seconds kPatience{3};
    stream = Stream();
    stream.expires_after(kPatience);
    stream.connect(address, std::to_string(meeting.port));
    stream << hello_line(meeting, options_.rank, plan_) << '\n' << std::flush;
    std::string line;
    if (std::getline(stream, line) && line == "welcome " + meeting.answer) return true;
    if (line.starts_with("refused: "))
      throw InputError("", fmt::format("rank {} on {} was {}", options_.rank, host_name(), line));
    why = fmt::format("{} port {} ({}): {}", address, meeting.port, meeting.host,
                      line.empty() ? stream.error().message() : line);
    return false;
  }

  void serve(Stream& stream) {
    RowMaker maker(experiment_, tunings_, options_.stop);
    std::string line;
    while (!over()) {
      stream.expires_after(kSilenceLimit);
      if (!std::getline(stream, line)) return lost(stream.error().message());
      if (line == "end") {
        ended_ = true;
      } else if (line != "beat" && !answer(stream, maker, line)) {
        return;
      }
    }
  }
  // False: stopped within the row.
  bool answer(Stream& stream, RowMaker& maker, const std::string& line) {
    std::istringstream words(line);
    std::string word;
    std::size_t number = 0;
    std::uint32_t cell = 0;
    std::uint32_t policy = 0;
    std::uint64_t seed = 0;
    if (!(words >> word >> number >> cell >> policy >> seed) || word != "row")
      throw ContractError("rank 0 said \"" + line + "\"");
    try {
      const auto row = maker.make(cell, policy, seed);
      stream.expires_after(kSilenceLimit);
      stream << "done " << number << ' ' << row.text << '\n' << std::flush;
      return true;
    } catch (const Interrupted&) {
      return false;
    }
  }
  void lost(const std::string& why) const {
    if (over()) return;
    throw EnvironmentError(fmt::format(
        "rank {} on {} lost rank 0: {}; finished rows are in {}, the same command resumes",
        options_.rank, host_name(), why, (options_.out / "journal.jsonl").string()));
  }

  const Experiment& experiment_;
  const HelpOptions& options_;
  Tunings tunings_;
  std::uint64_t plan_;
  std::atomic<bool> ended_ = false;
};

}  // namespace

void help_sweep(const Experiment& experiment, const HelpOptions& options) {
  Helper helper(experiment, options);
  run_pool(
      options.jobs, [&](std::size_t) { helper.run(); },
      {.jobs = options.jobs, .stop = nullptr, .tick = {}, .interval = std::chrono::seconds(1)});
}

}  // namespace cohort
