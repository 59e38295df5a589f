// Tensor arrays of version 1 (TensorArray…V3). The gradients of an array's elements stand in an
// array of their own, which TensorArrayGradV3 makes at its first use; what is written there twice
// is summed. The flow, a number that each op hands on, orders reads and writes: its gradient orders
// those of the gradients.
#include "graph/gradients/families.h"
#include "graph/gradients/gradient_scope.h"

namespace tenon::gradients {
namespace {

// The array of gradients, and a flow behind its making.
struct GradientArray {
  Value handle, flow;
};

GradientArray ArrayOfGradients(GradientScope& s, Value flow) {
  GraphBuilder& b = s.builder();
  const NodeId n =
      b.AddNode("TensorArrayGradV3", {s.x(0), flow}, {{"source", attr::String(b.label())}});
  return {b.At(n, 0), b.At(n, 1)};
}

// The gradient of the flow out of a write, behind the write itself.
Value FlowBehindWrite(GradientScope& s) {
  const Value flow = Op("Identity", {s.dy()});
  if (s.builder().ok()) s.graph().AddControlInput(flow.output().node, s.node());
  return flow;
}

NewAttrs TypeOf(Value value) { return {{"dtype", attr::Type(value.dtype())}}; }

// Inputs: handle, index, flow.
void ReadGradient(GradientScope& s) {
  const GradientArray g = ArrayOfGradients(s, s.x(2));
  s.Set(2, Op("TensorArrayWriteV3", {g.handle, s.x(1), s.dy(), g.flow}));
}

// Inputs: handle, index, value, flow.
void WriteGradient(GradientScope& s) {
  const Value flow = FlowBehindWrite(s);
  const GradientArray g = ArrayOfGradients(s, flow);
  s.Set(2, Op("TensorArrayReadV3", {g.handle, s.x(1), g.flow}, TypeOf(s.x(2))));
  s.Set(3, flow);
}

// Inputs: handle, indices, flow.
void GatherGradientOfArray(GradientScope& s) {
  const GradientArray g = ArrayOfGradients(s, s.x(2));
  s.Set(2, Op("TensorArrayScatterV3", {g.handle, s.x(1), s.dy(), g.flow}));
}

// Inputs: handle, indices, value, flow.
void ScatterGradient(GradientScope& s) {
  const Value flow = FlowBehindWrite(s);
  const GradientArray g = ArrayOfGradients(s, flow);
  s.Set(2, Op("TensorArrayGatherV3", {g.handle, s.x(1), g.flow}, TypeOf(s.x(2))));
  s.Set(3, flow);
}

// Inputs: handle, flow. Outputs: value, lengths.
void ConcatGradientOfArray(GradientScope& s) {
  const GradientArray g = ArrayOfGradients(s, s.x(1));
  s.Set(1, Op("TensorArraySplitV3", {g.handle, s.dy(0), s.y(1), g.flow}));
}

// Inputs: handle, value, lengths, flow.
void SplitGradientOfArray(GradientScope& s) {
  const Value flow = FlowBehindWrite(s);
  const GradientArray g = ArrayOfGradients(s, flow);
  s.Set(1, Op("TensorArrayConcatV3", {g.handle, g.flow}, TypeOf(s.x(1))));
  s.Set(3, flow);
}

constexpr GradientRow kTensorArrays[] = {
    {"TensorArrayCloseV3", nullptr},
    {"TensorArrayConcatV3", ConcatGradientOfArray},
    {"TensorArrayGatherV3", GatherGradientOfArray},
    {"TensorArrayGradV3", [](GradientScope& s) { s.Pass(1, 1); }},
    {"TensorArrayGradWithShape", nullptr},
    {"TensorArrayReadV3", ReadGradient},
    {"TensorArrayScatterV3", ScatterGradient},
    {"TensorArraySizeV3", nullptr},
    {"TensorArraySplitV3", SplitGradientOfArray},
    {"TensorArrayV3", nullptr},
    {"TensorArrayWriteV3", WriteGradient},
};

}  // namespace

absl::Span<const GradientRow> TensorArrays() { return kTensorArrays; }

}  // namespace tenon::gradients
