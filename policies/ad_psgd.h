// `ad-psgd`: asynchronous decentralised averaging in pairs.
//
// Bipartite form: even workers are active, odd ones passive (with an odd number of workers the last
// is active). An active worker ends its step with a pair mean with a random passive neighbour that
// is not lost; requests queue first come, first served at the passive one, which serves one at a
// time. `passive: keeps_computing` is released at its ready and serves at any time; `blocks` serves
// only at its own sync point, those who queue there at its ready, and is then released (later ones
// wait for the next, so that it is never held for ever). A passive worker that left serves on. An
// active worker without a passive neighbour that is not lost is released; a graph edge between two
// active or two passive workers is refused when given, and unused in a ring of odd length.
//
// `exclusive_all`: a complete graph in which every worker ends its step with an exchange with a
// random other worker that has not left. An exchange starts when neither end is in one, oldest
// request first. Requests at a worker that leaves or is lost choose again and count as new; so does
// the request of the survivor of a failed exchange. Members: the asking worker (blocking, 1/2),
// then the served one (passive, 1/2). `active: background` decorates either form
// ("policies/background.h").
#pragma once

#include "policies/graph.h"
#include "policies/registry.h"

namespace cohort {

[[nodiscard]] PolicyEntry ad_psgd_entry();

enum class Passive : std::uint8_t { KeepsComputing, Blocks };

// Whether `worker` is active in the bipartite form.
[[nodiscard]] bool is_active(std::uint32_t worker);

// Both forms with blocking active workers.
[[nodiscard]] std::unique_ptr<Policy> make_bipartite(Graph graph, Passive passive,
                                                     std::uint64_t seed);
[[nodiscard]] std::unique_ptr<Policy> make_exclusive(std::uint32_t workers, std::uint64_t seed);

}  // namespace cohort
