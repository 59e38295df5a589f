#include "grappler_lite/pipeline/fingerprint.h"

#include "absl/hash/hash.h"

namespace tenon {

uint64_t Fingerprint(const Graph& graph) {
  uint64_t print = 0;
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (!graph.alive(n)) continue;
    print =
        absl::HashOf(print, n, graph.name(n), &graph.kind(n), graph.device(n), graph.num_inputs(n));
    for (const Output& in : graph.inputs(n)) print = absl::HashOf(print, in);
  }
  for (const FunctionEntry& f : graph.functions())
    // The bytes of a function are immutable and shared: a changed function lies at another address.
    print = absl::HashOf(print, f.name, f.wire.data(), f.wire.size());
  return print;
}

}  // namespace tenon
