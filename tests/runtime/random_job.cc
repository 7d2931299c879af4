#include "tests/runtime/random_job.h"

#include <algorithm>

#include "runtime/mean_check.h"
#include "tests/policies/random_driver.h"

namespace cohort {

void KeptLog::record(const Event& event, const Actions& actions) {
  events_.push_back(event);
  lines_.push_back(line_of(event, actions));
}

std::string KeptLog::difference(const RunSetup& setup) const {
  const auto policy = make_policy(*setup.policy, setup.options, setup.topology, setup.seed);
  for (std::size_t i = 0; i < events_.size(); ++i) {
    Actions actions;
    policy->step(events_[i], actions);
    const auto line = line_of(events_[i], actions);
    if (line != lines_[i]) return lines_[i] + " replayed as " + line;
  }
  return "";
}

RunSetup plain_setup(const std::string& policy, const std::vector<std::uint32_t>& gpus_per_node,
                     std::uint64_t steps, const Options& given) {
  RunSetup setup;
  setup.policy = find_policy(policy);
  setup.options = resolve(*setup.policy, given);
  setup.topology = Topology(gpus_per_node, servers_needed(*setup.policy, setup.options));
  setup.base.assign(setup.topology.workers(), Time{10});
  setup.entries = 100;
  setup.steps_per_worker = steps;
  setup.verify = true;
  return setup;
}

RandomJob::RandomJob(const RunSetup& setup, std::uint64_t seed, std::vector<Loss> losses)
    : setup_(setup),
      stream_(seed, Purpose::Failure, 0, 0),
      generator_(setup, *this, &log_),
      fakes_(setup.topology.workers() + setup.topology.servers()) {
  for (const auto& [member, at] : losses) schedule(at, {.member = member, .loss = true});
}

void RandomJob::run() {
  generator_.begin(now_);
  while (!queue_.empty() && !generator_.ended()) {
    const auto happening = queue_.begin()->second;
    now_ = std::get<0>(queue_.begin()->first);
    queue_.erase(queue_.begin());
    happen(happening);
  }
}

void RandomJob::happen(const Happening& happening) {
  auto& fake = fakes_[happening.member];
  if (happening.timer) {
    if (timers_.erase(index(*happening.timer)) > 0) generator_.fire(*happening.timer, now_);
  } else if (happening.loss) {
    fake.lost = true;
    generator_.lose(happening.member, "rank " + std::to_string(happening.member) + ": gone", now_);
  } else if (!fake.lost) {
    const auto ends = [&](SyncId sync) {  // false: it has ended otherwise since
      fake.used.erase(index(sync));
      return fake.busy.erase(index(sync)) > 0;
    };
    if (const auto* done = std::get_if<message::Done>(&happening.message);
        done && !ends(done->sync))
      return;
    if (const auto* failed = std::get_if<message::Failed>(&happening.message);
        failed && !ends(failed->sync))
      return;
    const auto* drawn = std::get_if<message::Rendezvous>(&happening.message);
    if (drawn && !uses(fake, drawn->communicator)) return;
    generator_.receive(happening.member, happening.message, now_);
  }
}

bool RandomJob::uses(const Fake& fake, CommunicatorId id) {
  return std::ranges::any_of(
      fake.used, [id](const auto& use) { return use.second == static_cast<std::uint32_t>(id); });
}

void RandomJob::send(std::uint32_t member, const Message& message) {
  if (fakes_[member].lost) complain(member, "is told something although it was lost");
  std::visit(
      [this, member](const auto& parts) {
        if constexpr (requires { take(member, parts); }) take(member, parts);
      },
      message);
}

void RandomJob::take(std::uint32_t member, const message::Release& release) {
  if (release.last) return;
  const auto began = now_ + some(3);
  const auto ended = began + some(8) + (stream_.below(8) == 0 ? some(40) : Time{});
  schedule(ended - now_ + some(3), {member, message::Ready{release.step, began, ended}});
}

void RandomJob::take(std::uint32_t member, const message::Start& start) {
  auto& fake = fakes_[member];
  if (!fake.busy.insert(index(start.sync)).second) complain(member, "is started twice");
  if (start.kind == SyncKind::GroupMean) use(member, start);
  const auto began = now_ + some(4);
  const auto ended = began + some(12);
  schedule(ended - now_ + some(3), {member, done(member, start, began, ended)});
}

void RandomJob::use(std::uint32_t member, const message::Start& start) {
  auto& fake = fakes_[member];
  const auto id = static_cast<std::uint32_t>(start.communicator);
  if (fake.communicators.contains(id) == start.create)
    complain(member, start.create ? "is to make a communicator that it has"
                                  : "is to use a communicator that it lacks");
  fake.communicators.insert(id);
  fake.used[index(start.sync)] = id;
  if (start.create && start.members.front().worker == WorkerId{member})
    schedule(Time{0}, {member, message::Rendezvous{start.communicator, {9}}});
}

void RandomJob::take(std::uint32_t member, const message::Abort& abort) {
  if (fakes_[member].busy.contains(index(abort.sync)))
    schedule(some(6), {member, message::Failed{abort.sync, "aborted"}});
}

void RandomJob::take(std::uint32_t member, const message::Drop& drop) {
  auto& fake = fakes_[member];
  const auto id = static_cast<std::uint32_t>(drop.communicator);
  if (fake.communicators.erase(id) == 0) complain(member, "is to drop a communicator it lacks");
  if (uses(fake, drop.communicator)) complain(member, "is to drop a communicator in use");
}

void RandomJob::take(std::uint32_t member, const message::Rendezvous& rendezvous) {
  if (!fakes_[member].communicators.contains(static_cast<std::uint32_t>(rendezvous.communicator)))
    complain(member, "hears of a rendezvous for a communicator that it does not make");
}

message::Done RandomJob::done(std::uint32_t member, const message::Start& start, Time began,
                              Time ended) const {
  message::Done out{start.sync, now_, began, ended, Time{}, {}};
  double mean = 0;
  for (const auto& other : start.members) mean += other.weight * index(other.worker);
  const double own = member;
  out.samples = {{own, {static_cast<float>(own)}},
                 {mean + wrong, {static_cast<float>(mean + wrong)}}};
  return out;
}

void RandomJob::set_timer(TimerId timer, Time at) {
  timers_.insert(index(timer));
  schedule(at - now_, {.timer = timer});
}

void RandomJob::schedule(Time delay, Happening happening) {
  queue_.emplace(std::tuple(now_ + delay, stream_.next_u32(), scheduled_++), std::move(happening));
}

void RandomJob::complain(std::uint32_t member, const std::string& what) {
  complaints_.push_back("member " + std::to_string(member) + " " + what);
}

}  // namespace cohort
