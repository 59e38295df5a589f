// While. The forward loop counts its iterations, and pushes what the gradient of an iteration needs
// on lists. The backward loop goes through the iterations from the last to the first, pops from the
// lists, and carries the gradients of the loop's variables.
#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/base/annotate.h"
#include "graph/base/status_macros.h"
#include "graph/gradients/functional/function_rules.h"
#include "graph/gradients/functional/loop_variables.h"
#include "graph/ir/new_attrs.h"

namespace tenon::gradients {
namespace {

constexpr DataType kCountType = DataType::kInt32;

// The shape of a list's elements as TensorList ops take it: -1 for what is not known.
Value ListShape(GraphBuilder& b, const PartialShape& shape) {
  if (!shape.known_rank()) return b.Scalar(DataType::kInt32, -1);
  std::vector<int64_t> dims;
  for (int i = 0; i < shape.rank(); ++i)
    dims.push_back(shape.dim(i) == kUnknownDim ? -1 : shape.dim(i));
  return b.Ints(dims);
}

class LoopRule {
 public:
  explicit LoopRule(GradientScope& s)
      : s_(s), b_(s.builder()), variables_(s.num_outputs()), op_(s.op()) {}

  absl::Status Apply();

 private:
  // A tensor of the body that the forward loop saves in each iteration.
  struct Saved {
    Output from;
    DataType type;
    PartialShape shape;
  };
  // A variable of the backward loop: its first value, and its shape in all iterations.
  struct Carried {
    std::string name;
    DataType type;
    Output first;
    PartialShape shape;
  };

  std::vector<TensorInfo> Infos() const;
  absl::Status Differentiate();
  absl::Status Capture();
  void ListBackward();
  absl::Status RewriteForward();
  absl::StatusOr<std::string> ForwardCondition();
  absl::StatusOr<std::string> ForwardBody();
  absl::Status FillBackward(FunctionGraph& body, absl::Span<const Output> arguments);
  absl::StatusOr<std::vector<Output>> AddArguments(FunctionGraph& function) const;
  absl::StatusOr<std::string> BackwardCondition() const;
  absl::StatusOr<std::string> BackwardBody();
  void CallBackward(std::string_view condition, std::string_view body);
  void SetOthers();

