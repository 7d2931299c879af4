// How the ranks of a sweep find rank 0: a file in the directory of results, which every rank must
// see, readable by its owner alone.
//
//   ranks.json  {"host": "node0", "addresses": ["10.0.0.1"], "port": 4242,
//                "secret": "32 hex digits", "answer": "32 hex digits"}
// A helper shows `secret`, rank 0 answers with `answer`: so a file that an earlier job left behind
// leads nobody to a stranger. Lines of text, either way:
//   helper                         rank 0
//   cohort-sweep 1 SECRET RANK PLAN
//                                  welcome ANSWER
//                                  row NUMBER CELL POLICY SEED     (any time, one or two ahead)
//   done NUMBER TEXT-OF-THE-ROW
//                                  beat                            (every second)
//                                  end
// A line that is anything else, too long, or comes from one who lacks the secret ends its
// connection and disturbs nobody.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace cohort {

inline constexpr std::chrono::seconds kMeetingLimit{30};  // for a rank to start and find rank 0
inline constexpr std::chrono::seconds kSilenceLimit{30};  // then rank 0 is lost to a helper
inline constexpr std::size_t kLongestHello = 256;
inline constexpr std::size_t kLongestRowLine = std::size_t{1} << 20;

struct Meeting {
  std::string host;                    // name of rank 0's host
  std::vector<std::string> addresses;  // of it
  std::uint16_t port = 0;
  std::string secret;
  std::string answer;
};

// This host, with new secrets; loopback alone when no other host takes part. Throws
// EnvironmentError.
[[nodiscard]] Meeting meeting_here(bool one_host);

[[nodiscard]] std::filesystem::path meeting_file(const std::filesystem::path& out);
// Throws EnvironmentError.
void write_meeting(const Meeting& meeting, const std::filesystem::path& file);
// Throws EnvironmentError when it is not there, or torn.
[[nodiscard]] Meeting read_meeting(const std::filesystem::path& file);

// The first line of a helper.
[[nodiscard]] std::string hello_line(const Meeting& meeting, std::uint32_t rank,
                                     std::uint64_t plan);

}  // namespace cohort
