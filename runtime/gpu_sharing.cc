#include "runtime/gpu_sharing.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "policies/errors.h"

namespace cohort {

void refuse_shared_gpus(const std::vector<RankFacts>& ranks) {
  std::map<std::pair<std::string, std::string>, std::size_t> taken;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const auto& [host, device, process] = ranks[rank];
    if (device.empty()) continue;
    const auto [owner, is_free] = taken.try_emplace({host, device}, rank);
    if (is_free) continue;
    throw InputError("ranks",
                     fmt::format("ranks {} and {} are both on GPU {} of host {}; allowed: at most "
                                 "as many ranks on a host as it has GPUs, or --share-gpus for a "
                                 "test",
                                 owner->second, rank, device, host));
  }
}

}  // namespace cohort
