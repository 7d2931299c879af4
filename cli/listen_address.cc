#include "cli/listen_address.h"

#include <algorithm>

#include "experiments/this_host.h"
#include "policies/errors.h"

namespace cohort {

std::string listen_address(const std::vector<std::string>& hosts) {
  if (std::ranges::all_of(hosts, [&](const auto& host) { return host == hosts.front(); }))
    return "127.0.0.1";
  const auto addresses = own_addresses();
  if (!addresses.empty()) return addresses.front();
  throw EnvironmentError(
      "this host has no address by which the others can reach it; set run.listen in the spec");
}

}  // namespace cohort
