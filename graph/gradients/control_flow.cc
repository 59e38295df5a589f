// Control flow of version 1 without loops: a Switch gives its data to one of two outputs, the other
// is dead; a Merge gives what is alive.
#include "graph/gradients/families.h"
#include "graph/gradients/gradient_scope.h"

namespace tenon::gradients {
namespace {

// Gradients of the two sides are sent along the same side, and the one that is alive flows on.
void SwitchGradient(GradientScope& s) {
  GraphBuilder& b = s.builder();
  std::vector<Value> sides;
  for (int i = 0; i < 2; ++i) sides.push_back(b.At(b.AddNode("Switch", {s.dy(i), s.x(1)}), i));
  s.Set(0, Op("Merge", sides));
}

// Output 1 says which input came through.
void MergeGradient(GradientScope& s) {
  GraphBuilder& b = s.builder();
  for (int i = 0; i < s.num_inputs(); ++i) {
    const Value came = Compare("Equal", s.y(1), b.Scalar(DataType::kInt32, i));
    s.Set(i, b.At(b.AddNode("Switch", {s.dy(0), came}), 1));
  }
}

void LoopGradient(GradientScope& s) {
  s.Unimplemented("the gradient of a loop of version 1: only While and StatelessWhile have one");
}

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
