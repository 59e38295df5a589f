// If and Case. Each branch is parted into a forward and a backward function. Branches give what
// their gradients need through the same results: a branch that has nothing for one gives a
// stand-in, which nobody reads.
#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/gradients/functional/function_rules.h"
#include "graph/ir/new_attrs.h"
#include "graph/op_defs/op_facts.h"

namespace tenon::gradients {
namespace {

// The first input decides which branch runs.
constexpr int kFirstArgument = 1;
// Any shape, and any number of elements, for a TensorList op.
constexpr int32_t kAny = -1;

class BranchRule {
 public:
  explicit BranchRule(GradientScope& s)
      : s_(s),
        b_(s.builder()),
        is_case_(s.graph().facts(s.node()).calls == CallKind::kCase),
        wanted_(WantedArguments(s, kFirstArgument)),
        results_(s.num_outputs()) {}

  absl::Status Apply();

 private:
  // Where what a branch saves stands among the results that are added.
  struct Branch {
    std::unique_ptr<DifferentiatedBody> body;
    std::vector<Output> saved;  // by slot; no output: the branch has nothing for it
  };

  absl::StatusOr<std::vector<std::string>> Names() const;
  NewAttrs FunctionAttrs(NewAttrs attrs, const std::vector<std::string>& names) const;
  absl::Status Differentiate();
  absl::Status FillZerosAndPart();
  absl::Status AssignSlots(Branch& branch);
  absl::StatusOr<Output> StandIn(FunctionGraph& body, DataType type) const;
  absl::Status RewriteForward();
  void AddInputs();
  absl::StatusOr<std::string> Backward(const Branch& branch);
  void CallBackward(const std::vector<std::string>& names);

  // An argument of the backward functions and the input of the node that calls them.
  struct Input {
    std::string name;
    DataType type;
    Output from;
  };

