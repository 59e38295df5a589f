// Makes a FunctionDef of a part of a graph.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/ir/graph.h"

namespace tenon::api {

// The parts of the function. The name of an argument is made of the name of its node, from the
// first letter on, in lower case, with '_' for characters that no argument may have; "unknown" for
// a name without a letter. Outputs, arguments and nodes of the function have different names. They
// take names in this order: outputs, `inputs`, `body`. A name that is taken gets "_0", "_1" and so
// on behind it. Names in `output_names` are never changed.
struct FunctionParts {
  std::string_view name;
  bool append_hash = false;           // append "_" and FunctionHashText to the name
  const char* description = nullptr;  // null: none
  std::vector<NodeId> body;
  // `inputs`: the values that become arguments, each once; the caller checks that. Where the node
  // of an input is in `body` too, readers of the input read the argument and not the node.
  // `outputs`: outputs of nodes of `body`, or values of `inputs`.
  std::vector<Output> inputs, outputs;
  // Exactly one for each output: the caller checks that. nullopt: the outputs are named as
  // arguments are.
  std::optional<std::vector<std::string>> output_names;
  // Nodes of `body` that each call must run. The node of an input may stand here too.
  std::vector<NodeId> control_outputs;
  // One for each control output. nullopt: the names of the nodes.
  std::optional<std::vector<std::string>> control_output_names;
};

struct MadeFunction {
  std::string wire;  // FunctionDef bytes
  // The verifier has nothing to find, whatever library the function gets into. False for functions
  // that call others, take attributes from their calls or have loops: that was not looked into.
  bool is_sound = true;
};

// All nodes of `parts` must be in the graph, and their ops known.
// INVALID_ARGUMENT, with TensorFlow's messages:
// * a data input of a node of the body, or an output, comes neither from the body nor from
//   `inputs`; or a control input comes from neither;
// * two output names or two control output names are equal, or a control output name is empty;
// * a control output is neither in the body nor the node of an input;
// * there is not one name for each control output.
// UNIMPLEMENTED: a placeholder stands first, in the order of `body`, in an attribute that the op of
// its node does not have. Later places of a placeholder are not checked.
absl::StatusOr<MadeFunction> GraphToFunction(const Graph& graph, const FunctionParts& parts);

}  // namespace tenon::api
