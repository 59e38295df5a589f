// A body and its gradient are one graph first, so that rules see the whole of it; then the graph is
// parted by the ids of nodes: what the engine has added is the gradient.
#include "graph/gradients/functional/differentiated_body.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "graph/base/annotate.h"
#include "graph/base/status_macros.h"
#include "graph/gradients/functional/dead_values.h"
#include "graph/ir/new_attrs.h"
#include "graph/ir/node_places.h"

namespace tenon::gradients {
namespace {

// Bounds the stack: bodies are differentiated from within the gradient of the call.
constexpr int kMaxNesting = 64;
// Constants of at most this size are copied into the backward function. Larger ones are handed
// over.
constexpr size_t kMostCopiedBytes = 4096;
// Ops whose results are small and depend on shapes alone: the forward function gives these rather
// than tensors of the shapes.
constexpr std::array<std::string_view, 8> kShapeOps = {
    "BroadcastGradientArgs", "Rank",         "Shape", "ShapeN", "Size", "TensorListElementShape",
    "TensorListLength",      "VariableShape"};

absl::Status CheckDepth(const Nesting* outer) {
  if (outer == nullptr || outer->depth < kMaxNesting) return absl::OkStatus();
  return absl::UnimplementedError(
      absl::StrCat("its gradient: calls are nested more than ", kMaxNesting, " deep"));
}

absl::Status CheckNesting(const Nesting* outer, std::string_view function) {
  TENON_RETURN_IF_ERROR(CheckDepth(outer));
  for (; outer != nullptr; outer = outer->outer) {
    if (outer->function == function)
      return absl::UnimplementedError(
          absl::StrCat("the gradient of function '", function, "', which calls itself"));
  }
  return absl::OkStatus();
}

}  // namespace

DifferentiatedBody::DifferentiatedBody(GraphBuilder& caller, std::string_view name,
                                       FunctionGraph body)
    : caller_(caller),
      name_(name),
      nesting_{caller.nesting(), name_,
               caller.nesting() == nullptr ? 1 : caller.nesting()->depth + 1, caller.label()},
      body_(std::move(body)) {}

absl::StatusOr<std::unique_ptr<DifferentiatedBody>> DifferentiatedBody::Make(
    GraphBuilder& caller, std::string_view function, std::vector<TensorInfo> known,
    absl::Span<const DataType> handle_types) {
  TENON_RETURN_IF_ERROR(CheckNesting(caller.nesting(), function));
  const FunctionEntry* const entry = caller.graph().FindFunction(function);
  if (entry == nullptr)
    return absl::InvalidArgumentError(absl::StrCat("there is no function '", function, "'"));
  const std::string where = absl::StrCat("function '", function, "': ");
  absl::StatusOr<FunctionGraph> body = FunctionGraph::Make(caller.graph(), *entry);
  if (!body.ok()) return Annotate(body.status(), where);
  return Make(caller, function, *std::move(body), std::move(known), handle_types);
}

absl::StatusOr<std::unique_ptr<DifferentiatedBody>> DifferentiatedBody::Make(
    GraphBuilder& caller, std::string_view name, FunctionGraph body, std::vector<TensorInfo> known,
    absl::Span<const DataType> handle_types) {
  TENON_RETURN_IF_ERROR(CheckDepth(caller.nesting()));
  const std::string where = absl::StrCat("function '", name, "': ");
  if (body.args.size() != known.size())
    return absl::InvalidArgumentError(
        absl::StrCat(where, "takes ", body.args.size(), " arguments and gets ", known.size()));
  auto made = absl::WrapUnique(new DifferentiatedBody(caller, name, std::move(body)));
  Graph& graph = made->body_.graph;
  for (size_t i = 0; i < known.size(); ++i) {
    const NodeId arg = made->body_.args[i];
    if (handle_types[i] != DataType::kInvalid)
      graph.SetAttr(arg, kHandleTypeAttr, attr::Type(handle_types[i]));
    made->options_.feeds.emplace(Output{arg, 0}, std::move(known[i]));
  }
  absl::StatusOr<GraphShapes> shapes = GraphShapes::Infer(graph, made->options_);
  if (!shapes.ok()) return Annotate(shapes.status(), where);
  made->shapes_ = *std::move(shapes);
  made->first_new_ = graph.num_node_ids();
  made->builder_.emplace(graph, made->shapes_, made->options_, &made->nesting_);
  made->builder_->EnterScope("gradients");
  // What a caller has or gets anyway need not be saved for the gradient. An output that is both an
  // argument and a result counts as the argument, and of several results as the first one: later
  // assignments replace earlier ones.
  for (size_t i = made->body_.results.size(); i-- > 0;) {
    const Origin origin = {Origin::kResult, static_cast<int>(i)};
    made->origins_[{made->body_.results[i], 0}] = origin;
    made->origins_[made->result(static_cast<int>(i))] = origin;
  }
  for (size_t i = 0; i < known.size(); ++i)
    made->origins_[{made->body_.args[i], 0}] = {Origin::kArgument, static_cast<int>(i)};
  return made;
}

absl::Status DifferentiatedBody::Differentiate(absl::Span<const Seed> seeds,
                                               absl::Span<const int> xs) {
  Graph& graph = body_.graph;
  GradientRequest request;
  for (const Seed& seed : seeds) {
    TENON_ASSIGN_OR_RETURN(const NodeId n,
                           graph.AddNode(graph.UniqueName("gradients/incoming"), "Placeholder", {},
                                         {{"dtype", attr::Type(seed.type)}}));
    seeds_.push_back({n, 0});
    options_.feeds.emplace(seeds_.back(), TensorInfo{seed.shape, nullptr, std::nullopt, nullptr});
    builder_->SyncShapes();
    request.ys.push_back({body_.results[seed.result], 0});
  }
  request.grad_ys = seeds_;
  request.ignore_unknown_rules = caller_.ignore_unknown_rules();
  xs_.assign(xs.begin(), xs.end());
  for (const int x : xs) request.xs.push_back({body_.args[x], 0});
  absl::StatusOr<std::vector<Gradient>> gradients = gradients::Differentiate(
      graph, shapes_, options_, request, /*dense=*/true, &nesting_, &added_);
  if (!gradients.ok())
    return Annotate(gradients.status(), absl::StrCat("in function '", name_, "': "));
  for (const Gradient& g : *gradients) gradients_.push_back(g.values);
  std::vector<std::string> made;
  for (const FunctionEntry& function : graph.functions()) made.emplace_back(function.wire);
  if (!made.empty()) caller_.AddFunctions(made);
  return builder_->status();
}

void DifferentiatedBody::FillZeros(size_t i, DataType type) {
  if (gradients_[i].node != kNoNode) return;
  const Value x = arg(xs_[i]);
  const Value zeros = x.dtype() == DataType::kResource && type != DataType::kInvalid
                          ? Fill(ShapeOfVariable(x), builder_->Scalar(type, 0))
                          : ZeroGradientOf(x);
  gradients_[i] = zeros.output();
}

Origin DifferentiatedBody::OriginOf(Output o) const {
  const auto found = origins_.find(o);
  return found == origins_.end() ? Origin() : found->second;
}

bool DifferentiatedBody::IsCheapToCopy(NodeId n) const {
  const Graph& graph = body_.graph;
  if (graph.op_name(n) == "VarHandleOp") return true;
  const AttrValue* const value = graph.op_name(n) == "Const" ? graph.attr(n, "value") : nullptr;
  return value != nullptr && value->wire().size() <= kMostCopiedBytes;
}

// Keeps the new nodes among `roots` and the new nodes that these need.
void DifferentiatedBody::Keep(std::vector<NodeId> roots) {
  while (!roots.empty()) {
    const NodeId n = roots.back();
    roots.pop_back();
    if (n < first_new_ || kept_[n]) continue;
    kept_[n] = true;
    for (const Output& in : body_.graph.inputs(n)) roots.push_back(in.node);
  }
}

// Frames of the body have got nodes that compute with it.
void DifferentiatedBody::KeepAdded() { Keep(added_); }

// Loops in the body have got more inputs.
void DifferentiatedBody::KeepWhatTheBodyNeeds() {
  std::vector<NodeId> roots;
  for (NodeId n = 0; n < first_new_; ++n) {
    for (const Output& in : body_.graph.inputs(n)) roots.push_back(in.node);
  }
  Keep(std::move(roots));
}

// By id: rules add nodes behind those that they read.
void DifferentiatedBody::KeepShapes() {
  const Graph& graph = body_.graph;
  for (NodeId n = first_new_; n < graph.num_node_ids(); ++n) {
    if (!graph.alive(n) || std::ranges::find(kShapeOps, graph.op_name(n)) == kShapeOps.end())
      continue;
    kept_[n] = kept_[n] || std::ranges::none_of(graph.data_inputs(n), [&](const Output& in) {
                 return IsBackward(in.node);
               });
  }
}

void DifferentiatedBody::Capture() {
  const Graph& graph = body_.graph;
  absl::flat_hash_set<Output> seen_outputs(seeds_.begin(), seeds_.end());
  absl::flat_hash_set<NodeId> seen;
  std::vector<Output> todo;
  for (const Output& o : gradients_) {
    if (o.node != kNoNode) todo.push_back(o);
  }
  while (!todo.empty()) {
    const Output o = todo.back();
    todo.pop_back();
    if (!seen_outputs.insert(o).second) continue;
    if (!IsBackward(o.node) && !IsCheapToCopy(o.node)) {
      captured_.push_back(o);
    } else if (seen.insert(o.node).second) {
      backward_.push_back(o.node);
      for (const Output& in : graph.data_inputs(o.node)) todo.push_back(in);
    }
  }
  std::ranges::sort(backward_);
  std::ranges::sort(captured_, {}, [](const Output& o) { return std::pair(o.node, o.port); });
}

// Parts the nodes, and finds what the gradient reads.
void DifferentiatedBody::Sort() {
  kept_.assign(body_.graph.num_node_ids(), false);
  captured_.clear();
  backward_.clear();
  KeepWhatTheBodyNeeds();
  KeepAdded();
  KeepShapes();
  Capture();
}

// Lets the gradient read what is dead at times by way of a stand-in, which is always alive.
absl::Status DifferentiatedBody::Revive() {
  Graph& graph = body_.graph;
  if (!HasSwitch(graph)) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const Sides sides, Sides::Find(graph));
  DeadValues values(*builder_, sides);
  absl::flat_hash_map<Output, Output> again;
  for (const Output& o : captured_) {
    if (sides.Of(graph, o) != Sides::kNone) again[o] = values.Again(o);
    TENON_RETURN_IF_ERROR(builder_->status());
  }
  if (again.empty()) return absl::OkStatus();
  for (const NodeId n : backward_) {
    for (int i = 0; i < graph.num_inputs(n); ++i) {
      if (const auto other = again.find(graph.data_inputs(n)[i]); other != again.end())
        graph.SetInput(n, i, other->second);
    }
  }
  added_.insert(added_.end(), values.forward().begin(), values.forward().end());
  Sort();
  return absl::OkStatus();
}

