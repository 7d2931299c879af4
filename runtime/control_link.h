// A rank's connection to the group generator: hello, clock, frames both ways, heartbeats.
//
// One thread (started here) owns the socket. Received messages are handed to `receive` on that
// thread; send() may be called from any thread and never blocks.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "runtime/messages.h"

namespace cohort {

class ControlLink {
 public:
  struct Options {
    std::string server;  // address:port
    message::Hello hello{};
    std::chrono::milliseconds connect_limit{30'000};
    std::chrono::milliseconds heartbeat{1'000};
    std::chrono::milliseconds silence{5'000};  // of the group generator, which answers each
    std::function<void(Message&&)> receive{};  // may be called before the constructor has returned
    // Once: the connection is gone, and why. Not called when this side closes.
    std::function<void(const std::string&)> closed{};
  };

  // Connects (trying again within the limit), says hello and measures the clock's offset: of a
  // number of probes the one with the shortest trip. Throws EnvironmentError.
  explicit ControlLink(Options options);
  ~ControlLink();

  void send(const Message& message);
  // Now, on the group generator's clock.
  [[nodiscard]] Time now() const;
  // Sends what is queued, then closes; waits a bounded time. Any thread, but not from `receive` or
  // `closed`.
  void close();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cohort
