// Addresses as text: where the group generator listens, and what its ranks are told.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <string>

namespace cohort {

// `text`: "10.0.0.1", "10.0.0.1:4242", "[fe80::1]:4242", "::1", or the name of a network interface
// of this machine in place of the address ("eth0", "eth0:4242": its first IPv4 address, else IPv6).
// Without a port: 0, any free one. Throws InputError: neither, or an address that no rank could
// connect to (0.0.0.0).
[[nodiscard]] boost::asio::ip::tcp::endpoint endpoint_of(const std::string& text);

// "10.0.0.1:4242", "[::1]:4242"
[[nodiscard]] std::string text_of(const boost::asio::ip::tcp::endpoint& endpoint);

}  // namespace cohort
