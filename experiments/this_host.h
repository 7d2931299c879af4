// What this host is called, and the addresses by which others may reach it.
#pragma once

#include <string>
#include <vector>

namespace cohort {

// "" when the system does not say.
[[nodiscard]] std::string host_name();

// IPv4, of interfaces that are up and no loopback, in the system's order. Throws EnvironmentError.
[[nodiscard]] std::vector<std::string> own_addresses();

}  // namespace cohort
