// Calls of functions. The forward function becomes one that also gives what the gradient needs, and
// a backward function takes this and what flows back.
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/functions/library_merge.h"
#include "graph/gradients/functional/function_rules.h"

namespace tenon::gradients {
namespace {

class CallRule {
 public:
  explicit CallRule(GradientScope& s)
      : s_(s),
        b_(s.builder()),
        is_direct_(s.graph().FindFunction(s.op()) != nullptr),
        wanted_(WantedArguments(s, 0)) {}

  absl::Status Apply();

 private:
  absl::Status ApplyGiven(std::string_view gradient);
  absl::Status Differentiate();
  void FillZeros();
  absl::Status FillBackward(CalledFunction& backward);
  absl::Status AddArguments(CalledFunction& backward);
  absl::StatusOr<Output> AddCaptured(CalledFunction& backward, Output captured);
  absl::Status RewriteForward();
  void Call(std::string_view function, absl::Span<const Value> inputs, bool has_state,
            absl::Span<const int> xs);

  GradientScope& s_;
  GraphBuilder& b_;
  const bool is_direct_;  // the function is the op
  std::vector<int> wanted_;
  std::string function_;
  std::unique_ptr<DifferentiatedBody> body_;
  std::vector<DifferentiatedBody::Seed> seeds_;
  std::vector<Output> saved_;  // outputs of the body that become results
  absl::flat_hash_map<Output, Output> as_;
};

// Calls the backward function, whose results are gradients of the arguments xs.
void CallRule::Call(std::string_view function, absl::Span<const Value> inputs, bool has_state,
                    absl::Span<const int> xs) {
  std::vector<DataType> types;
  const FunctionEntry* const entry = s_.graph().FindFunction(function);
  for (const ArgDef& result : entry->signature->outputs) types.push_back(result.type);
  const NodeId call = b_.AddNode(has_state ? "StatefulPartitionedCall" : "PartitionedCall", inputs,
                                 {{"Tout", attr::TypeList(types)}, {"f", attr::Func(function)}});
  for (size_t i = 0; i < xs.size(); ++i) s_.Set(xs[i], b_.At(call, static_cast<int>(i)));
}

// The library has a gradient for the function: it takes the arguments and what flows into all
// results, and gives what flows to all arguments.
absl::Status CallRule::ApplyGiven(std::string_view gradient) {
  const FunctionEntry* const entry = s_.graph().FindFunction(gradient);
  if (entry == nullptr || entry->signature == nullptr)
    return absl::InvalidArgumentError(
        absl::StrCat("there is no function '", gradient, "', the gradient of '", function_, "'"));
  if (static_cast<int>(entry->signature->outputs.size()) != s_.num_inputs())
    return absl::InvalidArgumentError(
        absl::StrCat("function '", gradient, "' gives ", entry->signature->outputs.size(),
                     " gradients for ", s_.num_inputs(), " arguments of '", function_, "'"));
  std::vector<Value> inputs = s_.xs();
  for (int i = 0; i < s_.num_outputs(); ++i) inputs.push_back(s_.dy(i));
  std::vector<DataType> types;
  for (const ArgDef& result : entry->signature->outputs) types.push_back(result.type);
  const NodeId call = b_.AddNode("StatefulPartitionedCall", inputs,
                                 {{"Tout", attr::TypeList(types)}, {"f", attr::Func(gradient)}});
  for (const int i : wanted_) s_.Set(i, b_.At(call, i));
  return absl::OkStatus();
}

// What the backward function reads of the body: an argument, a result or, to be added as a result,
// something inside.
absl::StatusOr<Output> CallRule::AddCaptured(CalledFunction& backward, Output captured) {
  const Origin origin = body_->OriginOf(captured);
  const std::string_view name = body_->body().graph.name(captured.node);
  if (origin.kind == Origin::kArgument)
    return backward.Add(PlainName("", name), s_.x(origin.index));
  if (origin.kind == Origin::kResult) return backward.Add(PlainName("", name), s_.y(origin.index));
  if (body_->body().graph.output_type(captured) == DataType::kResource)
    return absl::UnimplementedError(absl::StrCat("function '", function_, "' makes the handle '",
                                                 name, "', which its gradient needs"));
  saved_.push_back(captured);
  return Output();
}

absl::Status CallRule::AddArguments(CalledFunction& backward) {
  for (size_t i = 0; i < seeds_.size(); ++i) {
    const int result = seeds_[i].result;
    TENON_ASSIGN_OR_RETURN(as_[body_->seeds()[i]],
                           backward.Add(absl::StrCat("d_result_", result), s_.dy(result)));
  }
  for (const Output& captured : body_->captured()) {
    TENON_ASSIGN_OR_RETURN(const Output argument, AddCaptured(backward, captured));
    if (argument.node != kNoNode) as_[captured] = argument;
  }
  // Last, since the node gives these only once it is rewritten.
  const Graph& body = body_->body().graph;
  for (const Output& o : saved_) {
    TENON_ASSIGN_OR_RETURN(const NodeId n,
                           backward.function().AddArgument(PlainName("saved_", body.name(o.node)),
                                                           BaseType(body.output_type(o))));
    as_[o] = {n, 0};
  }
  return absl::OkStatus();
}

// The node gives `saved_` behind its results.
absl::Status CallRule::RewriteForward() {
  FunctionGraph& body = body_->body();
  std::vector<DataType> types;
  for (const Output& o : saved_) {
    types.push_back(BaseType(body.graph.output_type(o)));
    TENON_RETURN_IF_ERROR(body.AddResult(PlainName("saved_", body.graph.name(o.node)), o));
  }
  const std::string name = b_.AddFunction(absl::StrCat(function_, "_forward"), body);
  NewAttrs attrs = KeptAttrs(s_);
  if (!is_direct_) {
    PutAttr(attrs, "f", attr::Func(name));
    PutAttr(attrs, "Tout", MoreTypes(s_.graph().kind(s_.node()).types.outputs, types));
  }
  b_.Rewrite(s_.node(), is_direct_ ? std::string_view(name) : s_.op(), std::move(attrs), {});
  return b_.status();
}

// Makes the body with its gradient, from all results into which something flows.
absl::Status CallRule::Differentiate() {
  TENON_ASSIGN_OR_RETURN(
      body_, DifferentiatedBody::Make(b_, function_, ArgumentInfos(s_, 0), HandleTypes(s_, 0)));
  TENON_RETURN_IF_ERROR(CheckResults(s_, *body_));
  TENON_ASSIGN_OR_RETURN(seeds_, SeedsOf(s_));
  TENON_RETURN_IF_ERROR(body_->Differentiate(seeds_, wanted_));
  FillZeros();
  return body_->Part();
}

// Zeros, as in TensorFlow, where an argument reaches a result into which nothing flows, and has no
// gradient by the others.
void CallRule::FillZeros() {
  std::vector<bool> flows(body_->body().results.size());
  for (const DifferentiatedBody::Seed& seed : seeds_) flows[seed.result] = true;
  std::vector<Output> ys, xs;
  for (size_t i = 0; i < flows.size(); ++i) {
    if (!flows[i]) ys.push_back({body_->body().results[i], 0});
  }
  if (ys.empty()) return;
  for (const int i : wanted_) xs.push_back({body_->body().args[i], 0});
  const Between between(body_->body().graph, ys, xs);
  for (size_t i = 0; i < xs.size(); ++i) {
    const Value x = body_->arg(wanted_[i]);
    const bool is_number = x.dtype() != DataType::kResource && x.dtype() != DataType::kVariant;
    if (is_number && between.Has(xs[i].node)) body_->FillZeros(i, x.dtype());
  }
}

// Fills the backward function; nodes of the gradient then go from the body. The results are the
// gradients of arguments that have one: these are left in wanted_.
absl::Status CallRule::FillBackward(CalledFunction& backward) {
  TENON_RETURN_IF_ERROR(AddArguments(backward));
  TENON_ASSIGN_OR_RETURN(const std::vector<Output> gradients,
                         body_->CopyBackward(backward.function(), as_));
  std::vector<int> xs;
  for (size_t i = 0; i < wanted_.size(); ++i) {
    if (gradients[i].node == kNoNode) continue;
    xs.push_back(wanted_[i]);
    TENON_RETURN_IF_ERROR(
        backward.function().AddResult(absl::StrCat("d_argument_", wanted_[i]), gradients[i]));
  }
  wanted_ = std::move(xs);
  body_->RemoveBackward();
  return absl::OkStatus();
}

absl::Status CallRule::Apply() {
  function_ = s_.op();
  if (!is_direct_) {
    TENON_ASSIGN_OR_RETURN(function_, FunctionIn(s_, "f"));
  }
  if (const std::string_view given = GradientOf(s_.graph(), function_); !given.empty())
    return ApplyGiven(std::string(given));
  TENON_RETURN_IF_ERROR(Differentiate());
  CalledFunction backward(s_.graph());
  TENON_RETURN_IF_ERROR(FillBackward(backward));
  if (wanted_.empty()) return absl::OkStatus();
  const int results = s_.num_outputs();
  std::vector<Value> inputs(backward.inputs().begin(), backward.inputs().end());
  if (!saved_.empty()) TENON_RETURN_IF_ERROR(RewriteForward());
  for (size_t i = 0; i < saved_.size(); ++i) inputs.push_back(s_.y(results + static_cast<int>(i)));
  const std::string name =
      b_.AddFunction(absl::StrCat(function_, "_backward"), backward.function());
  Call(name, inputs, HasState(backward.graph()), wanted_);
  return b_.status();
}

}  // namespace

void CallGradient(GradientScope& s) { s.Fail(CallRule(s).Apply()); }

}  // namespace tenon::gradients
