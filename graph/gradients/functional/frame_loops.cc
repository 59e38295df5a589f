// Loops of version 1. The body is copied as that of a While is, and differentiated. The loop itself
// then gets more variables: a count of its iterations, and lists on which it pushes what the
// gradient of an iteration needs. The backward loop is a While, as for a While.
#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/gradients/control_flow/loop_frames.h"
#include "graph/gradients/functional/backward_loop.h"
#include "graph/gradients/functional/function_rules.h"
#include "graph/gradients/functional/raised_frame.h"
#include "graph/gradients/gradient_row.h"
#include "graph/gradients/summing.h"
#include "graph/ir/new_attrs.h"
#include "graph/ir/nodes.h"

namespace tenon::gradients {
namespace {

class FrameRule {
 public:
  FrameRule(GraphBuilder& b, const LoopFrames& frames, int loop,
            absl::Span<const Gradient> incoming, const Between& between)
      : b_(b),
        frames_(frames),
        number_(loop),
        loop_(frames.loops()[loop]),
        incoming_(incoming),
        between_(between) {}

  absl::Status Apply(std::vector<Gradient>& results);

 private:
  // A variable that the loop gets.
  struct NewVariable {
    NodeId merge, divide;
    Output again() const { return {divide, 1}; }
  };

  Output Outer(size_t i) const { return b_.graph().data_inputs(loop_.enters[i])[0]; }
  absl::Status CheckExits() const;
  LoopVariables Facts() const;
  std::vector<TensorInfo> Infos(const LoopVariables& facts) const;
  std::vector<DataType> HandleTypes() const;
  Value Incoming(int i);
  Value LastValue(int i);
  absl::Status Save();
  void AddPivot();
  Value InLoop(NodeId n);
  NewVariable AddVariable(Value first);
  Output Close(const NewVariable& variable, Value next);
  std::optional<Output> Mapped(Output o) const;
  void AddCopies();
  void AddCopy(NodeId n);
  void CloseCopies(absl::Span<const NodeId> nodes);
  void RewriteCalls();
  void RewriteCall(NodeId copy);
  NewAttrs EnterAttrs(std::initializer_list<std::string_view> names) const;

