// The nodes of a GraphDef as texts, and the order in which they can be added to a graph.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "graph/ir/graph.h"

namespace tenon::api {

// The text of an input: "node", "node:1", "^node".
struct InputText {
  std::string_view node;
  int port;  // kControlPort for "^node"
};
InputText ParseInput(std::string_view text);

// A NodeDef. Views of the GraphDef's bytes.
struct NodeDefText {
  std::string_view name, op, device;
  std::vector<std::string_view> inputs;
  std::vector<Attr> attrs;  // sorted by name; of equal names the last
  std::string_view extra;   // fields that the host does not interpret; null data if there are none
};

// The parts of a GraphDef.
struct GraphDefText {
  std::vector<NodeDefText> nodes;
  absl::flat_hash_map<std::string_view, int> by_name;  // into `nodes`
  std::string_view library, versions;                  // data() is null where the bytes have none
};

// Parses GraphDef bytes, which must live as long as the result. Texts that stand in the bytes in
// pieces, as protobuf allows, are joined in `graph`'s storage. INVALID_ARGUMENT "Invalid GraphDef"
// for bytes that protobuf would not parse, and TensorFlow's messages for a node whose name is
// malformed or not unique, that has no op, or has a data input behind a control input.
absl::StatusOr<GraphDefText> ParseGraphDef(std::string_view wire, Graph& graph);

// The order in which TensorFlow adds the nodes: always the first one, by the order of the bytes, of
// which all inputs are there. A Merge in a loop waits for one data input only.
class NodeOrder {
 public:
  // `is_mapped` says whether an input is to be replaced by an output that exists. INVALID_ARGUMENT
  // for an input that names no node and is not mapped.
  static absl::StatusOr<NodeOrder> Of(const GraphDefText& def,
                                      absl::FunctionRef<bool(const InputText&)> is_mapped);
  // The numbers of the nodes that can be added. Fewer than there are if the rest wait in a cycle.
  std::vector<int> Take() &&;

 private:
  std::vector<int> pending_;            // by node: inputs that are not there yet
  std::vector<uint32_t> first_reader_;  // by node: into readers_, one more at the end
  std::vector<int> readers_;
};

}  // namespace tenon::api
