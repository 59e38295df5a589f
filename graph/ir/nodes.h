// What many places ask about single nodes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "graph/ir/graph.h"

namespace tenon {

// Whether n is a Placeholder or PlaceholderV2, which has no value unless one is fed.
bool IsPlaceholder(const Graph& graph, NodeId n);

// Whether n is marked `_grappler_do_not_remove`: passes leave n, and what n needs, in the graph.
bool MustStay(const Graph& graph, NodeId n);

// Whether node n, or a node of op `op`, is there to call functions: the op is functional (If,
// PartitionedCall and the like), or is itself the name of a function that nodes of the graph may
// call. Such nodes have no kernels. The function that a functional op names may be missing.
bool IsFunctional(const Graph& graph, NodeId n);
bool IsFunctional(const Graph& graph, std::string_view op);

// Returns the node that "node", "node:1" or "^node" names, whether or not the node has such an
// output; kNoNode if there is none.
NodeId NodeOfOutput(const Graph& graph, std::string_view text);
// Returns NodeOfOutput of each text, in their order; texts that name no node are left out.
std::vector<NodeId> NodesOfOutputs(const Graph& graph, absl::Span<const std::string> texts);

// Return what is wrong with a node whose op is unknown. UnknownOpError is UNIMPLEMENTED, with the
// place of n in the file; UnknownOpText is the message alone. Both name the closest registered op,
// if one is close; UnknownOpText only if `hint`.
absl::Status UnknownOpError(const Graph& graph, NodeId n);
std::string UnknownOpText(std::string_view op, bool hint = true);

// Returns `status` with "file:line:col: node 'x' (Op): " before its message, for binary files with
// "file: byte N: node 'x' (Op): ", for a node that a pass made with "node 'x' (Op): ". Code and
// payloads stay. Also notes the node (NoteNode). For kNoNode returns `status` as it is.
absl::Status NodeError(const Graph& graph, NodeId n, const absl::Status& status);

}  // namespace tenon
