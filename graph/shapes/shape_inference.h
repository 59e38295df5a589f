// The interface of shape functions, and the sweep that runs them over a graph.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "graph/base/chunked_vector.h"
#include "graph/ir/graph.h"
#include "graph/shapes/late_constants.h"
#include "graph/tensor/shape.h"
#include "graph/tensor/tensor.h"

namespace tenon {

// What is known of a tensor before it is computed. A default object knows nothing.
struct TensorInfo {
  // Known dimensions are right in every run; kUnknownDim, or an unknown rank, for the rest.
  PartialShape shape;
  // The value of a constant of at most kMaxShapeValueElements elements; else null.
  std::shared_ptr<const Tensor> value;
  // The elements of an integer scalar or vector of which some or all are known (kUnknownDim for the
  // rest). So a shape stays known on its way from Shape through StridedSlice, Pack, Concat and
  // arithmetic to Reshape. A scalar has one element.
  std::optional<Dims> partial_value;
  // For a resource handle: the shape of its variable, where it is known, and then its type.
  std::shared_ptr<const PartialShape> handle_shape;
  DataType handle_type = DataType::kInvalid;
};

// Bounds what inference computes with values: shapes and axes are far shorter.
inline constexpr int64_t kMaxShapeValueElements = 1024;

// What a shape function sees: a node, what is known of its inputs, and the outputs to fill in.
// Outputs start unknown. Belongs to one thread. May be built without a graph, for eager calls. The
// op, the attributes, the types and the infos must outlive the context. There is one info, never
// null, for each of types.inputs.
class InferenceContext {
 public:
  using Infos = std::vector<const TensorInfo*>;
  InferenceContext(const OpDef& op, const AttrSet& attrs, const NodeTypes& types, Infos inputs,
                   std::shared_ptr<const void> attr_owner = nullptr);

  const OpDef& op() const { return op_; }
  // The name of the node, for messages; may be empty. The string must outlive the context.
  std::string_view node() const { return node_; }
  void set_node(std::string_view name) { node_ = name; }
  const AttrSet& attrs() const { return attrs_; }
  const NodeTypes& types() const { return types_; }
  // Keeps the bytes of attrs() alive, for functions that hand out values of attributes; null where
  // the caller of the constructor does so.
  const std::shared_ptr<const void>& attr_owner() const { return attr_owner_; }
  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  int num_outputs() const { return static_cast<int>(outputs_.size()); }

  // An input that the node lacks is unknown, and an output that the node lacks is dropped:
  // attributes such as N may contradict the OpDef. input_type and output_type take no negative i;
  // they give kInvalid for what the node lacks.
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
  // The constant value of input i, or null. The elements may be unaligned.
  const Tensor* input_value(int i) const {
    values_read_ |= Bit(i);
    return input_info(i).value.get();
  }
  // The elements of integer input i, with kUnknownDim for unknown ones; nullopt where nothing is
  // known, and for a constant of another type or of more than kMaxShapeValueElements. A constant's
  // own -1 looks like an unknown element: input_value tells the two apart.
  std::optional<Dims> input_as_ints(int i) const;
  // The same, where the value is only followed to an output: reads_value does not count it.
  std::optional<Dims> followed_ints(int i) const { return AsInts(input_info(i)); }
  // How the error of input_as_shape for a size below -1 begins. TensorFlow finds it outside of the
  // shape function, and does not name the node.
  static constexpr std::string_view kInvalidShapeValue = "Invalid value in tensor used for shape: ";
  // How an error begins, in the same way, that some shape functions give for a scalar that stands
  // for a shape and is not -1. Not the error of input_as_any_shape.
  static constexpr std::string_view kInvalidShapeScalar =
      "Received an invalid shape scalar with a static value that is not '-1': ";
  // Input i read as a shape: a vector of sizes, with -1 for unknown. If no size is known, the rank
  // is the length of the vector, where that is known. INVALID_ARGUMENT for an input of another rank
  // or an invalid shape. With input_as_any_shape the input may be a scalar too, which stands for
  // any shape and has the value -1; INVALID_ARGUMENT for another value.
  absl::StatusOr<PartialShape> input_as_shape(int i) const;
  absl::StatusOr<PartialShape> input_as_any_shape(int i) const;

  // reads_value: whether the shape function has called input_value or input_as_ints for input i.
  // reads_as_shape: whether it has called input_as_shape, which does not count as reads_value;
  // input_as_any_shape counts as input_as_ints for a scalar, else as input_as_shape. Both are false
  // for inputs behind the 64th.
  bool reads_value(int i) const { return (values_read_ & Bit(i)) != 0; }
  bool reads_as_shape(int i) const { return (shapes_read_ & Bit(i)) != 0; }

  void set_output(int i, PartialShape shape) { output(i).shape = std::move(shape); }
  // Sets the value of an output beside its shape, where the op computes the value from shapes
  // (Shape, Size, Rank) or from partly known values.
  void set_output_value(int i, Dims elements) { output(i).partial_value = std::move(elements); }
  TensorInfo& output(int i) { return i >= 0 && i < num_outputs() ? outputs_[i] : dropped_; }

