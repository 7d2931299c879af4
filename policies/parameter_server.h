// `parameter-server`: every worker exchanges with the servers, never with a peer.
//
// `sync`: a worker's push starts at its own ready; when the pushes of all live workers are in, one
// update (`update_time`, one timer), then all pulls; a worker is released when its own pull is
// done. `async`: each worker alone: push, update, pull; updates of different workers do not wait
// for each other. Members of an exchange: the worker (weight 1), then every server (weight 0). A
// lost worker is no longer waited for. The topology must have as many servers as the option
// `servers`.
#pragma once

#include "policies/registry.h"

namespace cohort {

[[nodiscard]] PolicyEntry parameter_server_entry();

}  // namespace cohort
