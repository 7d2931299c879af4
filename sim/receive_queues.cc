#include "sim/receive_queues.h"

#include <algorithm>

#include "traces/units.h"

namespace cohort {

void ReceiveQueues::prepare(ActivityIndex transfer, std::span<const Load> loads, double amount) {
  const auto i = static_cast<std::size_t>(transfer);
  if (i >= senders_.size()) senders_.resize(i + 1);
  Sender& sender = senders_[i];
  sender.amount = amount;
  sender.arrivals.clear();
  // What comes back as acknowledgements is no queue of its own.
  double largest = 0;
  for (const auto& load : loads) largest = std::max(largest, load.weight);
  for (const auto& load : loads)
    if (links_.receives(load.link) && load.weight > largest / 2)
      sender.arrivals.push_back({load.link, load.weight});
}

Time ReceiveQueues::wait(ActivityIndex transfer, Time now) const {
  double longest = 0;
  for (const auto& arrival : senders_[static_cast<std::size_t>(transfer)].arrivals) {
    const auto link = static_cast<std::size_t>(arrival.link);
    if (link >= users_.size()) continue;
    double bytes = 0;
    for (const auto other : users_[link]) bytes += waiting(other, arrival.link, now);
    longest = std::max(longest, bytes / links_.present(arrival.link));
  }
  return Time{static_cast<Time::rep>(longest * 1e9)};  // whole ns: no queue of a rounding error
}

double ReceiveQueues::waiting(ActivityIndex transfer, LinkIndex link, Time now) const {
  const Sender& sender = senders_[static_cast<std::size_t>(transfer)];
  const auto arrival = std::ranges::find(sender.arrivals, link, &Arrival::link);
  const double remaining = transfers_.remaining(transfer, now) * arrival->weight;
  const double arrived = sender.amount * arrival->weight - remaining;
  const double sent = links_.present(link) * seconds(now - sender.begun);
  return std::clamp(sent - arrived, 0.0, std::min(window_, remaining));
}

void ReceiveQueues::begin(ActivityIndex transfer, Time now) {
  Sender& sender = senders_[static_cast<std::size_t>(transfer)];
  sender.begun = now;
  for (const auto& arrival : sender.arrivals) users(arrival.link).push_back(transfer);
}

void ReceiveQueues::end(ActivityIndex transfer) {
  for (const auto& arrival : senders_[static_cast<std::size_t>(transfer)].arrivals)
    std::erase(users(arrival.link), transfer);
}

std::vector<ActivityIndex>& ReceiveQueues::users(LinkIndex link) {
  const auto i = static_cast<std::size_t>(link);
  if (i >= users_.size()) users_.resize(i + 1);
  return users_[i];
}

}  // namespace cohort