  GraphBuilder& b_;
  const LoopFrames& frames_;
  const int number_;
  const LoopFrame& loop_;
  const absl::Span<const Gradient> incoming_;
  const Between& between_;
  std::optional<RaisedFrame> frame_;
  std::optional<BackwardLoop> backward_;
  NodeId anchor_ = kNoNode;                     // new variables enter the loop behind it
  NodeId pivot_ = kNoNode;                      // runs in each iteration
  absl::flat_hash_map<NodeId, NodeId> copies_;  // in the loop, of new nodes of the body
  absl::flat_hash_set<NodeId> rewritten_;       // calls in the body
  Output iterations_;
  std::vector<Output> lists_;
};

// What flows into the loop must be a last value of a variable.
absl::Status FrameRule::CheckExits() const {
  for (size_t k = 0; k < loop_.exits.size(); ++k) {
    if (incoming_[k].none() || frame_->variable_of_exit[k] >= 0) continue;
    return absl::UnimplementedError(
        absl::StrCat("'", b_.graph().name(loop_.exits[k]),
                     "' (Exit) gives what is no variable of the loop, as in no while_loop"));
  }
  return absl::OkStatus();
}

LoopVariables FrameRule::Facts() const {
  std::vector<bool> wanted, reached(loop_.enters.size());
  for (const NodeId enter : loop_.enters)
    wanted.push_back(between_.Has(enter) && CarriesGradient(b_.graph().output_type({enter, 0})));
  for (size_t k = 0; k < loop_.exits.size(); ++k) {
    if (!incoming_[k].none()) reached[frame_->variable_of_exit[k]] = true;
  }
  return FindLoopVariables(frame_->body, std::move(wanted), std::move(reached));
}

// What holds for the variables in each iteration.
std::vector<TensorInfo> FrameRule::Infos(const LoopVariables& facts) const {
  std::vector<TensorInfo> infos;
  for (size_t i = 0; i < frame_->variables.size(); ++i) {
    const NodeId merge = frame_->variables[i].merge;
    const bool is_same = facts.is_invariant[i];
    infos.push_back(is_same ? b_.shapes().info(Outer(i)) : TensorInfo());
    if (!is_same) infos.back().shape = b_.shapes().shape({merge, 0});
  }
  return infos;
}

std::vector<DataType> FrameRule::HandleTypes() const {
  std::vector<DataType> types;
  for (size_t i = 0; i < loop_.enters.size(); ++i) {
    const Value first = b_.At(Outer(i));
    types.push_back(first.dtype() == DataType::kResource ? TypeOfVariable(first)
                                                         : DataType::kInvalid);
  }
  return types;
}

// A tensor of the shape of variable i's last value.
Value FrameRule::LastValue(int i) {
  FrameVariable& variable = frame_->variables[i];
  if (variable.merge == kNoNode || backward_->body().arg(i).shape().fully_defined())
    return b_.At(Outer(i));
  for (size_t k = 0; k < loop_.exits.size(); ++k) {
    if (frame_->variable_of_exit[k] == i) return b_.At(loop_.exits[k], 0);
  }
  const NodeId first = b_.graph().num_node_ids();
  if (variable.divide == kNoNode)
    variable.divide = b_.AddNode("Switch", {b_.At(variable.merge, 0), b_.At(frame_->condition, 0)});
  const Value last = Op("Exit", {b_.At(variable.divide, 0)});
  for (NodeId n = first; n < b_.graph().num_node_ids(); ++n) b_.NoteForward(n);
  return last;
}

Value FrameRule::Incoming(int i) {
  std::vector<Gradient> parts;
  for (size_t k = 0; k < loop_.exits.size(); ++k) {
    if (frame_->variable_of_exit[k] == i && !incoming_[k].none()) parts.push_back(incoming_[k]);
  }
  return parts.empty() ? ZeroGradientOf(LastValue(i)) : DenseOf(b_, SumOf(b_, parts));
}

NewAttrs FrameRule::EnterAttrs(std::initializer_list<std::string_view> names) const {
  NewAttrs attrs;
  for (const std::string_view name : names) {
    if (const AttrValue* const value = b_.graph().attr(loop_.enters[0], name))
      attrs.push_back({name, std::string(value->wire())});
  }
  return attrs;
}

// A node that the builder has added last, which runs in the loop although it has no inputs.
Value FrameRule::InLoop(NodeId n) {
  if (b_.ok()) b_.graph().AddControlInput(n, pivot_);
  return b_.At(n, 0);
}

FrameRule::NewVariable FrameRule::AddVariable(Value first) {
  const NodeId enter =
      b_.AddNode("Enter", {first}, EnterAttrs({"frame_name", "parallel_iterations"}));
  if (b_.ok()) b_.graph().AddControlInput(enter, anchor_);
  const NodeId merge = b_.AddNode("Merge", {b_.At(enter, 0), b_.At(enter, 0)});
  return {merge, b_.AddNode("Switch", {b_.At(merge, 0), b_.At(frame_->condition, 0)})};
}

// Gives the variable its next value, and returns its last one.
Output FrameRule::Close(const NewVariable& variable, Value next) {
  const NodeId again = b_.AddNode("NextIteration", {next});
  if (b_.ok()) b_.graph().SetInput(variable.merge, 1, {again, 0});
  return Op("Exit", {b_.At(variable.divide, 0)}).output();
}

// The loop counts its iterations. New variables begin with constants and empty lists, which live
// even if the loop is in a branch that is not taken. The anchor is dead there, since it reads what
// enters the loop, and so are the new Enters, which wait for the anchor.
void FrameRule::AddPivot() {
  anchor_ = b_.AddNode("Identity", {b_.At(Outer(0))});
  const NewVariable count = AddVariable(b_.Scalar(kCountType, 0));
  const Value now = Op("Identity", {b_.At(count.again())});
  pivot_ = now.output().node;
  const int32_t one = 1;
  absl::StatusOr<NewAttrs> attrs =
      ConstAttrs(Tensor::Of(kCountType, absl::MakeConstSpan(&one, 1), Shape()));
  if (!attrs.ok()) return b_.Fail(attrs.status());
  const Value step = InLoop(b_.AddNodeOf("Const", {}, *std::move(attrs)));
  iterations_ = Close(count, Op("AddV2", {now, step}));
}

// What stands in the loop for an output of the body; nothing for what is not copied yet.
std::optional<Output> FrameRule::Mapped(Output o) const {
  const Graph& body = backward_->body().body().graph;
  const std::vector<NodeId>& results = backward_->body().body().results;
  if (std::ranges::find(results, o.node) != results.end()) o = body.data_inputs(o.node)[0];
  if (const auto argument = frame_->arguments.find({o.node, 0});
      argument != frame_->arguments.end())
    return Output{argument->second.node,
                  o.port == kControlPort ? kControlPort : argument->second.port};
  if (const auto old = frame_->originals.find(o.node); old != frame_->originals.end())
    return Output{old->second, o.port};
  const auto copy = copies_.find(o.node);
  if (copy == copies_.end()) return std::nullopt;
  return Output{copy->second, o.port};
}

// A call, a branch or a loop of the body was rewritten: so is the node of which it is a copy.
void FrameRule::RewriteCall(NodeId copy) {
  const Graph& body = backward_->body().body().graph;
  const NodeId n = frame_->originals.at(copy);
  if (!rewritten_.insert(copy).second) return;
  std::vector<Value> more;
  for (const Output& in : body.data_inputs(copy).subspan(b_.graph().num_inputs(n))) {
    const std::optional<Output> mapped = Mapped(in);
    if (!mapped) return b_.Fail(absl::InternalError("a call reads what comes behind it"));
    more.push_back(b_.At(*mapped));
  }
  b_.Rewrite(n, body.op_name(copy), AllAttrs(body, copy), more);
}

void FrameRule::RewriteCalls() {
  const Graph& body = backward_->body().body().graph;
  for (NodeId copy = 0; copy < body.num_node_ids(); ++copy) {
    const auto old = frame_->originals.find(copy);
    if (old != frame_->originals.end() && IsFunctional(b_.graph(), old->second) &&
        body.num_outputs(copy) != b_.graph().num_outputs(old->second))
      RewriteCall(copy);
  }
}

void FrameRule::AddCopy(NodeId n) {
  const Graph& body = backward_->body().body().graph;
  const bool is_merge = body.op_name(n) == "Merge";
  std::vector<Output> inputs;
  for (const Output& in : body.inputs(n)) {
    const auto old = frame_->originals.find(in.node);
    if (old != frame_->originals.end() && in.port != kControlPort &&
        in.port >= b_.graph().num_outputs(old->second))
      RewriteCall(in.node);
    const std::optional<Output> mapped = Mapped(in);
    if (mapped) inputs.push_back(*mapped);
    // The other input of a Merge stands for one that comes later (CloseCopies).
    if (!mapped && is_merge && !inputs.empty()) inputs.push_back(inputs[0]);
  }
  if (inputs.size() != body.inputs(n).size())
    return b_.Fail(
        absl::InternalError(absl::StrCat("'", body.name(n), "' reads what comes behind it")));
  const NodeId copy = b_.AddNodeOf(body.op_name(n), inputs, AllAttrs(body, n));
  if (!b_.ok()) return;
  copies_[n] = copy;
  b_.graph().SetDevice(copy, body.device(n));
  if (inputs.empty()) InLoop(copy);
}

void FrameRule::CloseCopies(absl::Span<const NodeId> nodes) {
  const Graph& body = backward_->body().body().graph;
  for (const NodeId n : nodes) {
    if (body.op_name(n) != "Merge") continue;
    for (int i = 0; i < body.num_inputs(n); ++i)
      b_.graph().SetInput(copies_.at(n), i, *Mapped(body.data_inputs(n)[i]));
  }
}

// What the gradient has added to the body to compute with it: shapes, and what loops within save.
void FrameRule::AddCopies() {
  const std::vector<NodeId> nodes = backward_->body().NewForward();
  for (const NodeId n : nodes) {
    if (b_.ok()) AddCopy(n);
  }
  if (b_.ok()) CloseCopies(nodes);
  if (b_.ok()) RewriteCalls();
}

// Lets the loop count, and push what the gradient needs on lists.
absl::Status FrameRule::Save() {
  const NodeId first = b_.graph().num_node_ids();
  AddPivot();
  AddCopies();
  TENON_RETURN_IF_ERROR(b_.status());
  for (const BackwardLoop::Saved& saved : backward_->saved()) {
    const NewVariable list = AddVariable(
        Op("EmptyTensorList", {ListShape(b_, saved.shape), b_.Scalar(DataType::kInt32, -1)},
           {{"element_dtype", attr::Type(saved.type)}}));
    const std::optional<Output> value = Mapped(saved.from);
    if (!value) return absl::InternalError("a value to save has no node");
    lists_.push_back(Close(list, Op("TensorListPushBack", {b_.At(list.again()), b_.At(*value)})));
    TENON_RETURN_IF_ERROR(b_.status());
  }
  for (NodeId n = first; n < b_.graph().num_node_ids(); ++n) b_.NoteForward(n);
  return b_.status();
}

absl::Status FrameRule::Apply(std::vector<Gradient>& results) {
  TENON_ASSIGN_OR_RETURN(frame_, RaisedFrame::Raise(b_.graph(), frames_, number_));
  TENON_RETURN_IF_ERROR(CheckExits());
  LoopVariables facts = Facts();
  if (std::ranges::count(facts.carries_gradient, true) == 0) return absl::OkStatus();
  std::vector<Value> first;
  for (size_t i = 0; i < loop_.enters.size(); ++i) first.push_back(b_.At(Outer(i)));
  TENON_ASSIGN_OR_RETURN(std::unique_ptr<DifferentiatedBody> body,
                         DifferentiatedBody::Make(b_, loop_.name, std::move(frame_->body),
                                                  Infos(facts), HandleTypes()));
  const std::string name = PlainName("", loop_.name);
  backward_.emplace(b_, absl::StrCat(name, "_body"), std::move(first), std::move(facts),
                    std::move(body));
  TENON_RETURN_IF_ERROR(backward_->Differentiate([&](int i) { return Incoming(i); }));
  TENON_RETURN_IF_ERROR(backward_->AddFunctions(absl::StrCat(name, "_condition")));
  TENON_RETURN_IF_ERROR(Save());
  const std::vector<Value> gradients =
      backward_->Call(iterations_, lists_, EnterAttrs({"parallel_iterations"}));
  for (size_t k = 0; k < gradients.size(); ++k)
    results[backward_->carried()[k]] = {gradients[k].output(), {}, {}};
  return b_.status();
}

}  // namespace

std::vector<Gradient> FrameGradient(GraphBuilder& b, const LoopFrames& frames, int loop,
                                    absl::Span<const Gradient> incoming, const Between& between) {
  std::vector<Gradient> results(frames.loops()[loop].enters.size());
  b.Fail(FrameRule(b, frames, loop, incoming, between).Apply(results));
  return results;
}

}  // namespace tenon::gradients
