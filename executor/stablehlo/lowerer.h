// Walks the nodes of a request and of the functions that they call. Private to
// executor/stablehlo/.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/stablehlo/builder.h"
#include "executor/stablehlo/lower.h"
#include "executor/stablehlo/op.h"
#include "executor/stablehlo/rows.h"
#include "graph/functions/function_graph.h"
#include "graph/functions/shared_functions.h"
#include "graph/ir/graph.h"

namespace tenon::stablehlo {

// The nodes of one graph or body that are being written: what they have given so far.
struct Frame {
  const Graph* graph = nullptr;
  std::string prefix;       // "caller/" within a function
  std::vector<int32_t> at;  // by node: its place in `entries` and `first`; -1: not written
  std::vector<std::unique_ptr<Entry[]>> entries;
  std::vector<Entry*> first;
  int depth = 0;

  explicit Frame(const Graph& g) : graph(&g), at(g.num_node_ids(), -1) {}
  // Makes the entries of a node's outputs.
  Entry* Add(NodeId n, int outputs);
  Entry* Find(Output o) { return at[o.node] < 0 ? nullptr : first[at[o.node]] + o.port; }
};

// A check, and the flag that says whether it holds.
struct CheckFlag {
  Value ok;
  Check check;
};

// A function's body, ready to be written.
struct Body {
  FunctionGraph function;
  std::vector<NodeId> order;  // what results and effects need, producers first
};

class Lowerer {
 public:
  // `request` and its graph must outlive the object.
  explicit Lowerer(const LoweringRequest& request);

  // Call it once.
  absl::StatusOr<Program> Run();

  Builder& builder() { return builder_; }

  // --- For ops that call functions.
  // Writes the body of a function for these arguments. Returns an entry for each result of the
  // function. With `wanted` only what these results need is written, no other effects either, and
  // the other entries are empty. Errors are those of BodyOf and of the nodes; INVALID_ARGUMENT for
  // another number of arguments, RESOURCE_EXHAUSTED for calls that are nested too deep.
  absl::StatusOr<std::vector<Entry>> Call(Op& caller, std::string_view function,
                                          std::vector<Entry> arguments,
                                          const std::vector<int>* wanted = nullptr);
  // The body of a function of the frame's graph. Lives as long as this object. NOT_FOUND if there
  // is no such function; errors of FunctionGraph::Make; INVALID_ARGUMENT for a cycle.
  absl::StatusOr<const Body*> BodyOf(const Frame& frame, std::string_view function);
  // Gives an entry without a value the value of its known elements. Does nothing if none are known,
  // or if no program holds their type.
  void Write(Entry& entry);
  // The uses of the nodes of a frame's graph.
  const Fanouts& UsesIn(const Frame& frame);
  // Whether the request asks for an output of the frame; false in the frame of a function.
  bool IsResult(const Frame& frame, Output output) const;

  std::vector<CheckFlag>& checks() { return checks_; }
  void AddCheck(const Op& op, const Value& ok, std::string_view message, absl::StatusCode code);

 private:
  absl::Status AddArguments(Frame& frame);
  absl::Status WriteNodes(Frame& frame, absl::Span<const NodeId> order);
  absl::Status WriteNode(Frame& frame, NodeId n);
  absl::Status WriteConst(Frame& frame, NodeId n);
  // Computes the node if its operands are known. Returns whether it did.
  bool Fold(Frame& frame, NodeId n, absl::Span<Entry* const> inputs, absl::Span<Entry> outputs);
  absl::Status CheckLimits(const Frame& frame, NodeId n);
  Program Finish(const std::vector<Value>& results);
  const Row* RowOf(const Graph& graph, NodeId n);

  const LoweringRequest& request_;
  Builder builder_;
  std::shared_ptr<Trace> trace_;  // null: nobody wants one
  std::vector<CheckFlag> checks_;
  std::vector<Parameter> weights_;
  absl::flat_hash_map<const void*, int32_t> weight_of_;  // by the address of the elements
  absl::flat_hash_map<std::pair<const Graph*, NodeId>, Tensor> consts_;
  absl::flat_hash_map<const void*, NodeId> const_of_;  // the Const of such elements
  std::shared_ptr<SharedFunctions> functions_;
  absl::flat_hash_map<std::string_view, std::unique_ptr<Body>> bodies_;
  absl::flat_hash_map<const Graph*, std::unique_ptr<Fanouts>> uses_;
  NodeId main_node_ = kNoNode;
  int64_t written_ = 0;

  friend class Op;
};

// The nodes that `ends` need, producers first, among those for which `stop` is false. Control
// inputs count. INVALID_ARGUMENT for a cycle.
absl::StatusOr<std::vector<NodeId>> OrderOf(const Graph& graph, absl::Span<const NodeId> ends,
                                            absl::FunctionRef<bool(NodeId)> stop);

}  // namespace tenon::stablehlo