  GradientScope& s_;
  GraphBuilder& b_;
  const int variables_;
  const std::string op_;
  std::string body_name_, condition_name_;
  LoopVariables facts_;
  std::unique_ptr<DifferentiatedBody> body_;
  std::vector<int> carried_;          // variables whose gradients the backward loop carries
  std::vector<Value> incoming_;       // of carried_: what flows into their last values
  std::vector<PartialShape> shapes_;  // of the gradients of carried_ in all iterations
  std::vector<Saved> saved_;
  std::vector<int> invariants_;    // variables that no iteration changes and the gradient reads
  std::vector<Carried> backward_;  // the count, gradients of carried_, lists, invariants
  bool has_state_ = false;
};

// What holds for the variables in each iteration.
std::vector<TensorInfo> LoopRule::Infos() const {
  std::vector<TensorInfo> infos = ArgumentInfos(s_, 0);
  for (int i = 0; i < variables_; ++i) {
    if (facts_.is_invariant[i]) continue;
    const PartialShape first = infos[i].shape, stated = s_.y(i).shape();
    infos[i] = TensorInfo();
    if (first.fully_defined() && first == stated) infos[i].shape = first;
  }
  return infos;
}

absl::Status LoopRule::Differentiate() {
  const std::vector<TensorInfo> infos = Infos();
  TENON_ASSIGN_OR_RETURN(body_,
                         DifferentiatedBody::Make(b_, body_name_, infos, HandleTypes(s_, 0)));
  TENON_RETURN_IF_ERROR(CheckResults(s_, *body_));
  std::vector<DifferentiatedBody::Seed> seeds;
  for (const int i : carried_) {
    const bool is_handle = s_.x(i).dtype() == DataType::kResource;
    if (is_handle && !facts_.is_invariant[i])
      return absl::UnimplementedError(
          absl::StrCat("handles of variables that iterations exchange (variable ", i, ")"));
    incoming_.push_back(s_.dy(i));
    shapes_.push_back(is_handle ? PartialShape() : infos[i].shape);
    seeds.push_back({i, incoming_.back().dtype(), shapes_.back()});
  }
  TENON_RETURN_IF_ERROR(b_.status());
  TENON_RETURN_IF_ERROR(body_->Differentiate(seeds, carried_));
  for (size_t k = 0; k < carried_.size(); ++k) body_->FillZeros(k, seeds[k].type);
  return body_->Part();
}

absl::Status LoopRule::Capture() {
  const Graph& graph = body_->body().graph;
  for (const Output& captured : body_->captured()) {
    const Origin origin = body_->OriginOf(captured);
    if (origin.kind != Origin::kInside && facts_.is_invariant[origin.index]) {
      if (std::ranges::find(invariants_, origin.index) == invariants_.end())
        invariants_.push_back(origin.index);
      continue;
    }
    const DataType type = BaseType(graph.output_type(captured));
    if (type == DataType::kResource)
      return absl::UnimplementedError(absl::StrCat("body '", body_name_, "' makes the handle '",
                                                   graph.name(captured.node),
                                                   "', which its gradient needs"));
    saved_.push_back({captured, type, body_->builder().shapes().shape(captured)});
  }
  return absl::OkStatus();
}

// The loop has more variables, which the condition does not read.
absl::StatusOr<std::string> LoopRule::ForwardCondition() {
  const FunctionEntry* const entry = s_.graph().FindFunction(condition_name_);
  if (entry == nullptr)
    return absl::InvalidArgumentError(absl::StrCat("there is no function '", condition_name_, "'"));
  TENON_ASSIGN_OR_RETURN(FunctionGraph condition, FunctionGraph::Make(s_.graph(), *entry));
  TENON_RETURN_IF_ERROR(condition.AddArgument("iterations", kCountType).status());
  for (size_t k = 0; k < saved_.size(); ++k)
    TENON_RETURN_IF_ERROR(
        condition.AddArgument(absl::StrCat("saved_", k), DataType::kVariant).status());
  std::string name = b_.FreeFunctionName(absl::StrCat(condition_name_, "_forward"));
  b_.AddFunctions({condition.Wire(name)});
  return name;
}

absl::StatusOr<std::string> LoopRule::ForwardBody() {
  FunctionGraph& body = body_->body();
  GraphBuilder& b = body_->builder();
  TENON_ASSIGN_OR_RETURN(const NodeId count, body.AddArgument("iterations", kCountType));
  b.SyncShapes();
  const Value next = b.At(count, 0) + 1.0;
  if (!b.ok()) return b.status();
  TENON_RETURN_IF_ERROR(body.AddResult("iterations", next.output()));
  for (size_t k = 0; k < saved_.size(); ++k) {
    const std::string name = absl::StrCat("saved_", k);
    TENON_ASSIGN_OR_RETURN(const NodeId list, body.AddArgument(name, DataType::kVariant));
    b.SyncShapes();
    const Value longer = Op("TensorListPushBack", {b.At(list, 0), b.At(saved_[k].from)});
    if (!b.ok()) return b.status();
    TENON_RETURN_IF_ERROR(body.AddResult(name, longer.output()));
    b.SyncShapes();
  }
  std::string name = b_.FreeFunctionName(absl::StrCat(body_name_, "_forward"));
  b_.AddFunctions({body.Wire(name)});
  return name;
}

absl::Status LoopRule::RewriteForward() {
  TENON_ASSIGN_OR_RETURN(const std::string condition, ForwardCondition());
  TENON_ASSIGN_OR_RETURN(const std::string body, ForwardBody());
  std::vector<Value> first = {b_.Scalar(kCountType, 0)};
  std::vector<DataType> types = {kCountType};
  std::vector<PartialShape> shapes(1 + saved_.size(), PartialShape(Shape()));
  for (const Saved& saved : saved_) {
    types.push_back(DataType::kVariant);
    first.push_back(b_.Op("EmptyTensorList",
                          {ListShape(b_, saved.shape), b_.Scalar(DataType::kInt32, -1)},
                          {{"element_dtype", attr::Type(saved.type)}}));
  }
  NewAttrs attrs = KeptAttrs(s_);
  PutAttr(attrs, "T", MoreTypes(s_.graph().kind(s_.node()).types.outputs, types));
  PutAttr(attrs, "cond", attr::Func(condition));
  PutAttr(attrs, "body", attr::Func(body));
  TENON_RETURN_IF_ERROR(AppendOutputShapes(s_, shapes, attrs));
  TENON_RETURN_IF_ERROR(b_.status());
  b_.Rewrite(s_.node(), op_, std::move(attrs), first);
  return b_.status();
}

// The variables of the backward loop.
void LoopRule::ListBackward() {
  const auto forward = [&](size_t i) { return Output{s_.node(), static_cast<int>(i)}; };
  const PartialShape scalar = Shape();
  backward_.push_back({"iterations", kCountType, forward(variables_), scalar});
  for (size_t k = 0; k < carried_.size(); ++k)
    backward_.push_back({absl::StrCat("d_variable_", carried_[k]), incoming_[k].dtype(),
                         incoming_[k].output(), shapes_[k]});
  for (size_t k = 0; k < saved_.size(); ++k)
    backward_.push_back(
        {absl::StrCat("saved_", k), DataType::kVariant, forward(variables_ + 1 + k), scalar});
  for (const int i : invariants_)
    backward_.push_back(
        {absl::StrCat("variable_", i), s_.x(i).dtype(), s_.x(i).output(), s_.x(i).shape()});
}

absl::StatusOr<std::vector<Output>> LoopRule::AddArguments(FunctionGraph& function) const {
  std::vector<Output> arguments;
  for (const Carried& variable : backward_) {
    TENON_ASSIGN_OR_RETURN(const NodeId n, function.AddArgument(variable.name, variable.type));
    arguments.push_back({n, 0});
  }
  return arguments;
}

absl::StatusOr<std::string> LoopRule::BackwardCondition() const {
  FunctionGraph condition = FunctionGraph::New(s_.graph());
  TENON_ASSIGN_OR_RETURN(const std::vector<Output> arguments, AddArguments(condition));
  TENON_ASSIGN_OR_RETURN(GraphShapes shapes, GraphShapes::Infer(condition.graph));
  const ShapeOptions options;
  GraphBuilder b(condition.graph, shapes, options);
  b.EnterScope("count");
  const Value more = Compare("Greater", b.At(arguments[0]), b.Scalar(kCountType, 0));
  TENON_RETURN_IF_ERROR(b.status());
  TENON_RETURN_IF_ERROR(condition.AddResult("more", more.output()));
  std::string name = b_.FreeFunctionName(absl::StrCat(condition_name_, "_backward"));
  b_.AddFunctions({condition.Wire(name)});
  return name;
}

// One iteration backward. Results are in the order of the arguments.
absl::Status LoopRule::FillBackward(FunctionGraph& body, absl::Span<const Output> arguments) {
  TENON_ASSIGN_OR_RETURN(GraphShapes shapes, GraphShapes::Infer(body.graph));
  const ShapeOptions options;
  GraphBuilder b(body.graph, shapes, options);
  b.EnterScope("saved");
  std::vector<Output> results = {(b.At(arguments[0]) - 1.0).output()};
  absl::flat_hash_map<Output, Output> as;
  for (size_t k = 0; k < carried_.size(); ++k) as[body_->seeds()[k]] = arguments[1 + k];
  const size_t lists = 1 + carried_.size();
  std::vector<Output> shorter;
  for (size_t k = 0; k < saved_.size(); ++k) {
    const NodeId pop =
        b.AddNode("TensorListPopBack", {b.At(arguments[lists + k]), ListShape(b, saved_[k].shape)},
                  {{"element_dtype", attr::Type(saved_[k].type)}});
    shorter.push_back({pop, 0});
    as[saved_[k].from] = {pop, 1};
  }
  TENON_RETURN_IF_ERROR(b.status());
  const absl::Span<const Output> constant = arguments.subspan(lists + saved_.size());
  for (const Output& captured : body_->captured()) {
    const Origin origin = body_->OriginOf(captured);
    const auto at = std::ranges::find(invariants_, origin.index);
    if (origin.kind != Origin::kInside && at != invariants_.end())
      as[captured] = constant[at - invariants_.begin()];
  }
  TENON_ASSIGN_OR_RETURN(const std::vector<Output> gradients,
                         body_->CopyBackward(body, std::move(as)));
  results.insert(results.end(), gradients.begin(), gradients.end());
  results.insert(results.end(), shorter.begin(), shorter.end());
  results.insert(results.end(), constant.begin(), constant.end());
  for (size_t i = 0; i < results.size(); ++i)
    TENON_RETURN_IF_ERROR(body.AddResult(backward_[i].name, results[i]));
  return absl::OkStatus();
}

absl::StatusOr<std::string> LoopRule::BackwardBody() {
  FunctionGraph body = FunctionGraph::New(s_.graph());
  TENON_ASSIGN_OR_RETURN(const std::vector<Output> arguments, AddArguments(body));
  TENON_RETURN_IF_ERROR(FillBackward(body, arguments));
  has_state_ = HasState(body.graph);
  std::string name = b_.FreeFunctionName(absl::StrCat(body_name_, "_backward"));
  b_.AddFunctions({body.Wire(name)});
  return name;
}

void LoopRule::CallBackward(std::string_view condition, std::string_view body) {
  std::vector<Value> inputs;
  std::vector<PartialShape> shapes;
  for (const Carried& variable : backward_) {
    inputs.push_back(b_.At(variable.first));
    shapes.push_back(variable.shape);
  }
  NewAttrs attrs = s_.Attrs({"parallel_iterations"});
  attrs.push_back({"cond", attr::Func(condition)});
  attrs.push_back({"body", attr::Func(body)});
  attrs.push_back({"output_shapes", attr::ShapeList(shapes)});
  const NodeId loop = b_.AddNode(has_state_ ? "While" : "StatelessWhile", inputs, std::move(attrs));
  for (size_t k = 0; k < carried_.size(); ++k)
    s_.Set(carried_[k], b_.At(loop, static_cast<int>(1 + k)));
}

// Zeros, as in TensorFlow, for what nothing depends on.
void LoopRule::SetOthers() {
  for (const int i : WantedArguments(s_, 0)) {
    const bool is_carried = std::ranges::find(carried_, i) != carried_.end();
    if (!is_carried && s_.x(i).dtype() != DataType::kResource && i < variables_)
      s_.Set(i, ZeroGradientOf(s_.x(i)));
  }
}

absl::Status LoopRule::Apply() {
  TENON_ASSIGN_OR_RETURN(condition_name_, FunctionIn(s_, "cond"));
  TENON_ASSIGN_OR_RETURN(body_name_, FunctionIn(s_, "body"));
  std::vector<bool> reaches(variables_), reached(variables_);
  for (int i = 0; i < variables_; ++i)
    reached[i] = s_.has_dy(i) && CarriesGradient(s_.y(i).dtype());
  for (const int i : WantedArguments(s_, 0)) reaches[i] = true;
  TENON_ASSIGN_OR_RETURN(
      facts_, FindLoopVariables(s_.graph(), body_name_, std::move(reaches), std::move(reached)));
  for (int i = 0; i < variables_; ++i) {
    if (facts_.carries_gradient[i]) carried_.push_back(i);
  }
  SetOthers();
  if (carried_.empty()) return b_.status();
  TENON_RETURN_IF_ERROR(Differentiate());
  TENON_RETURN_IF_ERROR(Capture());
  ListBackward();
  TENON_ASSIGN_OR_RETURN(const std::string condition, BackwardCondition());
  TENON_ASSIGN_OR_RETURN(const std::string body, BackwardBody());
  body_->RemoveBackward();
  TENON_RETURN_IF_ERROR(RewriteForward());
  CallBackward(condition, body);
  return b_.status();
}

}  // namespace

void WhileGradient(GradientScope& s) { s.Fail(LoopRule(s).Apply()); }

}  // namespace tenon::gradients
