#include "cli/listen_address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>

#include <algorithm>
#include <array>
#include <memory>

#include "policies/errors.h"

namespace cohort {

std::string listen_address(const std::vector<std::string>& hosts) {
  if (std::ranges::all_of(hosts, [&](const auto& host) { return host == hosts.front(); }))
    return "127.0.0.1";
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) throw EnvironmentError("cannot list this host's addresses");
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(first, &::freeifaddrs);
  for (const auto* at = first; at != nullptr; at = at->ifa_next) {
    if (at->ifa_addr == nullptr || at->ifa_addr->sa_family != AF_INET) continue;
    if ((at->ifa_flags & IFF_UP) == 0 || (at->ifa_flags & IFF_LOOPBACK) != 0) continue;
    std::array<char, INET_ADDRSTRLEN> text{};
    const auto* address = reinterpret_cast<const sockaddr_in*>(at->ifa_addr);
    if (::inet_ntop(AF_INET, &address->sin_addr, text.data(), text.size()) != nullptr)
      return text.data();
  }
  throw EnvironmentError(
      "this host has no address by which the others can reach it; set run.listen in the spec");
}

}  // namespace cohort
