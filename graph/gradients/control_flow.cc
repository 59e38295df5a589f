// Control flow of version 1 but for loops: a Switch gives its data to one of two outputs, the other
// is dead; a Merge gives what is alive.
#include <optional>

#include "graph/gradients/control_flow/sides.h"
#include "graph/gradients/families.h"
#include "graph/gradients/gradient_scope.h"

namespace tenon::gradients {
namespace {

// Gradients of the two sides are sent along the same side, and the one that is alive flows on. A
// Switch of what lies on one of the sides already has nothing on the other.
void SwitchGradient(GradientScope& s) {
  GraphBuilder& b = s.builder();
  const Value predicate = b.At(Sides::OriginalOf(s.graph(), s.x(1).output()));
  if (const Sides* const known = b.sides()) {
    const int port = known->PortOf(known->Of(s.graph(), s.x(0).output()), predicate.output());
    if (port >= 0) return s.Pass(0, port);
  }
  std::vector<Value> sides;
  for (int i = 0; i < 2; ++i) sides.push_back(b.At(b.AddNode("Switch", {s.dy(i), predicate}), i));
  s.Set(0, Op("Merge", sides));
}

// The two sides of one branch, whose values the Merge joins; no branch if it joins others.
struct Branch {
  Value predicate;
  int port[2];  // of a Switch, by input
};

std::optional<Branch> BranchOf(GradientScope& s) {
  const Sides* const sides = s.num_inputs() == 2 ? s.builder().sides() : nullptr;
  if (sides == nullptr) return std::nullopt;
  const int first = sides->Of(s.graph(), s.x(0).output());
  const int second = sides->Of(s.graph(), s.x(1).output());
  if (first < 0 || second < 0) return std::nullopt;
  const Sides::Side &a = sides->side(first), &b = sides->side(second);
  if (a.outer != b.outer || a.predicate != b.predicate || a.port == b.port) return std::nullopt;
  return Branch{s.builder().At(a.predicate), {a.port, b.port}};
}

// Each input gets the gradient on its side. Where the sides are not known, output 1 says which
// input came through.
void MergeGradient(GradientScope& s) {
  GraphBuilder& b = s.builder();
  const std::optional<Branch> branch = BranchOf(s);
  for (int i = 0; i < s.num_inputs(); ++i) {
    const Value came =
        branch ? branch->predicate : Compare("Equal", s.y(1), b.Scalar(DataType::kInt32, i));
    s.Set(i, b.At(b.AddNode("Switch", {s.dy(0), came}), branch ? branch->port[i] : 1));
  }
}

// A loop is differentiated as a whole (control_flow/loop_frames.h). This is left over.
void LoopGradient(GradientScope& s) { s.Unimplemented("it belongs to no whole loop"); }

constexpr GradientRow kControlFlow[] = {
    {"Assert", nullptr},
    {"Enter", LoopGradient},
    {"Exit", LoopGradient},
    {"LoopCond", nullptr},
    {"Merge", MergeGradient},
    {"NextIteration", LoopGradient},
    {"Print", [](GradientScope& s) { s.Pass(0, 0); }},
    {"RefEnter", LoopGradient},
    {"RefExit", LoopGradient},
    {"RefMerge", MergeGradient},
    {"RefNextIteration", LoopGradient},
    {"RefSwitch", SwitchGradient},
    {"Switch", SwitchGradient},
};

}  // namespace

absl::Span<const GradientRow> ControlFlow() { return kControlFlow; }

}  // namespace tenon::gradients