absl::Status DifferentiatedBody::Part() {
  TENON_RETURN_IF_ERROR(builder_->status());
  Sort();
  TENON_RETURN_IF_ERROR(Revive());
  // Shapes that nobody has asked for go.
  kept_.assign(body_.graph.num_node_ids(), false);
  KeepWhatTheBodyNeeds();
  KeepAdded();
  std::vector<NodeId> roots;
  for (const Output& o : captured_) roots.push_back(o.node);
  Keep(std::move(roots));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Output>> DifferentiatedBody::CopyBackward(
    FunctionGraph& to, absl::flat_hash_map<Output, Output> as) const {
  const Graph& graph = body_.graph;
  std::vector<NodeId> copies;
  for (const NodeId n : backward_) {
    TENON_ASSIGN_OR_RETURN(const NodeId copy,
                           to.graph.AddNode(to.graph.UniqueName(graph.name(n)), graph.op_name(n),
                                            {}, AllAttrs(graph, n), graph.device(n)));
    CopyDebugInfo(graph, n, to.graph, copy);
    for (int i = 0; i < graph.num_outputs(n); ++i) as.emplace(Output{n, i}, Output{copy, i});
    copies.push_back(copy);
  }
  for (size_t i = 0; i < backward_.size(); ++i) {
    std::vector<Output> inputs;
    for (const Output& in : graph.data_inputs(backward_[i])) inputs.push_back(as.at(in));
    to.graph.SetInputs(copies[i], inputs, {});
  }
  std::vector<Output> gradients;
  for (const Output& o : gradients_) gradients.push_back(o.node == kNoNode ? Output() : as.at(o));
  return gradients;
}

void DifferentiatedBody::RemoveBackward() {
  Graph& graph = body_.graph;
  for (NodeId n = first_new_; n < graph.num_node_ids(); ++n) {
    if (graph.alive(n) && IsBackward(n)) graph.RemoveNode(n);
  }
}

std::vector<NodeId> DifferentiatedBody::NewForward() const {
  std::vector<NodeId> nodes;
  for (NodeId n = first_new_; n < static_cast<NodeId>(kept_.size()); ++n) {
    if (kept_[n]) nodes.push_back(n);
  }
  return nodes;
}

}  // namespace tenon::gradients
