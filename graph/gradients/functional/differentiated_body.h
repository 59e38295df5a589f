// The body of a function with its gradient, to be parted into a forward function, which also gives
// what the gradient needs, and a backward function. Private to graph/gradients/functional/.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/functions/function_graph.h"
#include "graph/gradients/gradient_scope.h"

namespace tenon::gradients {

// What an output of a body is for a caller of the function: an argument, what fills a result, or
// neither (kInside). An argument that comes back as a result counts as the argument. Of several
// results that one output fills the first counts.
struct Origin {
  enum Kind { kArgument, kResult, kInside } kind = kInside;
  int index = 0;  // of the argument or result
};

// Order of calls: Make, Differentiate, perhaps FillZeros, Part, CopyBackward, RemoveBackward.
// body() is then the forward function, to which the caller adds what else that function needs.
class DifferentiatedBody {
 public:
  // Makes a graph of the body of `function`. `known` says what is known of each argument, and
  // `handle_types` gives for each argument the type of the variable behind it (kInvalid: not known,
  // or no handle). `known` and `handle_types` have the same size. `caller` must outlive the result.
  // UNIMPLEMENTED: the function calls itself, or is nested more than 64 deep. INVALID_ARGUMENT:
  // there is no such function, or it takes another number of arguments. Other errors are those of
  // FunctionGraph::Make and GraphShapes::Infer.
  static absl::StatusOr<std::unique_ptr<DifferentiatedBody>> Make(
      GraphBuilder& caller, std::string_view function, std::vector<TensorInfo> known,
      absl::Span<const DataType> handle_types);
  // The same for a body that is no function of the library: `name` is for messages.
  static absl::StatusOr<std::unique_ptr<DifferentiatedBody>> Make(
      GraphBuilder& caller, std::string_view name, FunctionGraph body,
      std::vector<TensorInfo> known, absl::Span<const DataType> handle_types);
  DifferentiatedBody(const DifferentiatedBody&) = delete;

  FunctionGraph& body() { return body_; }
  GraphBuilder& builder() { return *builder_; }
  Value arg(int i) { return builder_->At({body_.args[i], 0}); }
  int num_results() const { return static_cast<int>(body_.results.size()); }
  // What fills result i.
  Output result(int i) const { return body_.graph.data_inputs(body_.results[i])[0]; }
  std::string_view name() const { return name_; }
  Origin OriginOf(Output o) const;

  // A gradient that flows into a result: the number of the result, and the type and shape of the
  // gradient.
  struct Seed {
    int result;
    DataType type;
    PartialShape shape;
  };
  // Adds the gradients of the seeds' results with respect to the arguments with the numbers `xs`.
  // Call it once. Functions that the gradients of nested calls need go to the library of the
  // caller. Errors are those of AddDenseGradients, with the function's name in front.
  absl::Status Differentiate(absl::Span<const Seed> seeds, absl::Span<const int> xs);
  // For each seed the Placeholder that stands for its gradient.
  absl::Span<const Output> seeds() const { return seeds_; }
  // The gradient for each of xs. Without a node: none, unless FillZeros was called.
  absl::Span<const Output> gradients() const { return gradients_; }
  // Makes gradient i zeros if there is none. `type` is that of the zeros for a handle.
  void FillZeros(size_t i, DataType type);

  // Decides which nodes belong to the gradient alone: those that the engine has added, but for what
  // nested calls need and for shapes of the body's tensors, which cost little to keep. Errors are
  // the first one of builder() and those of Sides::Find (sides.h).
  absl::Status Part();
  // The outputs of the body that the gradient reads, in a fixed order.
  absl::Span<const Output> captured() const { return captured_; }
  // Adds copies of the gradient's nodes to `to`. `as` maps each of seeds() and captured() to the
  // output of `to` that stands for it. Returns the output of `to` for each of gradients(); an
  // Output without a node for one that has none. Errors are those of Graph::AddNode.
  absl::StatusOr<std::vector<Output>> CopyBackward(FunctionGraph& to,
                                                   absl::flat_hash_map<Output, Output> as) const;
  // Removes the nodes of the gradient.
  void RemoveBackward();
  // The nodes that Differentiate and Part have added and that RemoveBackward leaves, by id,
  // producers first but for edges that close loops.
  std::vector<NodeId> NewForward() const;
  // The nodes of the body as Make got it have smaller ids.
  NodeId first_new() const { return first_new_; }

 private:
  DifferentiatedBody(GraphBuilder& caller, std::string_view name, FunctionGraph body);
  bool IsBackward(NodeId n) const {
    return n >= first_new_ && n < static_cast<NodeId>(kept_.size()) && !kept_[n];
  }
  bool IsCheapToCopy(NodeId n) const;
  void Keep(std::vector<NodeId> roots);
  void KeepAdded();
  void KeepWhatTheBodyNeeds();
  void KeepShapes();
  void Capture();
  void Sort();
  absl::Status Revive();

  GraphBuilder& caller_;
  const std::string name_;
  const Nesting nesting_;
  FunctionGraph body_;
  ShapeOptions options_;
  GraphShapes shapes_;
  std::optional<GraphBuilder> builder_;
  NodeId first_new_ = 0;
  absl::flat_hash_map<Output, Origin> origins_;
  std::vector<int> xs_;
  std::vector<Output> seeds_, gradients_, captured_;
  std::vector<NodeId> added_;     // what frames of the body have got, and stand-ins
  std::vector<bool> kept_;        // by node: stays in the body though it is new
  std::vector<NodeId> backward_;  // what CopyBackward adds
};

}  // namespace tenon::gradients
