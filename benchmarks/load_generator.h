// Closed-loop load on a server: every connection sends its next frame when the last one was
// answered. One thread, one epoll.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstdint>
#include <vector>

namespace cohort {

struct LoadResult {
  double requests_per_second = 0;
  double p50_us = 0;  // from the write of a request to the read of its answer
  double p99_us = 0;
};

class LoadGenerator {
 public:
  // Connected sockets. `frame`: a Ready, whose step is counted up; answers have `answer_bytes`.
  LoadGenerator(std::vector<boost::asio::ip::tcp::socket> sockets, std::vector<std::uint8_t> frame,
                std::size_t answer_bytes);

  // Measures for `time`; what is under way is answered before it returns. Throws EnvironmentError
  // when a connection ends.
  [[nodiscard]] LoadResult run(std::chrono::milliseconds time);

 private:
  struct Connection {
    boost::asio::ip::tcp::socket socket;
    std::uint64_t step = 0;
    std::size_t read = 0;  // of the answer
    std::chrono::steady_clock::time_point sent;
  };
  void request(Connection& connection);
  // Whether the answer is complete.
  [[nodiscard]] bool answered(Connection& connection) const;

  std::vector<Connection> connections_;
  std::vector<std::uint8_t> frame_;
  std::size_t answer_bytes_;
};

}  // namespace cohort
