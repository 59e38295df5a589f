// Reverse mode: nodes are taken when all gradients of their outputs are known, and hand gradients
// on to their inputs.
#include "graph/gradients/gradients.h"

#include <algorithm>
#include <deque>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "graph/base/annotate.h"
#include "graph/base/status_macros.h"
#include "graph/gradients/control_flow/loop_frames.h"
#include "graph/gradients/control_flow/sides.h"
#include "graph/gradients/gradient_row.h"
#include "graph/gradients/gradient_scope.h"
#include "graph/gradients/reachable.h"
#include "graph/gradients/summing.h"
#include "graph/ir/nodes.h"
#include "graph/op_defs/op_facts.h"

namespace tenon {
namespace gradients {
namespace {

constexpr std::string_view kOpTypeAttr = "_gradient_op_type";

// The op whose rule node n follows: a graph may name another one than its own. Calls keep theirs:
// the name is then one that TensorFlow's Python made up while it traced.
std::string_view OpOfRule(const Graph& graph, NodeId n, bool ignore_unknown) {
  const AttrValue* const other = graph.attrs(n).Find(kOpTypeAttr);
  if (other == nullptr || IsFunctional(graph, n)) return graph.op_name(n);
  const std::string_view named = other->AsString().value_or(graph.op_name(n));
  return ignore_unknown && FindGradientRow(named) == nullptr ? graph.op_name(n) : named;
}

bool IsEdge(const Output& in) { return in.node != kNoNode; }

class Backward {
 public:
  Backward(Graph& graph, GraphShapes& shapes, const ShapeOptions& options,
           const GradientRequest& request, const Nesting* nesting)
      : graph_(graph),
        request_(request),
        builder_(graph, shapes, options, nesting),
        between_(graph, request.ys, request.xs),
        pending_(between_.edges()) {}

  absl::Status Run();
  Gradient Of(Output x) const;
  // Makes the gradients dense, in place.
  absl::Status MakeDense(std::vector<Gradient>& gradients);
  // Makes the graph what it was before the nodes from `first` on came.
  void Undo(NodeId first) { builder_.Undo(first); }
  const std::vector<NodeId>& added_forward() const { return builder_.added_forward(); }

 private:
  void EnterRoot() { builder_.EnterScope(request_.prefix); }
  // For the gradient of the node or loop of this name.
  void EnterScopeOf(std::string_view name) {
    builder_.EnterScope(request_.as_in_cpp ? request_.prefix
                                           : absl::StrCat(request_.prefix, "/", name, "_grad"));
  }
  absl::Status Seed(size_t i);
  Value Ones(Value like);
  // Whether a node that leads to a y has this property.
  bool LeadsThrough(bool (*is)(const OpFacts&)) const {
    return std::ranges::any_of(between_.leading(), [&](NodeId n) { return is(graph_.facts(n)); });
  }
  absl::Status FindLoops();
  absl::Status FindSides();
  absl::Status CheckNotInLoop(absl::Span<const Output> outputs, std::string_view what) const;
  void Start();
  void FindEnds();
  absl::Status CheckNumbers() const;
  absl::Status Visit(NodeId n);
  void Release(NodeId n);
  absl::Status VisitExit(NodeId n);
  absl::Status VisitLoop(int loop);
  absl::Status ApplyToLoop(int number);
  std::vector<Gradient> Incoming(NodeId n);
  absl::Status Apply(NodeId n, absl::Span<const Gradient> incoming);
  absl::Status HandOn(NodeId n, absl::Span<const Gradient> results);
  absl::Status NoGradient(NodeId n) const;
  absl::Status CheckAllVisited() const;

