#include "runtime/endpoint.h"

#include <ifaddrs.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>

#include "policies/errors.h"

namespace cohort {
namespace {

using boost::asio::ip::address;
using boost::asio::ip::tcp;

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
  throw InputError("listen", "\"" + text + "\" " + why +
                                 "; allowed: an address or a network interface of this machine, "
                                 "and a port if you like: 10.0.0.1, 10.0.0.1:4242, eth0");
}

struct Parts {
  std::string host;
  std::string port;  // "" when there is none
};

// An IPv6 address holds colons itself, so a port is behind it only in brackets.
Parts split(const std::string& text) {
  if (text.starts_with('[')) {
    const auto end = text.find(']');
    if (end == std::string::npos) refuse(text, "lacks a bracket");
    const auto rest = text.substr(end + 1);
    if (!rest.empty() && rest.front() != ':') refuse(text, "is not an address");
    return {text.substr(1, end - 1), rest.empty() ? rest : rest.substr(1)};
  }
  const auto colon = text.find(':');
  if (colon == std::string::npos || text.find(':', colon + 1) != std::string::npos)
    return {text, ""};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

std::uint16_t port_of(const std::string& text, const std::string& port) {
  std::uint16_t number = 0;
  const auto* end = port.data() + port.size();
  const auto [last, error] = std::from_chars(port.data(), end, number);
  if (error != std::errc{} || last != end) refuse(text, "has no port from 0 to 65535");
  return number;
}

std::optional<address> address_of(const sockaddr* found) {
  if (found == nullptr) return std::nullopt;
  if (found->sa_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(found);
    return boost::asio::ip::address_v4(ntohl(v4->sin_addr.s_addr));
  }
  if (found->sa_family != AF_INET6) return std::nullopt;
  const auto* v6 = reinterpret_cast<const sockaddr_in6*>(found);
  boost::asio::ip::address_v6::bytes_type bytes;
  std::copy_n(v6->sin6_addr.s6_addr, bytes.size(), bytes.begin());
  return boost::asio::ip::address_v6(bytes, v6->sin6_scope_id);
}

std::optional<address> interface_address(const std::string& name) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return std::nullopt;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, &::freeifaddrs);
  std::optional<address> best;
  for (const auto* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (name != entry->ifa_name) continue;
    const auto found = address_of(entry->ifa_addr);
    if (found && (!best || (best->is_v6() && found->is_v4()))) best = found;
  }
  return best;
}

}  // namespace

tcp::endpoint endpoint_of(const std::string& text) {
  const auto parts = split(text);
  const auto port = parts.port.empty() ? std::uint16_t{0} : port_of(text, parts.port);
  boost::system::error_code error;
  auto host = boost::asio::ip::make_address(parts.host, error);
  if (error) {
    const auto found = interface_address(parts.host);
    if (!found) refuse(text, "is neither an address nor an interface");
    host = *found;
  }
  if (host.is_unspecified()) refuse(text, "is no address that a rank could connect to");
  return {host, port};
}

std::string text_of(const tcp::endpoint& endpoint) {
  const auto host = endpoint.address().to_string();
  return (endpoint.address().is_v6() ? "[" + host + "]" : host) + ":" +
         std::to_string(endpoint.port());
}

}  // namespace cohort
