// The key `run` of a spec, resolved.
#pragma once

#include <string>

#include "runtime/run_setup.h"

namespace cohort {

enum class BackendKind : std::uint8_t { Mpi, Nccl };
enum class NodesOf : std::uint8_t {
  Hosts,  // the policy is told where the ranks really are
  Spec,   // ... what the spec says, whatever the hosts: several nodes tried out on one machine
};

struct RunSpec {
  std::string listen;  // address or address:port of the group generator; empty: chosen at the start
  BackendKind backend = BackendKind::Mpi;
  OnLoss on_loss = OnLoss::Fail;
  Time start_limit = std::chrono::seconds(30);
  NodesOf nodes = NodesOf::Hosts;
};

[[nodiscard]] constexpr const char* name_of(BackendKind backend) {
  return backend == BackendKind::Mpi ? "mpi" : "nccl";
}
[[nodiscard]] constexpr const char* name_of(OnLoss on_loss) {
  return on_loss == OnLoss::Fail ? "fail" : "continue";
}
[[nodiscard]] constexpr const char* name_of(NodesOf nodes) {
  return nodes == NodesOf::Hosts ? "hosts" : "spec";
}

}  // namespace cohort