  // The value of an attribute, or its default. INVALID_ARGUMENT for a missing attribute; other
  // errors are those of AttrValue. Messages name the attribute. HasAttr is false where AttrOf would
  // find it missing.
  absl::StatusOr<int64_t> AttrInt(std::string_view name) const;
  absl::StatusOr<bool> AttrBool(std::string_view name) const;
  absl::StatusOr<float> AttrFloat(std::string_view name) const;
  absl::StatusOr<std::string_view> AttrString(std::string_view name) const;
  absl::StatusOr<DataType> AttrType(std::string_view name) const;
  absl::StatusOr<PartialShape> AttrShape(std::string_view name) const;
  absl::StatusOr<std::vector<int64_t>> AttrIntList(std::string_view name) const;
  absl::StatusOr<std::vector<DataType>> AttrTypeList(std::string_view name) const;
  absl::StatusOr<AttrValue> AttrOf(std::string_view name) const;
  bool HasAttr(std::string_view name) const;

  // Shape algebra. Each returns what is known of the result. Errors are INVALID_ARGUMENT in
  // TensorFlow's words ("Shape must be rank 2 but is rank 1").
  // WithRank returns `s`, or `rank` unknown dimensions if the rank of `s` is unknown; it then
  // refuses a `rank` above kMaxRank, and leaves `s` unknown for a negative one. WithRankAtLeast and
  // WithRankAtMost return `s`, of unknown rank too. MergeDim returns the size that either knows.
  // WithSize returns `size`, which must be known, and refuses a `dim` that is known to be another
  // size. Broadcast follows NumPy's rules; the result is of unknown rank if either input is.
  absl::StatusOr<PartialShape> WithRank(const PartialShape& s, int rank) const;
  absl::StatusOr<PartialShape> WithRankAtLeast(const PartialShape& s, int rank) const;
  absl::StatusOr<PartialShape> WithRankAtMost(const PartialShape& s, int rank) const;
  absl::StatusOr<int64_t> MergeDim(int64_t a, int64_t b) const;
  absl::StatusOr<int64_t> WithSize(int64_t dim, int64_t size) const;
  absl::StatusOr<PartialShape> Broadcast(const PartialShape& a, const PartialShape& b) const;

 private:
  static const TensorInfo& Nothing();
  static std::optional<Dims> AsInts(const TensorInfo& info);
  static uint64_t Bit(int i) { return i >= 0 && i < 64 ? uint64_t{1} << i : 0; }

  const OpDef& op_;
  std::string_view node_;
  const AttrSet& attrs_;
  const NodeTypes& types_;
  Infos inputs_;
  absl::InlinedVector<TensorInfo, 1> outputs_;
  TensorInfo dropped_;
  mutable uint64_t values_read_ = 0, shapes_read_ = 0;  // a bit for each input
  std::shared_ptr<const void> attr_owner_;
};

// RunShapeFn, without the words that it adds to an error.
absl::Status CallShapeFn(InferenceContext& context);
// Runs the shape function of the op, if it has one; without one all outputs stay unknown. Also
// refuses an output that PartialShape::Make refuses. The error names the op, the node if
// `node_name` is not empty, and the first 20 input shapes; the outputs then mean nothing. An error
// marked AtRunTime gives OK and unknown outputs.
absl::Status RunShapeFn(InferenceContext& context, std::string_view node_name);

struct ShapeOptions {
  // What is known of fed outputs, instead of what the shape function says, even of nodes in `skip`
  // and `errors`. A node of which every output is fed is not computed: its shape function does not
  // run. A Placeholder that is not fed has the shape of its attribute `shape` if
  // assume_valid_feeds, else an unknown one. In graphs of producer 21 and before, or of none, a
  // scalar Placeholder is of unknown shape too: there a scalar stood for any shape.
  absl::flat_hash_map<Output, TensorInfo> feeds;
  bool assume_valid_feeds = true;
  // Whether Append may leave small constants to be decoded when they are asked for. The storage of
  // the graph must then outlive the GraphShapes.
  bool late_constants = false;
  // If given, errors of shape functions are appended, with their nodes: outputs that are not fed
  // stay unknown and the sweep goes on. Only messages of `describe` may then name the node.
  std::vector<std::pair<NodeId, absl::Status>>* errors = nullptr;
  // Nodes whose shape functions do not run, as they have other defects. What is not fed of their
  // outputs stays unknown.
  const absl::flat_hash_set<NodeId>* skip = nullptr;
  // If given, is called after the shape function of a node has succeeded, or if there is none, to
  // say more of the outputs. What it says must depend only on the node's kind and on what is known
  // of the inputs: nodes that have both in common share one answer.
  std::function<void(NodeId, InferenceContext&)> refine;
  // If given, turns the error of a shape function, without the words that RunShapeFn adds, into the
  // error that Infer and the like return.
  std::function<absl::Status(NodeId, const InferenceContext&, const absl::Status&)> describe;
};

// What is known of each output of each live node. Loops are not iterated: a Merge takes the values
// that loops carry back to it (IsLoopEdge) as unknown. Outputs of a node of unknown op, of
// unresolved types or with a wrong number of inputs are unknown, unless they are fed. Reading is
// thread-safe. Does not keep the graph.
class GraphShapes {
 public:
  GraphShapes() { infos_.push_back(TensorInfo()); }

