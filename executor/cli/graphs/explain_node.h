// --explain-node: says where a node comes from and what became of it.
#pragma once

#include "absl/status/status.h"
#include "executor/cli/options/invocation.h"
#include "grappler_lite/provenance/provenance.h"

namespace tenon::cli {

// Adds "explain_node" to the document and a paragraph to the text, for a node of the graph or
// "FUNCTION:NODE". `model` is the graph before the passes. kUsage: neither graph has the name.
absl::Status ExplainNode(const Provenance& provenance, const Graph& model, const Graph& optimized,
                         const std::string& name, Invocation& invocation);

// Writes the history of each node into its attributes, in bodies of functions too: _tenon_origins,
// unless the node's only origin is itself, and _tenon_rewrites.
void WriteProvenance(const Provenance& provenance, Graph& graph);

// The lists that WriteProvenance wrote into node n; empty if it wrote none.
Provenance::History WrittenHistory(const Graph& graph, NodeId n);

}  // namespace tenon::cli