  Graph& graph_;
  const GradientRequest& request_;
  GraphBuilder builder_;
  const Between between_;
  std::vector<int32_t> pending_;  // readers that have not handed their gradients back yet
  std::deque<NodeId> ready_;
  LoopFrames frames_;
  Sides sides_;
  std::vector<int> exits_left_;       // by loop: its Exits between ys and xs that wait for readers
  absl::flat_hash_set<NodeId> ends_;  // nodes beyond which nothing flows
  // What has come for each output; one element once its node was visited.
  absl::flat_hash_map<Output, absl::InlinedVector<Gradient, 1>> arrived_;
};

// What flows into the y of number i.
absl::Status Backward::Seed(size_t i) {
  const Output y = request_.ys[i];
  builder_.SetSource(y.node);
  const Value value = builder_.At(y);
  const DataType type = value.dtype();
  const Output given = request_.grad_ys.empty() ? Output() : request_.grad_ys[i];
  if (!CarriesGradient(type)) return absl::OkStatus();
  if (given.node != kNoNode) {
    const Value gradient = builder_.At(given);
    const bool is_handle = type == DataType::kResource || type == DataType::kVariant;
    if ((!is_handle && gradient.dtype() != type) || !gradient.shape().CompatibleWith(value.shape()))
      return absl::InvalidArgumentError(
          absl::StrCat("the gradient '", graph_.OutputName(given), "' of '", graph_.OutputName(y),
                       "' is ", DataTypeSpecName(gradient.dtype()), gradient.shape().ToString(),
                       ", not ", DataTypeSpecName(type), value.shape().ToString()));
    arrived_[y].push_back({given, {}, {}});
    return absl::OkStatus();
  }
  if (!IsFloating(type))
    return absl::InvalidArgumentError(
        absl::StrCat("'", graph_.OutputName(y), "' is of type ", DataTypeSpecName(type),
                     ": its gradient must be given, since ones are right for real numbers only"));
  arrived_[y].push_back({Ones(value).output(), {}, {}});
  return builder_.status();
}

Value Backward::Ones(Value like) {
  if (request_.as_in_cpp) return Op("OnesLike", {like});
  const Value one = Number(like, 1);
  return like.rank() == 0 ? one : Op("Fill", {ShapeOf(like), one});
}

// Nodes of xs into which no path from another x leads, and of stop_gradients: their rules need not
// be known.
void Backward::FindEnds() {
  for (const Output& x : request_.xs) {
    const auto inputs = graph_.data_inputs(x.node);
    if (std::ranges::none_of(inputs, [&](const Output& in) { return between_.Has(in.node); }))
      ends_.insert(x.node);
  }
  for (const Output& stop : request_.stop_gradients) ends_.insert(stop.node);
}

// TensorFlow asks for the rule of each op whose result is differentiated, also where that result is
// integers or bools, through which nothing flows.
absl::Status Backward::CheckNumbers() const {
  if (request_.ignore_unknown_rules) return absl::OkStatus();
  for (const Output& y : request_.ys) {
    const bool flows = CarriesGradient(graph_.output_type(y));
    if (flows || !between_.Has(y.node) || ends_.contains(y.node)) continue;
    const bool known = IsFunctional(graph_, y.node) || frames_.LoopOf(y.node) >= 0 ||
                       FindGradientRow(OpOfRule(graph_, y.node, false)) != nullptr;
    if (!known) return NoGradient(y.node);
  }
  return absl::OkStatus();
}

void Backward::Start() {
  absl::flat_hash_set<NodeId> started;
  for (const Output& y : request_.ys) {
    if (between_.Has(y.node) && pending_[y.node] == 0 && started.insert(y.node).second)
      ready_.push_back(y.node);
  }
}

// A loop is taken as one node: its Exits are its outputs, what its Enters read its inputs.
absl::Status Backward::FindLoops() {
  if (!LeadsThrough(IsEnter)) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(frames_, LoopFrames::Find(graph_));
  if (frames_.empty()) return absl::OkStatus();
  TENON_RETURN_IF_ERROR(CheckNotInLoop(request_.ys, "is to be differentiated"));
  TENON_RETURN_IF_ERROR(CheckNotInLoop(request_.xs, "is to be differentiated by"));
  TENON_RETURN_IF_ERROR(CheckNotInLoop(request_.stop_gradients, "is a stop gradient"));
  for (const LoopFrame& loop : frames_.loops())
    exits_left_.push_back(static_cast<int>(
        std::ranges::count_if(loop.exits, [&](NodeId n) { return between_.Has(n); })));
  return absl::OkStatus();
}

absl::Status Backward::FindSides() {
  if (!LeadsThrough(IsSwitch)) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(sides_, Sides::Find(graph_));
  builder_.set_sides(&sides_);
  return absl::OkStatus();
}

absl::Status Backward::CheckNotInLoop(absl::Span<const Output> outputs,
                                      std::string_view what) const {
  for (const Output& o : outputs) {
    const int loop = frames_.LoopOf(o.node);
    if (loop < 0 || frames_.IsWayOut(o.node) || !between_.Has(o.node)) continue;
    return NodeError(graph_, o.node,
                     absl::UnimplementedError(absl::StrCat(
                         "it ", what, ", and is in a loop of version 1 (frame '",
                         frames_.loops()[loop].name, "'): only what an Exit gives can be")));
  }
  return absl::OkStatus();
}

absl::Status Backward::Run() {
  builder_.set_ignore_unknown_rules(request_.ignore_unknown_rules);
  EnterRoot();
  TENON_RETURN_IF_ERROR(FindLoops());
  TENON_RETURN_IF_ERROR(FindSides());
  for (size_t i = 0; i < request_.ys.size(); ++i) TENON_RETURN_IF_ERROR(Seed(i));
  FindEnds();
  TENON_RETURN_IF_ERROR(CheckNumbers());
  Start();
  while (!ready_.empty()) {
    const NodeId n = ready_.front();
    ready_.pop_front();
    TENON_RETURN_IF_ERROR(frames_.IsWayOut(n) ? VisitExit(n) : Visit(n));
  }
  return CheckAllVisited();
}

// A node that still waits waits for itself.
absl::Status Backward::CheckAllVisited() const {
  for (const NodeId n : between_.leading()) {
    if (!between_.Has(n) || pending_[n] <= 0) continue;
    if (frames_.LoopOf(n) >= 0 && !frames_.IsWayOut(n)) continue;
    return NodeError(graph_, n,
                     absl::UnimplementedError("the gradient of a node that waits for itself"));
  }
  return absl::OkStatus();
}

// What has come for the outputs of n, summed up.
std::vector<Gradient> Backward::Incoming(NodeId n) {
  builder_.SetSource(n);
  std::vector<Gradient> incoming(graph_.num_outputs(n));
  for (int32_t i = 0; i < graph_.num_outputs(n); ++i) {
    const auto found = arrived_.find(Output{n, i});
    if (found == arrived_.end()) continue;
    if (found->second.size() > 1) {
      EnterRoot();
      const Gradient sum = SumOf(builder_, found->second);
      found->second = {sum};
    }
    incoming[i] = found->second.front();
  }
  return incoming;
}

absl::Status Backward::Visit(NodeId n) {
  const std::vector<Gradient> incoming = Incoming(n);
  TENON_RETURN_IF_ERROR(builder_.status());
  const bool flows = std::ranges::any_of(incoming, [](const Gradient& g) { return !g.none(); });
  // What has no inputs has none whose gradient could be asked for.
  if (flows && !ends_.contains(n) && graph_.num_inputs(n) > 0)
    TENON_RETURN_IF_ERROR(Apply(n, incoming));
  Release(n);
  return absl::OkStatus();
}

// Nodes that have got nothing count too: their inputs wait for them.
void Backward::Release(NodeId n) {
  for (const Output& in : graph_.data_inputs(n)) {
    // A loop may have got inputs from new nodes.
    const bool is_old = IsEdge(in) && in.node < static_cast<NodeId>(pending_.size());
    if (is_old && --pending_[in.node] == 0 && between_.Has(in.node)) ready_.push_back(in.node);
  }
}

absl::Status Backward::VisitExit(NodeId n) {
  const int loop = frames_.LoopOf(n);
  return --exits_left_[loop] == 0 ? VisitLoop(loop) : absl::OkStatus();
}

absl::Status Backward::VisitLoop(int loop) {
  const LoopFrame& frame = frames_.loops()[loop];
  const auto is_wanted = [&](NodeId enter) { return between_.Has(enter); };
  if (std::ranges::any_of(frame.enters, is_wanted)) TENON_RETURN_IF_ERROR(ApplyToLoop(loop));
  for (const NodeId enter : frame.enters) {
    if (between_.Has(enter)) Release(enter);
  }
  return absl::OkStatus();
}

absl::Status Backward::ApplyToLoop(int number) {
  const LoopFrame& loop = frames_.loops()[number];
  std::vector<Gradient> incoming;
  NodeId at = kNoNode;  // an Exit for messages
  for (const NodeId exit : loop.exits) {
    const std::vector<Gradient> gradients = Incoming(exit);
    const bool flows = !gradients[0].none() && between_.Has(exit) && !ends_.contains(exit);
    incoming.push_back(flows ? gradients[0] : Gradient());
    if (flows && at == kNoNode) at = exit;
  }
  TENON_RETURN_IF_ERROR(builder_.status());
  if (at == kNoNode) return absl::OkStatus();
  EnterScopeOf(loop.name);
  const std::vector<Gradient> results =
      FrameGradient(builder_, frames_, number, incoming, between_);
  if (!builder_.ok()) {
    return NodeError(graph_, at,
                     Annotate(builder_.status(),
                              absl::StrCat("the gradient of the loop of frame '", loop.name,
                                           "', on the way ", between_.PathThrough(at), ": ")));
  }
  for (size_t i = 0; i < results.size(); ++i)
    TENON_RETURN_IF_ERROR(HandOn(loop.enters[i], {&results[i], 1}));
  return absl::OkStatus();
}

absl::Status Backward::NoGradient(NodeId n) const {
  const std::string_view op = OpOfRule(graph_, n, request_.ignore_unknown_rules);
  return absl::NotFoundError(absl::StrCat(
      "No gradient defined for op: ", op, ". Node '", graph_.name(n), "' (", graph_.op_name(n),
      ") ", op == graph_.op_name(n) ? "" : "asks for this gradient by _gradient_op_type, and ",
      "is on the way from the result to what it is differentiated by: ", between_.PathThrough(n)));
}

absl::Status Backward::Apply(NodeId n, absl::Span<const Gradient> incoming) {
  // A function that is an op itself is called as any other.
  const bool is_function = graph_.FindFunction(graph_.op_name(n)) != nullptr;
  const std::string_view op = OpOfRule(graph_, n, request_.ignore_unknown_rules);
  const GradientRow* const row = FindGradientRow(is_function ? "PartitionedCall" : op);
  if (row == nullptr) return NoGradient(n);
  if (row->fn == nullptr) return absl::OkStatus();
  EnterScopeOf(graph_.name(n));
  GradientScope scope(builder_, n, incoming, between_);
  row->fn(scope);
  if (!builder_.ok()) {
    return NodeError(graph_, n,
                     Annotate(builder_.status(), absl::StrCat("its gradient, on the way ",
                                                              between_.PathThrough(n), ": ")));
  }
  return HandOn(n, scope.results());
}

absl::Status Backward::HandOn(NodeId n, absl::Span<const Gradient> results) {
  for (size_t i = 0; i < results.size(); ++i) {
    const Gradient& gradient = results[i];
    if (gradient.none()) continue;
    const Output in = graph_.inputs(n)[i];
    if (!IsEdge(in)) continue;
    const Value x = builder_.At(in), dx = builder_.At(gradient.values);
    if (!gradient.is_slices() && x.dtype() != DataType::kResource &&
        !dx.shape().CompatibleWith(x.shape()))
      return NodeError(
          graph_, n,
          absl::InvalidArgumentError(absl::StrCat(
              "Incompatible shapes between op input and calculated input gradient: input ", i,
              " has shape ", x.shape().ToString(), ", its gradient ", dx.shape().ToString())));
    arrived_[in].push_back(gradient);
  }
  return absl::OkStatus();
}

Gradient Backward::Of(Output x) const {
  const auto found = arrived_.find(x);
  return found == arrived_.end() ? Gradient() : found->second.front();
}

absl::Status Backward::MakeDense(std::vector<Gradient>& gradients) {
  EnterRoot();
  for (size_t i = 0; i < gradients.size(); ++i) {
    Gradient& g = gradients[i];
    if (!g.is_slices()) continue;
    builder_.SetSource(request_.xs[i].node);
    const Value dense = DenseOf(builder_, g);
    g = {dense.output(), {}, {}};
  }
  return builder_.status();
}

absl::Status CheckOutput(const Graph& graph, Output o, std::string_view what) {
  if (o.node >= 0 && o.node < graph.num_node_ids() && graph.alive(o.node) && o.port >= 0 &&
      o.port < graph.num_outputs(o.node))
    return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(what, " is no output of a node of the graph"));
}

absl::Status CheckRequest(const Graph& graph, const GradientRequest& request) {
  if (!request.grad_ys.empty() && request.grad_ys.size() != request.ys.size())
    return absl::InvalidArgumentError(absl::StrCat("there are ", request.ys.size(), " ys and ",
                                                   request.grad_ys.size(), " gradients of ys"));
  const auto check = [&](const std::vector<Output>& outputs, std::string_view what, bool may_lack) {
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (may_lack && outputs[i].node == kNoNode) continue;
      TENON_RETURN_IF_ERROR(CheckOutput(graph, outputs[i], absl::StrCat(what, " ", i)));
    }
    return absl::OkStatus();
  };
  TENON_RETURN_IF_ERROR(check(request.ys, "y", false));
  TENON_RETURN_IF_ERROR(check(request.xs, "x", false));
  TENON_RETURN_IF_ERROR(check(request.grad_ys, "the gradient of y", true));
  return check(request.stop_gradients, "stop gradient", false);
}

}  // namespace