  GradientScope& s_;
  GraphBuilder& b_;
  const bool is_case_;
  std::vector<int> wanted_;
  const int results_;
  std::vector<Branch> branches_;
  std::vector<DifferentiatedBody::Seed> seeds_;
  std::vector<DataType> types_;  // of the gradients of wanted_
  std::vector<DataType> slots_;  // the types of the results that are added
  std::vector<Input>
      inputs_;  // what flows in, then arguments, results and slots that a branch needs
  std::vector<int> argument_at_, result_at_;  // where these stand in inputs_; -1: nowhere
  int slot_at_ = 0;
  bool has_state_ = false;
};

absl::StatusOr<std::vector<std::string>> BranchRule::Names() const {
  std::vector<std::string> names;
  if (!is_case_) {
    for (const char* attr : {"then_branch", "else_branch"}) {
      TENON_ASSIGN_OR_RETURN(names.emplace_back(), FunctionIn(s_, attr));
    }
    return names;
  }
  const AttrValue* const attr = s_.graph().attr(s_.node(), "branches");
  if (attr == nullptr) return absl::InvalidArgumentError("attribute 'branches' is missing");
  TENON_ASSIGN_OR_RETURN(const std::vector<FuncAttr> functions, attr->AsFuncList());
  for (const FuncAttr& function : functions) names.emplace_back(function.name);
  return names;
}

NewAttrs BranchRule::FunctionAttrs(NewAttrs attrs, const std::vector<std::string>& names) const {
  if (is_case_) {
    const std::vector<std::string_view> views(names.begin(), names.end());
    PutAttr(attrs, "branches", attr::FuncList(views));
  } else {
    PutAttr(attrs, "then_branch", attr::Func(names[0]));
    PutAttr(attrs, "else_branch", attr::Func(names[1]));
  }
  return attrs;
}

// An argument of which one branch has a gradient has zeros for a gradient in the others.
absl::Status BranchRule::Differentiate() {
  TENON_ASSIGN_OR_RETURN(const std::vector<std::string> names, Names());
  TENON_ASSIGN_OR_RETURN(seeds_, SeedsOf(s_));
  for (const std::string& name : names) {
    Branch& branch = branches_.emplace_back();
    TENON_ASSIGN_OR_RETURN(branch.body,
                           DifferentiatedBody::Make(b_, name, ArgumentInfos(s_, kFirstArgument),
                                                    HandleTypes(s_, kFirstArgument)));
    TENON_RETURN_IF_ERROR(CheckResults(s_, *branch.body));
    TENON_RETURN_IF_ERROR(branch.body->Differentiate(seeds_, wanted_));
  }
  types_.assign(wanted_.size(), DataType::kInvalid);
  for (const Branch& branch : branches_) {
    for (size_t i = 0; i < wanted_.size(); ++i) {
      const Output gradient = branch.body->gradients()[i];
      if (gradient.node != kNoNode)
        types_[i] = BaseType(branch.body->body().graph.output_type(gradient));
    }
  }
  return absl::OkStatus();
}

// Where no branch has a gradient there are zeros, as in TensorFlow, but not for the variable behind
// a handle: there is none.
absl::Status BranchRule::FillZerosAndPart() {
  const std::vector<DataType> handles = HandleTypes(s_, kFirstArgument);
  for (size_t i = 0; i < wanted_.size(); ++i) {
    const DataType type = s_.x(kFirstArgument + wanted_[i]).dtype();
    if (types_[i] == DataType::kInvalid && type != DataType::kResource) types_[i] = type;
    for (const Branch& branch : branches_) {
      if (types_[i] != DataType::kInvalid) branch.body->FillZeros(i, types_[i]);
    }
  }
  for (Branch& branch : branches_) {
    TENON_RETURN_IF_ERROR(branch.body->Part());
    TENON_RETURN_IF_ERROR(AssignSlots(branch));
  }
  return absl::OkStatus();
}

// What the branch saves goes to the first slots of its types that the branch has not used.
absl::Status BranchRule::AssignSlots(Branch& branch) {
  const Graph& graph = branch.body->body().graph;
  branch.saved.resize(slots_.size());
  for (const Output& captured : branch.body->captured()) {
    const Origin origin = branch.body->OriginOf(captured);
    if (origin.kind == Origin::kArgument) argument_at_[origin.index] = 0;
    if (origin.kind == Origin::kResult) result_at_[origin.index] = 0;
    if (origin.kind != Origin::kInside) continue;
    const DataType type = BaseType(graph.output_type(captured));
    if (type == DataType::kResource)
      return absl::UnimplementedError(
          absl::StrCat("branch '", branch.body->name(), "' makes the handle '",
                       graph.name(captured.node), "', which its gradient needs"));
    size_t slot = 0;
    while (slot < slots_.size() && (slots_[slot] != type || branch.saved[slot].node != kNoNode))
      ++slot;
    if (slot == slots_.size()) {
      slots_.push_back(type);
      branch.saved.emplace_back();
    }
    branch.saved[slot] = captured;
  }
  return absl::OkStatus();
}

// Something small of the type.
absl::StatusOr<Output> BranchRule::StandIn(FunctionGraph& body, DataType type) const {
  Graph& graph = body.graph;
  const std::string name = graph.UniqueName("gradients/not_saved");
  if (type != DataType::kVariant) {
    TENON_ASSIGN_OR_RETURN(const Tensor empty, Tensor::Allocate(type, Shape({0})));
    TENON_ASSIGN_OR_RETURN(NewAttrs attrs, ConstAttrs(empty));
    TENON_ASSIGN_OR_RETURN(const NodeId n, graph.AddNode(name, "Const", {}, std::move(attrs)));
    return Output{n, 0};
  }
  TENON_ASSIGN_OR_RETURN(
      const NewAttrs none,
      ConstAttrs(Tensor::Of(DataType::kInt32, absl::MakeConstSpan(&kAny, 1), Shape())));
  TENON_ASSIGN_OR_RETURN(const NodeId unknown,
                         graph.AddNode(absl::StrCat(name, "/unknown"), "Const", {}, none));
  TENON_ASSIGN_OR_RETURN(
      const NodeId n,
      graph.AddNode(name, "EmptyTensorList", std::array{Output{unknown, 0}, Output{unknown, 0}},
                    {{"element_dtype", attr::Type(DataType::kFloat)},
                     {"shape_type", attr::Type(DataType::kInt32)}}));
  return Output{n, 0};
}

// The node gives the slots behind its results.
absl::Status BranchRule::RewriteForward() {
  std::vector<std::string> names;
  for (Branch& branch : branches_) {
    FunctionGraph& body = branch.body->body();
    branch.saved.resize(slots_.size());
    for (size_t k = 0; k < slots_.size(); ++k) {
      Output from = branch.saved[k];
      if (from.node == kNoNode) {
        TENON_ASSIGN_OR_RETURN(from, StandIn(body, slots_[k]));
      }
      TENON_RETURN_IF_ERROR(body.AddResult(absl::StrCat("saved_", k), from));
    }
    names.push_back(b_.AddFunction(absl::StrCat(branch.body->name(), "_forward"), body));
  }
  NewAttrs attrs = KeptAttrs(s_);
  PutAttr(attrs, "Tout", MoreTypes(s_.graph().kind(s_.node()).types.outputs, slots_));
  TENON_RETURN_IF_ERROR(AppendOutputShapes(s_, std::vector<PartialShape>(slots_.size()), attrs));
  b_.Rewrite(s_.node(), s_.op(), FunctionAttrs(std::move(attrs), names), {});
  return b_.status();
}

// All branches take the same. The node has the slots only once it is rewritten.
void BranchRule::AddInputs() {
  const auto add = [&](std::string_view what, size_t i, Value value) {
    inputs_.push_back({absl::StrCat(what, i), value.dtype(), value.output()});
    return static_cast<int>(inputs_.size()) - 1;
  };
  for (const DifferentiatedBody::Seed& seed : seeds_)
    add("d_result_", seed.result, s_.dy(seed.result));
  for (size_t i = 0; i < argument_at_.size(); ++i) {
    if (argument_at_[i] == 0)
      argument_at_[i] = add("argument_", i, s_.x(kFirstArgument + static_cast<int>(i)));
  }
  for (size_t i = 0; i < result_at_.size(); ++i) {
    if (result_at_[i] == 0) result_at_[i] = add("result_", i, s_.y(static_cast<int>(i)));
  }
  slot_at_ = static_cast<int>(inputs_.size());
  for (size_t i = 0; i < slots_.size(); ++i)
    inputs_.push_back(
        {absl::StrCat("saved_", i), slots_[i], {s_.node(), results_ + static_cast<int>(i)}});
}

// Adds the backward function of a branch, and returns its name.
absl::StatusOr<std::string> BranchRule::Backward(const Branch& branch) {
  FunctionGraph function = FunctionGraph::New(s_.graph());
  std::vector<Output> arguments;
  for (const Input& input : inputs_) {
    TENON_ASSIGN_OR_RETURN(const NodeId n, function.AddArgument(input.name, input.type));
    arguments.push_back({n, 0});
  }
  absl::flat_hash_map<Output, Output> as;
  for (size_t i = 0; i < seeds_.size(); ++i) as[branch.body->seeds()[i]] = arguments[i];
  for (const Output& captured : branch.body->captured()) {
    const Origin origin = branch.body->OriginOf(captured);
    if (origin.kind == Origin::kArgument) as[captured] = arguments[argument_at_[origin.index]];
    if (origin.kind == Origin::kResult) as[captured] = arguments[result_at_[origin.index]];
  }
  for (size_t k = 0; k < branch.saved.size(); ++k) {
    if (branch.saved[k].node != kNoNode)
      as[branch.saved[k]] = arguments[slot_at_ + static_cast<int>(k)];
  }
  TENON_ASSIGN_OR_RETURN(const std::vector<Output> gradients,
                         branch.body->CopyBackward(function, std::move(as)));
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (types_[i] != DataType::kInvalid)
      TENON_RETURN_IF_ERROR(
          function.AddResult(absl::StrCat("d_argument_", wanted_[i]), gradients[i]));
  }
  has_state_ |= HasState(function.graph);
  return b_.AddFunction(absl::StrCat(branch.body->name(), "_backward"), function);
}

void BranchRule::CallBackward(const std::vector<std::string>& names) {
  std::vector<DataType> types;
  std::vector<PartialShape> shapes;
  std::vector<int> xs;
  for (size_t i = 0; i < wanted_.size(); ++i) {
    if (types_[i] == DataType::kInvalid) continue;
    const Value x = s_.x(xs.emplace_back(kFirstArgument + wanted_[i]));
    types.push_back(types_[i]);
    shapes.push_back(x.dtype() == DataType::kResource ? PartialShape() : x.shape());
  }
  std::vector<Value> inputs = {s_.x(0)};
  for (const Input& input : inputs_) inputs.push_back(b_.At(input.from));
  const std::string_view op =
      is_case_ ? (has_state_ ? "Case" : "StatelessCase") : (has_state_ ? "If" : "StatelessIf");
  const NodeId node = b_.AddNode(
      op, inputs,
      FunctionAttrs({{"Tout", attr::TypeList(types)}, {"output_shapes", attr::ShapeList(shapes)}},
                    names));
  for (size_t i = 0; i < xs.size(); ++i) s_.Set(xs[i], b_.At(node, static_cast<int>(i)));
}

absl::Status BranchRule::Apply() {
  argument_at_.assign(s_.num_inputs() - kFirstArgument, -1);
  result_at_.assign(results_, -1);
  TENON_RETURN_IF_ERROR(Differentiate());
  TENON_RETURN_IF_ERROR(FillZerosAndPart());
  if (std::ranges::all_of(types_, [](DataType t) { return t == DataType::kInvalid; }))
    return absl::OkStatus();
  AddInputs();
  std::vector<std::string> names;
  for (const Branch& branch : branches_) {
    TENON_ASSIGN_OR_RETURN(names.emplace_back(), Backward(branch));
    branch.body->RemoveBackward();
  }
  if (!slots_.empty()) TENON_RETURN_IF_ERROR(RewriteForward());
  CallBackward(names);
  return b_.status();
}

}  // namespace

void BranchGradient(GradientScope& s) { s.Fail(BranchRule(s).Apply()); }

}  // namespace tenon::gradients
