// Variables. The gradient of a variable flows to its handle: what flows there has the type and the
// shape of the variable.
#include "graph/gradients/families.h"
#include "graph/gradients/gradient_scope.h"

namespace tenon::gradients {
namespace {

void ReadGradient(GradientScope& s) { s.Pass(0, 0); }

// Rows of the variable: the gradient has only these rows.
void ResourceGatherGradient(GradientScope& s) {
  if (s.Int("batch_dims") != 0) {
    s.Unimplemented("batch_dims other than 0");
    return;
  }
  GraphBuilder& b = s.builder();
  const Value indices = s.x(1), shape = ShapeOfVariable(s.x(0));
  const Value rows =
      Reshape(s.dy(), Concat({ExpandDims(SizeOf(indices), 0), Part(shape, 1, -1)}, 0));
  s.Set(0, Slices{rows, Reshape(indices, b.Ints({-1})), shape});
}

void ResourceGatherNdGradient(GradientScope& s) {
  const Value indices = s.x(1), shape = ShapeOfVariable(s.x(0), indices.dtype());
  if (indices.rank() == 2 && indices.shape().dim(1) == 1) {
    s.Set(0, Slices{s.dy(), Reshape(indices, s.builder().Ints({-1})), shape});
    return;
  }
  s.Set(0, Op("ScatterNd", {indices, s.dy(), shape}));
}

constexpr GradientRow kVariables[] = {
    {"Assign", nullptr},
    {"AssignAdd", nullptr},
    {"AssignSub", nullptr},
    {"ReadVariableOp", ReadGradient},
    {"ResourceGather", ResourceGatherGradient},
    {"ResourceGatherNd", ResourceGatherNdGradient},
    {"ScatterAdd", nullptr},
    {"ScatterDiv", nullptr},
    {"ScatterMul", nullptr},
    {"ScatterNdAdd", nullptr},
    {"ScatterNdSub", nullptr},
    {"ScatterNdUpdate", nullptr},
    {"ScatterSub", nullptr},
    {"TemporaryVariable", nullptr},
    {"VarHandleOp", nullptr},
    {"VarIsInitializedOp", nullptr},
    {"Variable", nullptr},
    {"VariableShape", nullptr},
    {"VariableV2", nullptr},
};

}  // namespace

absl::Span<const GradientRow> Variables() { return kVariables; }

}  // namespace tenon::gradients
