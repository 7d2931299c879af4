// What waits in front of each NIC's receiving side, where several hosts send to it at once.
//
// A connection keeps up to `window` bytes under way. While a link takes them in more slowly than
// their senders send, they wait there, first come first served: the first byte of a transfer that
// begins comes behind those of the transfers under way. Shares of the link are even from then on
// (sim/fair_share.h). A sender sends at an even share of its own NIC: a lone one builds no queue,
// nor do two hosts that each send to two. Transfers that begin together find no queue. Owned by the
// simulator.
#pragma once

#include <span>
#include <vector>

#include "sim/link_map.h"
#include "sim/transfers.h"

namespace cohort {

class ReceiveQueues {
 public:
  // `window` in bytes. The others outlive this.
  ReceiveQueues(double window, const LinkMap& links, const Transfers& transfers)
      : window_(window), links_(links), transfers_(transfers) {}

  // Of a transfer as Transfers::prepare() numbered it: it will move `amount` bytes times their
  // weight over `loads`.
  void prepare(ActivityIndex transfer, std::span<const Load> loads, double amount);
  // How long its first byte waits, were it sent now: at the longest of the queues that it meets.
  [[nodiscard]] Time wait(ActivityIndex transfer, Time now) const;
  void begin(ActivityIndex transfer, Time now);
  // Of one that may not have begun.
  void end(ActivityIndex transfer);

 private:
  struct Arrival {
    LinkIndex link{};
    double weight = 0;
  };
  struct Sender {
    std::vector<LinkIndex> departures;
    std::vector<Arrival> arrivals;
    double amount = 0;
    Time begun{};
  };

  [[nodiscard]] double sending_rate(const Sender& sender) const;
  // Bytes of a transfer in front of `link`, to which its sender sends at `rate`.
  [[nodiscard]] double waiting(ActivityIndex transfer, LinkIndex link, double rate, Time now) const;
  std::vector<ActivityIndex>& users(LinkIndex link);

  double window_;
  const LinkMap& links_;
  const Transfers& transfers_;
  std::vector<Sender> senders_;                    // by transfer
  std::vector<std::vector<ActivityIndex>> users_;  // by link: of begun transfers
};

}  // namespace cohort
