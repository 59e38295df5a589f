// Parses the nodes of a GraphDef, and finds an order in which they can be added to a graph.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "graph/ir/graph.h"

namespace tenon::api {

// An input of a node, taken apart.
struct InputText {
  std::string_view node;
  int port;  // kControlPort for "^node"
};
// Takes "node" (port 0), "node:1" or "^node" apart. The result has a view of `text`. Never fails: a
// text of no such form, such as "node:x" or a port of 10 digits, is the name of a node, of port 0.
// Whether there is such a node the caller finds out.
InputText ParseInput(std::string_view text);

// A NodeDef. Views of the GraphDef's bytes, but for `extra`.
struct NodeDefText {
  std::string_view name, op, device;
  std::vector<std::string_view> inputs;
  std::vector<Attr> attrs;  // sorted by name; of equal names the last
  // Fields that the host does not interpret, one behind the other: a view of the graph's storage.
  // data() is null if there are none.
  std::string_view extra;
};

// The parts of a GraphDef.
struct GraphDefText {
  std::vector<NodeDefText> nodes;                      // in the order of the bytes
  absl::flat_hash_map<std::string_view, int> by_name;  // index into `nodes`, by name
  // FunctionDefLibrary and VersionDef bytes; data() is null if the GraphDef has none.
  std::string_view library, versions;
};

// Parses GraphDef bytes. The result has views of the bytes and of the storage of `graph`, which
// must both live as long. It copies into that storage each node's `extra`, and a library or
// versions that the bytes have in several pieces, as protobuf allows. INVALID_ARGUMENT: "Invalid
// GraphDef" for bytes that protobuf would not parse; TensorFlow's messages for a node whose name is
// malformed or not unique, that has no op, or that has a data input after a control input.
absl::StatusOr<GraphDefText> ParseGraphDef(std::string_view wire, Graph& graph);

// The order in which TensorFlow adds the nodes: the next node is always the first one, by index in
// GraphDefText::nodes, whose inputs were all added or are mapped. A Merge that reads a
// NextIteration waits for fewer of its inputs: for one more than it has control inputs, whichever
// come first.
class NodeOrder {
 public:
  // `is_mapped` says whether an input is replaced by an output of the graph
  // (TF_ImportGraphDefOptions::input_map). INVALID_ARGUMENT if an input names no node of `def` and
  // is not mapped.
  static absl::StatusOr<NodeOrder> Of(const GraphDefText& def,
                                      absl::FunctionRef<bool(const InputText&)> is_mapped);
  // The indices of the nodes, in the order in which they can be added. Nodes that wait for each
  // other in a cycle are missing, and so are the nodes that need them.
  std::vector<int> Take() &&;

 private:
  std::vector<int> pending_;            // by node: inputs that are not there yet
  std::vector<uint32_t> first_reader_;  // by node: into readers_, one more at the end
  std::vector<int> readers_;
};

}  // namespace tenon::api
