// Where a program made a node: "train.cc:42". The places stand in the node's NodeDef, as
// experimental_debug_info.original_func_names; its original_node_names are the nodes that the node
// was made from. TensorFlow keeps both and does nothing by them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/ir/graph.h"

namespace tenon {

// The number of the field of a NodeDef that holds the places.
inline constexpr uint32_t kDebugInfoField = 6;

// The bytes of a NodeDef's debug info, as a field, for a node that was made at `place`.
std::string DebugInfo(std::string_view node, std::string_view place);

// The places of a node, each once, at most 16, in the order in which the NodeDef has them. Empty if
// the program said none.
std::vector<std::string> PlacesOf(const Graph& graph, NodeId n);

// The places of a node as one text, "train.cc:42, train.cc:43".
std::string PlacesText(const Graph& graph, NodeId n);

// Whether a node of the graph has debug info. Linear in the nodes.
bool HasPlaces(const Graph& graph);

// Gives node `copy` of `to` the debug info of `node` of `from`, in place of what `copy` had. Does
// nothing if `node` has none.
void CopyDebugInfo(const Graph& from, NodeId node, Graph& to, NodeId copy);

// Gives nodes of `after`, which passes made of `before`, the places of the nodes that they took in:
// a node whose op or attributes have changed gets the places of its former data inputs that are
// gone, of their data inputs that are gone, and so on. A Constant ends this search and gives no
// places. An Identity gives no places. A node gets at most 16 places; the search ends once it has
// found 256 nodes. Nodes are the same if their ids are. The data inputs of `before` must have no
// holes. Linear in the graph.
void CarryPlaces(const Graph& before, Graph& after);

}  // namespace tenon
