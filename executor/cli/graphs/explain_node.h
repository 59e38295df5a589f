// --explain-node: where a node comes from, or where it went.
#pragma once

#include "absl/status/status.h"
#include "executor/cli/options/invocation.h"
#include "grappler_lite/provenance/provenance.h"

namespace tenon::cli {

// Adds "explain_node" to the document and a paragraph to the text, for a node of the graph or
// "FUNCTION:NODE". kUsage for a name that neither the model nor the optimized graph has.
absl::Status ExplainNode(const Provenance& provenance, const Graph& model, const Graph& optimized,
                         const std::string& name, Invocation& invocation);

// Writes each node's story into it, in bodies of functions too: _tenon_origins, unless it is the
// node alone, and _tenon_rewrites.
void WriteProvenance(const Provenance& provenance, Graph& graph);

// The lists that WriteProvenance wrote; empty for nodes without.
Provenance::History WrittenHistory(const Graph& graph, NodeId n);

}  // namespace tenon::cli
