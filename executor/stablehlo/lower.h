// Prints nodes of a graph as one StableHLO program, for devices that compile.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/ir/graph.h"
#include "graph/tensor/dtype.h"
#include "graph/tensor/shape.h"
#include "graph/tensor/tensor.h"

namespace tenon {
class NodeEvaluator;  // grappler_lite/pipeline/pass.h
}

namespace tenon::stablehlo {

struct Trace;  // executor/stablehlo/trace.h

// A value that enters the program. All readers of `output` among the nodes read it. The node of
// `output` is not computed: what reads another of its outputs needs an argument for that too.
struct Argument {
  Output output;
  DataType dtype = DataType::kInvalid;
  Shape shape;
  // The elements in host memory, where the caller knows that they are the same in every run of this
  // program; else uninitialized. The argument is then no parameter, and its elements are a constant
  // (LoweringRequest::most_constant_bytes).
  Tensor value;
};

struct LoweringRequest {
  const Graph* graph = nullptr;
  // The nodes that are computed, in any order, but for those of arguments. Empty: all that the
  // results need. What the node of an argument needs is then computed too, unless it is a
  // Placeholder.
  absl::Span<const NodeId> nodes;
  absl::Span<const Argument> arguments;
  absl::Span<const Output> results;
  // Computes nodes whose operands are constants, so that shapes, axes and paddings that the graph
  // computes are known. May be null: then only what shape functions find is known.
  NodeEvaluator* evaluator = nullptr;
  // Products may round their operands (TF32 on NVIDIA). Else they have the operands' precision.
  bool allow_tf32 = false;
  // Puts the name of the node beside its first line, as a comment. Texts of equal clusters are then
  // no longer equal.
  bool node_names = false;
  bool trace = false;  // Program::trace is wanted
  // Constants of more bytes are parameters, unless all of their elements have the same bits.
  size_t most_constant_bytes = 1024;
};

// A parameter of the program. Parameters stand in the order in which Execute takes them: first the
// arguments that have no known value and that a node or result reads, in their order, then weights.
struct Parameter {
  DataType dtype = DataType::kInvalid;
  Shape shape;
  int32_t argument = -1;    // the index of the argument; -1 for a weight
  NodeId weight = kNoNode;  // the Const of the graph; kNoNode for other elements
  Tensor value;  // of a weight: its elements, perhaps unaligned; keeps the graph's storage alive
};

struct Result {
  DataType dtype = DataType::kInvalid;
  Shape shape;
};

// A condition that a run must meet. Its flag is an i1 scalar among the results of Execute, behind
// those of LoweringRequest::results: true where the run is right, false where `node` must fail with
// `code` and `message`.
struct Check {
  NodeId node = kNoNode;  // of the graph; for a node in a function's body, the node that calls it
  std::string name;       // of the node at fault: "node", or "caller/node" in a function's body
  absl::StatusCode code = absl::StatusCode::kInvalidArgument;
  std::string message;
};

struct Program {
  std::string text;  // one module with func.func public @main
  std::vector<Parameter> parameters;
  std::vector<Result> results;  // as many as were asked for, then one for each check
  std::vector<Check> checks;
  // The node of each line of `text`, by the number of the line less 1; kNoNode for lines of no
  // node. Lines of a function's body have the node of the graph that calls it.
  std::vector<NodeId> line_nodes;
  std::shared_ptr<const Trace> trace;  // null unless it was asked for
};

// Returns the program. Time is linear in the nodes, their shapes and the bytes of small constants.
// Thread-safe for different evaluators.
//
// UNIMPLEMENTED: a node whose op has no lowering, or one with attributes, shapes or values that its
// lowering does not cover; the message names op and node. An argument of a type that no program
// has. What Lowerability says of types is not checked again.
// FAILED_PRECONDITION: an input that must be known when the program is compiled is not; the message
// names node and input.
// INVALID_ARGUMENT: the shape function of a node refuses what it gets, as it would in a run; the
// message names the node. A graph without an order (a cycle), a result that no node gives, or an
// input that is neither computed nor an argument.
// NOT_FOUND: the library lacks a function that a node calls.
// RESOURCE_EXHAUSTED: functions nested more than 64 deep, more than 2^22 nodes (those of a body
// count at each call), or a text above 1 GiB.
absl::StatusOr<Program> Lower(const LoweringRequest& request);

}  // namespace tenon::stablehlo
