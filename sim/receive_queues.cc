#include "sim/receive_queues.h"

#include <algorithm>
#include <limits>

#include "traces/units.h"

namespace cohort {
namespace {

constexpr double kRounding = 1 + 1e-9;

}  // namespace

void ReceiveQueues::prepare(ActivityIndex transfer, std::span<const Load> loads, double amount) {
  const auto i = static_cast<std::size_t>(transfer);
  if (i >= senders_.size()) senders_.resize(i + 1);
  Sender& sender = senders_[i];
  sender.amount = amount;
  sender.departures.clear();
  sender.arrivals.clear();
  // What comes back as acknowledgements is no queue of its own.
  double largest = 0;
  for (const auto& load : loads) largest = std::max(largest, load.weight);
  for (const auto& load : loads) {
    if (load.weight < largest / 2) continue;
    if (links_.is_nic_up(load.link)) sender.departures.push_back(load.link);
    if (links_.is_nic_down(load.link)) sender.arrivals.push_back({load.link, load.weight});
  }
}

Time ReceiveQueues::wait(ActivityIndex transfer, Time now) const {
  double longest = 0;
  for (const auto& arrival : senders_[static_cast<std::size_t>(transfer)].arrivals) {
    const auto link = static_cast<std::size_t>(arrival.link);
    if (link >= users_.size()) continue;
    const double capacity = links_.present(arrival.link);
    double bytes = 0, rates = 0;
    for (const auto other : users_[link]) {
      const double rate = sending_rate(senders_[static_cast<std::size_t>(other)]);
      bytes += waiting(other, arrival.link, rate, now);
      rates += rate;
    }
    if (rates > capacity * kRounding) longest = std::max(longest, bytes / capacity);
  }
  return Time{static_cast<Time::rep>(longest * 1e9)};  // whole ns: no queue of a rounding error
}

// Bytes per second: of its slowest NIC.
double ReceiveQueues::sending_rate(const Sender& sender) const {
  double rate = std::numeric_limits<double>::infinity();
  for (const auto link : sender.departures) {
    const auto sharers = static_cast<double>(users_[static_cast<std::size_t>(link)].size());
    rate = std::min(rate, links_.present(link) / sharers);
  }
  return rate;
}

double ReceiveQueues::waiting(ActivityIndex transfer, LinkIndex link, double rate, Time now) const {
  const Sender& sender = senders_[static_cast<std::size_t>(transfer)];
  const auto arrival = std::ranges::find(sender.arrivals, link, &Arrival::link);
  const double remaining = transfers_.remaining(transfer, now) * arrival->weight;
  const double arrived = sender.amount * arrival->weight - remaining;
  const double sent = rate * seconds(now - sender.begun);
  return std::clamp(sent - arrived, 0.0, std::min(window_, remaining));
}

void ReceiveQueues::begin(ActivityIndex transfer, Time now) {
  Sender& sender = senders_[static_cast<std::size_t>(transfer)];
  sender.begun = now;
  for (const auto link : sender.departures) users(link).push_back(transfer);
  for (const auto& arrival : sender.arrivals) users(arrival.link).push_back(transfer);
}

void ReceiveQueues::end(ActivityIndex transfer) {
  const Sender& sender = senders_[static_cast<std::size_t>(transfer)];
  for (const auto link : sender.departures) std::erase(users(link), transfer);
  for (const auto& arrival : sender.arrivals) std::erase(users(arrival.link), transfer);
}

std::vector<ActivityIndex>& ReceiveQueues::users(LinkIndex link) {
  const auto i = static_cast<std::size_t>(link);
  if (i >= users_.size()) users_.resize(i + 1);
  return users_[i];
}

}  // namespace cohort
