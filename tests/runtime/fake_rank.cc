#include "tests/runtime/fake_rank.h"

namespace cohort {

void Note::leave(const std::string& text) {
  const std::lock_guard lock(mutex_);
  text_ = text;
  changed_.notify_all();
}

std::string Note::take() {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::seconds(20), [this] { return text_.has_value(); });
  const auto text = text_.value_or("nothing came");
  text_.reset();
  return text;
}

message::Hello FakeRank::hello(const JobServer& server, std::uint32_t rank) {
  return {
      .secret = server.secret(), .rank = rank, .process = 100 + rank, .host = "here", .device = ""};
}

FakeRank::FakeRank(const JobServer& server, std::uint32_t rank,
                   std::chrono::milliseconds heartbeat) {
  const std::lock_guard lock(mutex_);
  link_ = std::make_unique<ControlLink>(
      ControlLink::Options{.server = server.address(),
                           .hello = hello(server, rank),
                           .heartbeat = heartbeat,
                           .receive = [this](Message&& message) { receive(message); },
                           .closed = [this](const std::string& why) { closed.leave(why); }});
}

FakeRank::~FakeRank() {
  link_->close();
  if (closer_.joinable()) closer_.join();
}

void FakeRank::receive(const Message& message) {
  const std::lock_guard lock(mutex_);
  std::visit(
      [this](const auto& parts) {
        if constexpr (requires { answer(parts); }) answer(parts);
      },
      message);
}

void FakeRank::answer(const message::Prepare& prepare) {
  if (prepare.member == 0) send(message::Rendezvous{kAllMembers, {1, 2, 3}});
  if (slow_) return;
  send(message::Prepared{prepare.run});
}

void FakeRank::answer(const message::Release& release) {
  if (!release.last) send(message::Ready{release.step, now(), now()});
}

void FakeRank::answer(const message::Start& start) {
  if (!stuck_) send(message::Done{start.sync, now(), now(), now(), Time{}, {}});
}

void FakeRank::answer(const message::RunEnd& end) {
  run_failure.leave(end.failure);
  if (!stuck_) send(message::RunLeft{end.run, Time{7}});
}

void FakeRank::answer(const message::JobEnd& end) {
  job_failure.leave(end.failure);
  closer_ = std::thread([this] { link_->close(); });
}

}  // namespace cohort
