// Reader of Open MPI's hostfiles: one host a line and how many ranks it takes.
//
//   node001 slots=8 max_slots=16   # comment
//
// `max-slots` too; blanks around `=`, before the line, blank lines and CRLF are passed over, and so
// is the user of user@host. A line without slots counts one slot; a host that stands there again
// adds its slots (and its maximum, where every line of it gives one).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "traces/text_file.h"

namespace cohort {

struct HostSlots {
  std::string name;
  std::uint64_t slots = 0;
  std::optional<std::uint64_t> max_slots;
};

struct Hostfile {
  std::string file;
  std::vector<HostSlots> hosts;       // in order of their first line, not empty
  std::uint64_t slots = 0;            // of all hosts
  std::vector<std::string> warnings;  // lines without slots
};

// Whether a text has a line HOST slots=, or is nothing but names of hosts: each ends in a digit or
// has a point.
[[nodiscard]] bool is_hostfile(std::string_view text);

// Throws InputError, with the line: a word or name that is none of these, a number that is not
// whole or too large, a maximum below the slots, no host.
[[nodiscard]] Hostfile read_hostfile(const TextFile& file);

}  // namespace cohort
