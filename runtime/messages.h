// What the group generator and the members say to each other. Plain values; their form on the wire
// is runtime/codec.h, their order of exchange runtime/job_server.h.
//
// A *member* is a worker (numbers 0..n-1) or a parameter server (n..n+servers-1); a *rank* is the
// number of a process of the job. All times are nanoseconds of the clock of the group generator's
// process; a member translates its own with the offset that ClockReply gives it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "policies/synchronisation.h"

namespace cohort {

// Drawn anew for every job; a connection whose hello lacks it is refused.
using Secret = std::array<std::uint8_t, 16>;

enum class CommunicatorId : std::uint32_t {};
// The communicator of all members, which carries no synchronisation: see Prepare.
inline constexpr CommunicatorId kAllMembers{0xffffffff};

// How a server turns what was pushed into an update of its shard.
enum class ServerUpdate : std::uint8_t {
  None,          // no parameter servers
  MeanGradient,  // one update a round: the mean of what was pushed since the last
  EveryPush,     // each push is worth 1/n of an update
};

namespace message {

// member -> group generator

struct Hello {  // the first frame of a connection
  Secret secret{};
  std::uint32_t rank = 0;
  std::uint64_t process = 0;
  std::string host{};
  std::string device{};  // "" on CPUs; else what names the GPU among all of its host's
  bool operator==(const Hello&) const = default;
};
struct ClockProbe {
  Time sent{};  // of the member's own clock
  bool operator==(const ClockProbe&) const = default;
};
struct Prepared {  // parameters are there, point-to-point paths stand
  std::uint32_t run = 0;
  bool operator==(const Prepared&) const = default;
};
struct Ready {
  std::uint64_t step = 0;
  Time began{};
  Time ended{};
  bool operator==(const Ready&) const = default;
};
// What `--verify` compares: of a mean's input and output, a random-sign sum over all entries, in
// double, and a sample of entries; which signs and entries depends on the synchronisation alone.
struct Sample {
  double signed_sum = 0;
  std::vector<float> entries;
  bool operator==(const Sample&) const = default;
};
struct Done {  // this member's part of a synchronisation is over
  SyncId sync{};
  Time received{};  // when its start arrived
  Time began{};     // of the transfer, after the communicator was made
  Time ended{};
  Time communicator{};          // spent on making the communicator; 0 on a hit
  std::vector<Sample> samples;  // with verify: before, after; else empty
  bool operator==(const Done&) const = default;
};
struct Failed {  // this member's part ended without a result
  SyncId sync{};
  std::string reason;
  bool operator==(const Failed&) const = default;
};
struct RunLeft {  // answer to RunEnd
  std::uint32_t run = 0;
  Time cpu{};  // processor time that the process spent on the run
  bool operator==(const RunLeft&) const = default;
};

// group generator -> member

struct ClockReply {
  Time sent{};  // as in the probe
  Time here{};
  bool operator==(const ClockReply&) const = default;
};
// Goes to the first member alone at first, without a rendezvous; that answers at once with a
// Rendezvous of kAllMembers (without bytes, where its transport needs none), whose bytes are in the
// others' Prepare.
struct Prepare {
  std::uint32_t run = 0;
  std::uint32_t member = 0;
  std::uint32_t workers = 0;
  std::vector<std::uint32_t> ranks;  // of each member
  std::uint64_t entries = 0;         // fp32 parameters
  std::uint64_t seed = 0;
  bool verify = false;
  bool publish = false;  // keep the parameters of the last two readies for readers (neighbour mix)
  ServerUpdate update = ServerUpdate::None;
  std::vector<std::uint8_t> rendezvous;  // of kAllMembers; the first member has its own
  bool operator==(const Prepare&) const = default;
};
struct Release {           // resume; also the first step's beginning
  std::uint64_t step = 0;  // the number of the step to compute
  Time work{};             // how long it takes, slowdowns included
  bool snapshot = false;   // first copy the parameters
  bool last = false;       // no step more: the quota is done
  bool operator==(const Release&) const = default;
};
struct Start {
  SyncId sync{};
  SyncKind kind = SyncKind::GroupMean;
  std::uint64_t step = 0;
  std::vector<Member> members;
  CommunicatorId communicator{};  // group means only
  bool create = false;            // not yet there at these members
  bool operator==(const Start&) const = default;
};
struct Drop {  // the communicator will not be used again
  CommunicatorId communicator{};
  bool operator==(const Drop&) const = default;
};
struct Abort {  // a member was lost: end your part with Failed
  SyncId sync{};
  bool operator==(const Abort&) const = default;
};
struct RunEnd {
  std::uint32_t run = 0;
  std::string failure;  // "" when all went well
  bool operator==(const RunEnd&) const = default;
};
struct JobEnd {
  std::string failure;
  bool operator==(const JobEnd&) const = default;
};

// both ways

struct Heartbeat {  // a member's, and the answer: each side takes long silence for a loss
  bool operator==(const Heartbeat&) const = default;
};
// What members need to find each other (an NCCL unique id): the first member of a start that
// creates sends it, the group generator passes it on to the others. Where the transport needs none,
// nobody sends one or waits for one.
struct Rendezvous {
  CommunicatorId communicator{};
  std::vector<std::uint8_t> bytes;
  bool operator==(const Rendezvous&) const = default;
};

}  // namespace message

using Message = std::variant<message::Hello, message::ClockProbe, message::Prepared, message::Ready,
                             message::Done, message::Failed, message::RunLeft, message::Heartbeat,
                             message::ClockReply, message::Prepare, message::Release,
                             message::Start, message::Drop, message::Abort, message::RunEnd,
                             message::JobEnd, message::Rendezvous>;

}  // namespace cohort
