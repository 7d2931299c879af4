#include "runtime/framed_socket.h"

#include <netinet/in.h>
#include <netinet/ip.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <cstring>

#include "runtime/endpoint.h"

namespace cohort {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;

constexpr std::size_t kFirstRoom = 16 * 1024;
// A peer that leaves this much unread has stopped reading.
constexpr std::size_t kMostUnread = 64U << 20;

std::string peer_of(const tcp::socket& socket) {
  error_code error;
  const auto peer = socket.remote_endpoint(error);
  return error ? "a peer already gone" : text_of(peer);
}

// What is urgent need not wait behind the data of transfers, at this host's link and wherever else
// the mark counts. Where it cannot be set, messages are only slower.
void pass_waiting_data(int socket) {
  const int mark = IPTOS_LOWDELAY;
  ::setsockopt(socket, IPPROTO_IP, IP_TOS, &mark, sizeof mark);
}

}  // namespace

FramedSocket::FramedSocket(tcp::socket socket, std::size_t longest)
    : socket_(std::move(socket)),
      linger_(socket_.get_executor()),
      peer_(peer_of(socket_)),
      longest_(longest),
      in_(kFirstRoom) {
  error_code ignored;  // of a peer already gone: reading will tell
  socket_.set_option(tcp::no_delay(true), ignored);
  pass_waiting_data(socket_.native_handle());
  socket_.non_blocking(true, ignored);
}

void FramedSocket::start(Handlers handlers) {
  handlers_ = std::move(handlers);
  read();
}

void FramedSocket::read() {
  socket_.async_read_some(
      boost::asio::buffer(in_.data() + last_, in_.size() - last_),
      [self = shared_from_this()](const error_code& error, std::size_t bytes) {
        if (self->closed_) return;
        if (!error) return self->received(bytes);
        const bool ended = error == boost::asio::error::eof;
        if (ended && self->first_ < self->last_)
          return self->break_off("truncated: the connection ended inside a frame");
        self->break_off(ended ? "the connection was closed" : error.message());
      });
}

void FramedSocket::received(std::size_t bytes) {
  last_ += bytes;
  try {
    while (!closed_ && take_frame()) {
    }
  } catch (const FrameError& error) {
    return break_off(error.what());
  }
  if (closed_) return;
  make_room();
  read();
}

bool FramedSocket::take_frame() {
  const auto bytes = std::span<const std::uint8_t>(in_).subspan(first_, last_ - first_);
  if (bytes.size() < kHeaderBytes) return false;
  const auto header = decode_header(bytes.first(kHeaderBytes));
  if (header.length > longest_)
    throw FrameError("oversized: a body of " + std::to_string(header.length) +
                     " bytes, at this point at most " + std::to_string(longest_));
  if (bytes.size() < kHeaderBytes + header.length) return false;
  first_ += kHeaderBytes + header.length;
  handlers_.receive(decode_body(header, bytes.subspan(kHeaderBytes, header.length)));
  return true;
}

// For the rest of the frame that has begun, or for the next.
void FramedSocket::make_room() {
  if (first_ > 0) {
    std::memmove(in_.data(), in_.data() + first_, last_ - first_);
    last_ -= first_;
    first_ = 0;
  }
  if (last_ < in_.size()) return;
  in_.resize(std::min(2 * in_.size(), kHeaderBytes + kLongestBody));
}

void FramedSocket::break_off(const std::string& why) {
  close();
  handlers_.broken(why);
}

void FramedSocket::queue(const Message& message) {
  const std::lock_guard lock(mutex_);
  if (closed_ || closing_) return;
  encode(message, out_);
  if (out_.size() - written_ <= kMostUnread) return;
  closing_ = true;
  boost::asio::post(socket_.get_executor(), [self = shared_from_this()] {
    if (!self->closed_) self->break_off("it does not read what it is sent");
  });
}

void FramedSocket::flush() {
  const std::lock_guard lock(mutex_);
  if (closed_ || writing_ || out_.empty() || write_some()) return;
  writing_ = true;
  boost::asio::post(socket_.get_executor(), [self = shared_from_this()] { self->write_later(); });
}

// True when all is written. An error is left to the reading side, which meets it too.
bool FramedSocket::write_some() {
  while (written_ < out_.size()) {
    const auto sent = ::send(socket_.native_handle(), out_.data() + written_,
                             out_.size() - written_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return false;
    if (sent < 0) break;
    written_ += static_cast<std::size_t>(sent);
  }
  out_.clear();
  written_ = 0;
  return true;
}

void FramedSocket::write_later() {
  if (closed_) return;
  socket_.async_wait(tcp::socket::wait_write, [self = shared_from_this()](const error_code& error) {
    if (self->closed_ || error) return;
    std::unique_lock lock(self->mutex_);
    const bool done = self->write_some();
    self->writing_ = !done;
    const bool close = done && self->closing_;
    lock.unlock();
    if (close) return self->close();
    if (!done) self->write_later();
  });
}

void FramedSocket::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  error_code ignored;
  linger_.cancel();
  socket_.shutdown(tcp::socket::shutdown_both, ignored);
  socket_.close(ignored);
}

void FramedSocket::close_when_written(std::chrono::milliseconds limit) {
  flush();
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    if (closed_) return;
    if (!writing_) limit = {};
  }
  if (limit == std::chrono::milliseconds{}) return close();
  linger_.expires_after(limit);
  linger_.async_wait([self = shared_from_this()](const error_code& error) {
    if (!error) self->close();
  });
}

}  // namespace cohort
