// Shape functions and the sweep that runs them over a graph.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "graph/ir/graph.h"
#include "graph/tensor/shape.h"
#include "graph/tensor/tensor.h"

namespace tenon {

// What is known of one tensor before it is computed.
struct TensorInfo {
  PartialShape shape;
  // The value, where it is constant and small enough to matter to a shape function (see
  // kMaxShapeValueElements).
  std::shared_ptr<const Tensor> value;
  // Elements of an integer scalar or vector of which only some are known (kUnknownDim elsewhere): a
  // shape on its way from Shape through StridedSlice, Pack, Concat, arithmetic … to Reshape. Rank 0
  // values hold one element.
  std::optional<Dims> partial_value;
  // Of a resource handle: the shape of the variable that it stands for, where that is known.
  std::shared_ptr<const PartialShape> handle_shape;
};

inline constexpr int64_t kMaxShapeValueElements = 1024;

// What a shape function sees: one node, what is known of its inputs, and the outputs to fill in.
// Outputs start unknown. Used on one thread. Built on a NodeId of a Graph or on loose parts (the C
// ABI's tests, eager calls).
class InferenceContext {
 public:
  InferenceContext(const OpDef& op, const AttrSet& attrs, const NodeTypes& types,
                   std::vector<const TensorInfo*> inputs,
                   std::shared_ptr<const void> attr_owner = nullptr);

  const OpDef& op() const { return op_; }
  // The node's name, for people; empty where there is none. The string must outlive the context.
  std::string_view node() const { return node_; }
  void set_node(std::string_view name) { node_ = name; }
  const AttrSet& attrs() const { return attrs_; }
  const NodeTypes& types() const { return types_; }
  // Keeps the bytes behind attrs() alive; null when the caller of the constructor does so
  // otherwise.
  const std::shared_ptr<const void>& attr_owner() const { return attr_owner_; }
  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  int num_outputs() const { return static_cast<int>(outputs_.size()); }

  // Inputs that the node lacks (an attr such as N contradicts its OpDef) are unknown, outputs that
  // it lacks are dropped.
  const TensorInfo& input_info(int i) const {
    return i >= 0 && i < num_inputs() ? *inputs_[i] : Nothing();
  }
  const PartialShape& input(int i) const { return input_info(i).shape; }
  DataType input_type(int i) const {
    return i < num_inputs() ? types_.inputs[i] : DataType::kInvalid;
  }
  DataType output_type(int i) const {
    return i < num_outputs() ? types_.outputs[i] : DataType::kInvalid;
  }
  // The constant value of input i, or null. Its elements may lie unaligned.
  const Tensor* input_value(int i) const { return input_info(i).value.get(); }
  // Elements of input i as a vector of integers, unknown ones kUnknownDim; nullopt when nothing is
  // known.
  std::optional<Dims> input_as_ints(int i) const;
  // Input i read as a shape (a vector of sizes, -1 unknown); unknown rank when nothing is known.
  absl::StatusOr<PartialShape> input_as_shape(int i) const;

  void set_output(int i, PartialShape shape) { output(i).shape = std::move(shape); }
  // Beside the shape: the output's value, where the op computes it from shapes (Shape, Size, Rank)
  // or from partial values.
  void set_output_value(int i, Dims elements) { output(i).partial_value = std::move(elements); }
  TensorInfo& output(int i) { return i >= 0 && i < num_outputs() ? outputs_[i] : dropped_; }

  // Attribute values, defaults applied. INVALID_ARGUMENT names the attribute.
  absl::StatusOr<int64_t> AttrInt(std::string_view name) const;
  absl::StatusOr<bool> AttrBool(std::string_view name) const;
  absl::StatusOr<float> AttrFloat(std::string_view name) const;
  absl::StatusOr<std::string_view> AttrString(std::string_view name) const;
  absl::StatusOr<DataType> AttrType(std::string_view name) const;
  absl::StatusOr<PartialShape> AttrShape(std::string_view name) const;
  absl::StatusOr<std::vector<int64_t>> AttrIntList(std::string_view name) const;
  absl::StatusOr<AttrValue> AttrOf(std::string_view name) const;
  bool HasAttr(std::string_view name) const;

  // Shape algebra; errors are INVALID_ARGUMENT in TensorFlow's terms ("Shape must be rank 2 but is
  // rank 1").
  absl::StatusOr<PartialShape> WithRank(const PartialShape& s, int rank) const;
  absl::StatusOr<PartialShape> WithRankAtLeast(const PartialShape& s, int rank) const;
  absl::StatusOr<PartialShape> WithRankAtMost(const PartialShape& s, int rank) const;
  absl::StatusOr<int64_t> MergeDim(int64_t a, int64_t b) const;
  absl::StatusOr<PartialShape> Broadcast(const PartialShape& a, const PartialShape& b) const;

