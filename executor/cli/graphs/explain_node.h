// --explain-node: says where a node comes from and what became of it.
#pragma once

#include "absl/status/status.h"
#include "executor/cli/options/invocation.h"
#include "grappler_lite/provenance/provenance.h"

namespace tenon::cli {

// Adds "explain_node" to the document and a paragraph to the text. `name` is a node of either graph
// or "FUNCTION:NODE", as NamedNodes takes it. `model` is the graph before the passes, `optimized`
// the graph after them. `provenance` has observed these passes. kUsage: neither graph has the name.
absl::Status ExplainNode(const Provenance& provenance, const Graph& model, const Graph& optimized,
                         const std::string& name, Invocation& invocation);

// Writes the history of each node of the optimized graph into two attributes of the node, lists of
// strings: _tenon_origins, unless the node's only origin is itself, and _tenon_rewrites, unless
// there are none. Removes those of an earlier optimization. Does so in bodies of functions too, but
// leaves out a body that FunctionGraph::Make refuses.
void WriteProvenance(const Provenance& provenance, Graph& graph);

// The two attributes of node n that WriteProvenance writes. A list is empty if n lacks the
// attribute. In a graph that WriteProvenance wrote, no origins mean that n comes from itself alone.
Provenance::History WrittenHistory(const Graph& graph, NodeId n);

}  // namespace tenon::cli
