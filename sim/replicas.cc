#include "sim/replicas.h"

#include <utility>

namespace cohort {
namespace {

bool ends_with_mean(Role role) { return role == Role::Blocking || role == Role::Passive; }

}  // namespace

template <typename T>
Replicas<T>::Replicas(const Options& options, RowPool<T>& rows, const Row<T>& initial)
    : options_(options), rows_(rows), workers_(options.workers) {
  for (auto& worker : workers_) worker.now.row = initial;
}

template <typename T>
void Replicas<T>::ready(WorkerId id, std::uint64_t step) {
  Worker& worker = workers_[index(id)];
  if (options_.publish) worker.published[step % 2] = worker.now.row;
  if (options_.keep_ready) worker.at_ready = worker.now;
}

template <typename T>
void Replicas<T>::snapshot(WorkerId worker) {
  auto& own = workers_[index(worker)];
  own.snapshot = own.now;
  own.at_ready = {};
}

template <typename T>
auto Replicas<T>::snapshot_of_ready(WorkerId worker) -> const Version& {
  auto& own = workers_[index(worker)];
  return own.snapshot = std::exchange(own.at_ready, {});
}

template <typename T>
std::span<const double> Replicas<T>::synchronise(SyncKind kind, std::uint64_t step,
                                                 std::span<const Member> members) {
  shares_.clear();
  for (const auto& member : members)
    shares_.push_back({contribution(kind, step, member)->numbers().data(), member.weight});
  squared_distances_.resize(members.size());
  const Row<T> mean = room_for_mean(members);
  weighted_mean<T>(shares_, options_.parameters, mean->writable(), squared_distances_);
  for (const auto& member : members) take_over(member, mean);
  return squared_distances_;
}

template <typename T>
const Row<T>& Replicas<T>::contribution(SyncKind kind, std::uint64_t step,
                                        const Member& member) const {
  const Worker& worker = workers_[index(member.worker)];
  if (kind == SyncKind::NeighbourMix) return worker.published[step % 2];
  return member.role == Role::Background ? worker.snapshot.row : worker.now.row;
}

// One that the mean replaces, if nobody else holds it.
template <typename T>
Row<T> Replicas<T>::room_for_mean(std::span<const Member> members) {
  for (const auto& member : members)
    if (ends_with_mean(member.role) && !of(member.worker)->shared()) return of(member.worker);
  return rows_.take();
}

template <typename T>
void Replicas<T>::take_over(const Member& member, const Row<T>& mean) {
  Worker& worker = workers_[index(member.worker)];
  if (ends_with_mean(member.role)) {
    worker.now.row = mean;
  } else if (member.role == Role::Background) {
    const Row<T> to = rows_.successor(worker.now.row);
    correct<T>({mean->numbers(), worker.snapshot.row->numbers(), worker.now.row->numbers(),
                to->writable()});
    worker.now.row = to;
    worker.snapshot = {};
  } else {
    return;
  }
  ++worker.now.changes;
}

template class Replicas<float>;
template class Replicas<double>;

}  // namespace cohort