 private:
  static const TensorInfo& Nothing();

  const OpDef& op_;
  std::string_view node_;
  const AttrSet& attrs_;
  const NodeTypes& types_;
  std::vector<const TensorInfo*> inputs_;
  std::vector<TensorInfo> outputs_;
  TensorInfo dropped_;
  std::shared_ptr<const void> attr_owner_;
};

// Runs the op's shape function, if it has one. The error names the op, the node where `node_name`
// is given, and the input shapes.
absl::Status RunShapeFn(InferenceContext& context, std::string_view node_name);

struct ShapeOptions {
  // What Placeholders get: a fed shape (or value) by output; else the `shape` attr if
  // assume_valid_feeds.
  absl::flat_hash_map<Output, TensorInfo> feeds;
  bool assume_valid_feeds = true;
  // Where given: errors of shape functions go here with their nodes (which the messages do not
  // name), the outputs stay unknown and the sweep goes on.
  std::vector<std::pair<NodeId, absl::Status>>* errors = nullptr;
  // Nodes whose shape functions are not to run: they have other defects. Their outputs stay
  // unknown.
  const absl::flat_hash_set<NodeId>* skip = nullptr;
  // Called after the shape function of each node, to say more of the outputs; empty: nobody does.
  // What it says follows from the node's kind and from what is known of the inputs.
  std::function<void(NodeId, InferenceContext&)> refine;
};

// What is known of every output of every live node. Loops (NextIteration edges) start unknown and
// are not iterated.
class GraphShapes {
 public:
  // One forward sweep in topological order. The first error of a shape function, or OK. Linear in
  // the graph.
  static absl::StatusOr<GraphShapes> Infer(const Graph& graph, const ShapeOptions& options = {});

  // The same for a graph that has been edited since, or was copied from that one: shape functions
  // run for the nodes that are new or changed, and for those that see other inputs than before.
  // `options` must be those of before. After an error nothing is known.
  absl::Status Refresh(const Graph& graph, const ShapeOptions& options);

  // Outputs that the node does not have (its op is unknown) are unknown.
  const TensorInfo& info(Output o) const { return infos_[IdOf(o)]; }
  const PartialShape& shape(Output o) const { return info(o).shape; }

 private:
  // Infos never change, and equal ones of which nothing but the shape is known are one. So a
  // shape function is asked once for all nodes of one kind with the same infos for inputs.
  using InfoId = uint32_t;
  static constexpr InfoId kUnknown = 0;
  // A node's outputs, and what it was when they were inferred.
  struct Range {
    uint32_t first = 0;
    uint32_t count = 0;
    const NodeKind* kind = nullptr;
    uint64_t inputs = 0;
  };

  // What a shape function was asked, its node's kind and inputs, and where its answer stands in
  // `answers_`.
  struct Question {
    const NodeKind* kind;
    absl::InlinedVector<InfoId, 4> inputs;
    friend bool operator==(const Question&, const Question&) = default;
    template <typename H>
    friend H AbslHashValue(H h, const Question& q) {
      return H::combine(std::move(h), q.kind, q.inputs);
    }
  };

  InfoId IdOf(Output o) const {
    const Range& range = ranges_[o.node];
    return static_cast<uint32_t>(o.port) < range.count ? ids_[range.first + o.port] : kUnknown;
  }
  static bool IsPlain(const TensorInfo& info) {
    return info.value == nullptr && !info.partial_value.has_value() && info.handle_shape == nullptr;
  }
  bool UpdateRanges(const Graph& graph);
  // nullopt where an output is fed, so that the answer is the node's own.
  std::optional<Question> QuestionOf(const Graph& graph, const ShapeOptions& options,
                                     NodeId n) const;
  // These say whether an output is not as it was.
  absl::StatusOr<bool> InferNode(const Graph& graph, const ShapeOptions& options, NodeId n);
  absl::StatusOr<bool> AskShapeFn(const Graph& graph, const ShapeOptions& options, NodeId n);
  bool Forget(NodeId n);
  bool Store(size_t at, TensorInfo info);

  std::vector<Range> ranges_;  // by node id
  std::vector<InfoId> ids_;    // of outputs, where their node's range says
  std::vector<TensorInfo> infos_ = {TensorInfo()};
  absl::flat_hash_map<Dims, InfoId> plain_;  // by shape of known rank
  absl::flat_hash_map<Question, size_t> questions_;
  std::vector<InfoId> answers_;
};

}  // namespace tenon
