// Where the group generator of a job listens when the spec does not say.
#pragma once

#include <string>
#include <vector>

namespace cohort {

// `hosts`: of every rank. Loopback when all ranks are on one host; else the first IPv4 address of
// this host that is up and no loopback. Throws EnvironmentError when there is none.
[[nodiscard]] std::string listen_address(const std::vector<std::string>& hosts);

}  // namespace cohort
