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
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "policies/synchronisation.h"
#include "traces/learning.h"
#include "training/training_rules.h"

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

// How a member trains.
struct TrainingTerms {
  // Which of the job's plans. Not the plan itself: data and models come from files and code that
  // every rank has, so each makes it from its spec, by the number that the rows of one cell share.
  std::uint32_t plan = 0;
  StepOrder order = StepOrder::UpdateThenAverage;
  Averaged averaged = Averaged::Models;
  bool average_momentum = false;  // the second half of the entries are velocities
  // Between two points of the learning curve: worker-steps of all together, or time where given.
  std::uint64_t steps_apart = 1;
  std::optional<Time> time_apart{};
  bool operator==(const TrainingTerms&) const = default;
};

// A point of the learning curve as one member knows it (runtime/curve_evaluation.h).
struct CurvePart {
  Time at{};                    // of its copy
  std::uint64_t steps = 0;      // its own by then; of a server: all workers' that it has used
  double squared_distance = 0;  // of its copy from the mean
  std::optional<Score> own{};   // of its copy, and of the mean, where this member evaluated them
  std::optional<Score> mean{};
  bool operator==(const CurvePart&) const = default;
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
struct Diverged {  // the loss of this step's batch is not finite: the worker goes no further
  std::uint64_t step = 0;
  bool operator==(const Diverged&) const = default;
};
struct Learned {  // answer to Evaluate
  std::uint32_t run = 0;
  std::vector<CurvePart> curve;  // the same points at all members
  std::uint64_t gradients = 0;   // applied by this member
  std::uint64_t changes = 0;     // by others, between reading and applying; of all of these
  bool operator==(const Learned&) const = default;
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
  std::vector<std::uint8_t> rendezvous;     // of kAllMembers; the first member has its own
  std::optional<TrainingTerms> training{};  // none: steps are emulated
  bool operator==(const Prepare&) const = default;
};
[[nodiscard]] inline bool averages_gradients(const Prepare& prepare) {
  return prepare.training && prepare.training->averaged == Averaged::Gradients;
}
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
struct Evaluate {  // the run is over, with training: bring the learning curve together
  std::uint32_t run = 0;
  std::vector<std::uint32_t> members;      // who does: those alive
  std::vector<std::uint8_t> rendezvous{};  // of these; the first of them draws it
  bool operator==(const Evaluate&) const = default;
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

using Message =
    std::variant<message::Hello, message::ClockProbe, message::Prepared, message::Ready,
                 message::Done, message::Failed, message::RunLeft, message::Heartbeat,
                 message::ClockReply, message::Prepare, message::Release, message::Start,
                 message::Drop, message::Abort, message::RunEnd, message::JobEnd,
                 message::Rendezvous, message::Diverged, message::Evaluate, message::Learned>;

}  // namespace cohort