  // Runs the shape functions once, in topological order. Returns the first error of a shape
  // function unless `options.errors` collects them; INVALID_ARGUMENT for a cycle. Linear in the
  // graph.
  static absl::StatusOr<GraphShapes> Infer(const Graph& graph, const ShapeOptions& options = {});

  // Makes the result what Infer finds for a graph that was edited since, or for an edited copy of
  // the graph that shares its storage. Shape functions run for new and changed nodes, and where
  // inputs are known otherwise than before; errors of other nodes are not reported again. `options`
  // must be those of Infer. After an error info() must not be asked before another Refresh has
  // succeeded. Where nothing but control edges has changed, no cycle is looked for.
  absl::Status Refresh(const Graph& graph, const ShapeOptions& options);

  // Append infers the node with the id num_nodes(), in a time that depends on its inputs alone; a
  // default GraphShapes knows no node. Changes to older nodes are not looked at. Returns the error
  // of the node's shape function unless `options.errors` collects it; the outputs of the node are
  // then unknown.
  absl::Status Append(const Graph& graph, const ShapeOptions& options);
  // Update infers one live node again, with an id below num_nodes(); it may have other inputs and
  // outputs than before. What is known of the nodes that read it stays. Errors are those of Append;
  // after one that is returned, outputs that the node had before keep what was known of them.
  absl::Status Update(const Graph& graph, const ShapeOptions& options, NodeId n);
  // Forgets the nodes from id `nodes` on.
  void Truncate(int32_t nodes) {
    if (nodes < num_nodes()) ranges_.resize(nodes);
  }
  // The number of nodes that are known: those with ids below it.
  int32_t num_nodes() const { return static_cast<int32_t>(ranges_.size()); }
  // Replaces what is known of an output, which the node may have got since it was inferred last.
  // What was inferred from the output before does not change.
  void Set(Output o, TensorInfo info);

  // What is known of an output. The node's id must be in [0, num_nodes()); an output that the node
  // does not have is unknown. The reference is valid until the next Refresh, Append, Update or
  // Set.
  const TensorInfo& info(Output o) const { return InfoOf(IdOf(o)); }
  const PartialShape& shape(Output o) const { return info(o).shape; }

 private:
  // Infos are immutable, and equal infos with nothing but a shape are stored once. So a shape
  // function runs once for all nodes of one kind with the same infos as inputs.
  using InfoId = uint32_t;
  static constexpr InfoId kUnknown = 0;
  // Marks an id of late_: the index of a kind.
  static constexpr InfoId kLate = InfoId{1} << 31;
  // The outputs of a node in ids_, with the kind and a hash of the inputs for which they were
  // inferred.
  struct Range {
    uint32_t first = 0;
    uint32_t count = 0;
    const NodeKind* kind = nullptr;
    uint64_t inputs = 0;
  };

  // The kind and the inputs with which a shape function ran. `questions_` has the place of the
  // outputs in `answers_`.
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
  const TensorInfo& InfoOf(InfoId id) const {
    return (id & kLate) == 0 ? infos_[id] : late_.Info(id & ~kLate);
  }
  static bool IsPlain(const TensorInfo& info) {
    return info.value == nullptr && !info.partial_value.has_value() && info.handle_shape == nullptr;
  }
  InfoId IdOfInput(const Graph& graph, NodeId n, Output in) const;
  bool UpdateRanges(const Graph& graph, std::vector<bool>& changed);
  void Grow(Range& range, uint32_t count);
  absl::Status Sweep(const Graph& graph, const ShapeOptions& options);
  Question QuestionOf(const Graph& graph, NodeId n) const;
  // These return whether an output differs from before.
  absl::StatusOr<bool> InferNode(const Graph& graph, const ShapeOptions& options, NodeId n);
  absl::StatusOr<bool> AskShapeFn(const Graph& graph, const ShapeOptions& options, NodeId n);
  bool IsLate(const Graph& graph, const ShapeOptions& options, NodeId n);
  bool Forget(const ShapeOptions& options, NodeId n);
  bool Store(size_t at, TensorInfo info);

  std::vector<Range> ranges_;        // by node id
  std::vector<InfoId> ids_;          // by output, in the node's range
  ChunkedVector<TensorInfo> infos_;  // kUnknown first
  LateConstants late_;
  absl::flat_hash_map<Dims, InfoId> plain_;  // by shape of known rank
  absl::flat_hash_map<Question, size_t> questions_;
  std::vector<InfoId> answers_;
};

}  // namespace tenon
