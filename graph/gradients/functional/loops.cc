// While. The forward loop counts its iterations, and pushes what the gradient of an iteration needs
// on lists, for the backward loop (backward_loop.h).
#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/gradients/functional/backward_loop.h"
#include "graph/gradients/functional/function_rules.h"
#include "graph/gradients/functional/loop_variables.h"
#include "graph/ir/new_attrs.h"

namespace tenon::gradients {
namespace {

class LoopRule {
 public:
  explicit LoopRule(GradientScope& s)
      : s_(s), b_(s.builder()), variables_(s.num_outputs()), op_(s.op()) {}

  absl::Status Apply();

 private:
  std::vector<TensorInfo> Infos(const LoopVariables& facts) const;
  absl::StatusOr<LoopVariables> Facts() const;
  absl::Status MakeBackward(LoopVariables facts);
  absl::Status RewriteForward();
  absl::StatusOr<std::string> ForwardCondition();
  absl::StatusOr<std::string> ForwardBody();
  void CallBackward();
  void SetOthers(const LoopVariables& facts);

  GradientScope& s_;
  GraphBuilder& b_;
  const int variables_;
  const std::string op_;
  std::string body_name_, condition_name_;
  std::optional<BackwardLoop> backward_;
};

// What holds for the variables in each iteration. An iteration may give a variable another shape
// and value, so what is known of the first value holds for invariants alone. Of other variables the
// first shape holds if the loop's output is known to have the same one.
std::vector<TensorInfo> LoopRule::Infos(const LoopVariables& facts) const {
  std::vector<TensorInfo> infos = ArgumentInfos(s_, 0);
  for (int i = 0; i < variables_; ++i) {
    if (facts.is_invariant[i]) continue;
    const PartialShape first = infos[i].shape, stated = s_.y(i).shape();
    infos[i] = TensorInfo();
    if (first.fully_defined() && first == stated) infos[i].shape = first;
  }
  return infos;
}

// The loop has more variables, which the condition does not read.
absl::StatusOr<std::string> LoopRule::ForwardCondition() {
  const FunctionEntry* const entry = s_.graph().FindFunction(condition_name_);
  if (entry == nullptr)
    return absl::InvalidArgumentError(absl::StrCat("there is no function '", condition_name_, "'"));
  TENON_ASSIGN_OR_RETURN(FunctionGraph condition, FunctionGraph::Make(s_.graph(), *entry));
  TENON_RETURN_IF_ERROR(condition.AddArgument("iterations", kCountType).status());
  for (size_t k = 0; k < backward_->saved().size(); ++k)
    TENON_RETURN_IF_ERROR(
        condition.AddArgument(absl::StrCat("saved_", k), DataType::kVariant).status());
  return b_.AddFunction(absl::StrCat(condition_name_, "_forward"), condition);
}

absl::StatusOr<std::string> LoopRule::ForwardBody() {
  FunctionGraph& body = backward_->body().body();
  GraphBuilder& b = backward_->body().builder();
  TENON_ASSIGN_OR_RETURN(const NodeId count, body.AddArgument("iterations", kCountType));
  b.SyncShapes();
  const Value next = b.At(count, 0) + 1.0;
  if (!b.ok()) return b.status();
  TENON_RETURN_IF_ERROR(body.AddResult("iterations", next.output()));
  for (size_t k = 0; k < backward_->saved().size(); ++k) {
    const std::string name = absl::StrCat("saved_", k);
    TENON_ASSIGN_OR_RETURN(const NodeId list, body.AddArgument(name, DataType::kVariant));
    b.SyncShapes();
    const Value longer =
        Op("TensorListPushBack", {b.At(list, 0), b.At(backward_->saved()[k].from)});
    if (!b.ok()) return b.status();
    TENON_RETURN_IF_ERROR(body.AddResult(name, longer.output()));
    b.SyncShapes();
  }
  return b_.AddFunction(absl::StrCat(body_name_, "_forward"), body);
}

absl::Status LoopRule::RewriteForward() {
  TENON_ASSIGN_OR_RETURN(const std::string condition, ForwardCondition());
  TENON_ASSIGN_OR_RETURN(const std::string body, ForwardBody());
  std::vector<Value> first = {b_.Scalar(kCountType, 0)};
  std::vector<DataType> types = {kCountType};
  std::vector<PartialShape> shapes(1 + backward_->saved().size(), PartialShape(Shape()));
  for (const BackwardLoop::Saved& saved : backward_->saved()) {
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

// Zeros, as in TensorFlow, for what nothing depends on.
void LoopRule::SetOthers(const LoopVariables& facts) {
  for (const int i : WantedArguments(s_, 0)) {
    if (i < variables_ && !facts.carries_gradient[i] && s_.x(i).dtype() != DataType::kResource)
      s_.Set(i, ZeroGradientOf(s_.x(i)));
  }
}

absl::StatusOr<LoopVariables> LoopRule::Facts() const {
  std::vector<bool> reaches(variables_), reached(variables_);
  for (int i = 0; i < variables_; ++i)
    reached[i] = s_.has_dy(i) && CarriesGradient(s_.y(i).dtype());
  for (const int i : WantedArguments(s_, 0)) reaches[i] = true;
  return FindLoopVariables(s_.graph(), body_name_, std::move(reaches), std::move(reached));
}

absl::Status LoopRule::MakeBackward(LoopVariables facts) {
  TENON_ASSIGN_OR_RETURN(
      std::unique_ptr<DifferentiatedBody> body,
      DifferentiatedBody::Make(b_, body_name_, Infos(facts), HandleTypes(s_, 0)));
  TENON_RETURN_IF_ERROR(CheckResults(s_, *body));
  backward_.emplace(b_, body_name_, s_.xs(), std::move(facts), std::move(body));
  TENON_RETURN_IF_ERROR(backward_->Differentiate([&](int i) { return s_.dy(i); }));
  return backward_->AddFunctions(condition_name_);
}

void LoopRule::CallBackward() {
  std::vector<Output> lists;
  for (size_t k = 0; k < backward_->saved().size(); ++k)
    lists.push_back({s_.node(), variables_ + 1 + static_cast<int>(k)});
  const std::vector<Value> gradients =
      backward_->Call({s_.node(), variables_}, lists, s_.Attrs({"parallel_iterations"}));
  for (size_t k = 0; k < gradients.size(); ++k) s_.Set(backward_->carried()[k], gradients[k]);
}

absl::Status LoopRule::Apply() {
  TENON_ASSIGN_OR_RETURN(condition_name_, FunctionIn(s_, "cond"));
  TENON_ASSIGN_OR_RETURN(body_name_, FunctionIn(s_, "body"));
  TENON_ASSIGN_OR_RETURN(LoopVariables facts, Facts());
  SetOthers(facts);
  if (std::ranges::count(facts.carries_gradient, true) == 0) return b_.status();
  TENON_RETURN_IF_ERROR(MakeBackward(std::move(facts)));
  TENON_RETURN_IF_ERROR(RewriteForward());
  CallBackward();
  return b_.status();
}

}  // namespace

void WhileGradient(GradientScope& s) { s.Fail(LoopRule(s).Apply()); }

}  // namespace tenon::gradients
