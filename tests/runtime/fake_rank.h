// A rank without parameters: answers the group generator as a real one would, at once.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "runtime/control_link.h"
#include "runtime/job_server.h"

namespace cohort {

// A sentence that one thread leaves and another waits for, a bounded time.
class Note {
 public:
  void leave(const std::string& text);
  // Takes it; "nothing came" when nothing did.
  [[nodiscard]] std::string take();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::string> text_;
};

class FakeRank {
 public:
  FakeRank(const JobServer& server, std::uint32_t rank,
           std::chrono::milliseconds heartbeat = std::chrono::milliseconds(20));
  ~FakeRank();

  [[nodiscard]] static message::Hello hello(const JobServer& server, std::uint32_t rank);

  void send(const Message& message) { link_->send(message); }
  [[nodiscard]] Time now() const { return link_->now(); }
  void close() { link_->close(); }
  // Answers no start any more, nor the end of a run.
  void get_stuck() { stuck_ = true; }
  // Answers nothing any more, from the next run on.
  void get_slow() { slow_ = stuck_ = true; }

  Note closed;       // why the other side did
  Note run_failure;  // of the latest RunEnd
  Note job_failure;

 private:
  void receive(const Message& message);
  void answer(const message::Prepare& prepare);
  void answer(const message::Release& release);
  void answer(const message::Start& start);
  void answer(const message::RunEnd& end);
  void answer(const message::JobEnd& end);

  std::atomic<bool> stuck_ = false;
  std::atomic<bool> slow_ = false;
  std::mutex mutex_;  // until link_ is there
  std::unique_ptr<ControlLink> link_;
  std::thread closer_;
};

}  // namespace cohort