absl::StatusOr<std::vector<Gradient>> Differentiate(Graph& graph, GraphShapes& shapes,
                                                    const ShapeOptions& options,
                                                    const GradientRequest& request, bool dense,
                                                    const Nesting* nesting,
                                                    std::vector<NodeId>* forward) {
  TENON_RETURN_IF_ERROR(CheckRequest(graph, request));
  const NodeId before = graph.num_node_ids();
  Backward backward(graph, shapes, options, request, nesting);
  std::vector<Gradient> gradients;
  absl::Status status = backward.Run();
  if (status.ok()) {
    for (const Output& x : request.xs) gradients.push_back(backward.Of(x));
    if (dense) status = backward.MakeDense(gradients);
  }
  if (status.ok() && forward != nullptr) *forward = backward.added_forward();
  if (status.ok()) return gradients;
  backward.Undo(before);
  return status;
}

}  // namespace gradients

bool CarriesGradient(DataType type) {
  const DataType base = BaseType(type);
  return IsFloating(base) || IsComplex(base) || base == DataType::kResource ||
         base == DataType::kVariant;
}

absl::StatusOr<std::vector<Gradient>> AddGradients(Graph& graph, GraphShapes& shapes,
                                                   const ShapeOptions& options,
                                                   const GradientRequest& request) {
  return gradients::Differentiate(graph, shapes, options, request, /*dense=*/false, nullptr);
}

absl::StatusOr<std::vector<Output>> AddDenseGradients(Graph& graph, GraphShapes& shapes,
                                                      const ShapeOptions& options,
                                                      const GradientRequest& request) {
  TENON_ASSIGN_OR_RETURN(
      const std::vector<Gradient> gradients,
      gradients::Differentiate(graph, shapes, options, request, /*dense=*/true, nullptr));
  std::vector<Output> outputs;
  for (const Gradient& g : gradients) outputs.push_back(g.values);
  return outputs;
}

}  // namespace tenon
