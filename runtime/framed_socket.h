// A TCP connection that carries messages: frames in, frames out, for both ends.
//
// Belongs to one thread, which runs the socket's io_context; handlers are called on it. Only
// queue() and flush() may be called from any thread. Kept alive by its own pending operations until
// it is closed.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/codec.h"
#include "runtime/messages.h"

namespace cohort {

class FramedSocket : public std::enable_shared_from_this<FramedSocket> {
 public:
  struct Handlers {
    // May throw FrameError, which ends the connection, and call close().
    std::function<void(Message&&)> receive;
    // Once: the peer closed, or what went wrong. Not after close().
    std::function<void(const std::string&)> broken;
  };

  // Connected; `longest`: the longest body that is taken.
  FramedSocket(boost::asio::ip::tcp::socket socket, std::size_t longest = kLongestBody);

  void start(Handlers handlers);
  // From the next frame on.
  void accept_bodies_up_to(std::size_t longest) { longest_ = longest; }

  // Appends to what the next flush() writes; nothing once closed. A peer that leaves very much
  // unread is broken off.
  void queue(const Message& message);
  // Writes what is queued as far as the system takes it, the rest when it does; never waits.
  void flush();

  // At once; what is queued is lost.
  void close();
  // When what is queued is written, or after `limit`.
  void close_when_written(std::chrono::milliseconds limit);

  // "10.0.0.1:4242"
  [[nodiscard]] const std::string& peer() const { return peer_; }

 private:
  void read();
  void received(std::size_t bytes);
  // One frame from the front of what was read, if it is there.
  [[nodiscard]] bool take_frame();
  void make_room();
  void break_off(const std::string& why);
  void write_later();
  [[nodiscard]] bool write_some();

  boost::asio::ip::tcp::socket socket_;
  boost::asio::steady_timer linger_;
  std::string peer_;
  Handlers handlers_;
  std::size_t longest_;
  std::vector<std::uint8_t> in_;
  std::size_t first_ = 0;  // of in_: the bytes not yet taken
  std::size_t last_ = 0;

  std::mutex mutex_;  // of what follows, and of closing the socket
  std::vector<std::uint8_t> out_;
  std::size_t written_ = 0;  // of out_
  bool writing_ = false;     // waits for the system to take more
  bool closing_ = false;     // once written
  bool closed_ = false;
};

}  // namespace cohort
