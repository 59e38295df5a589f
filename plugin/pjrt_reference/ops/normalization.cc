// Batch normalization, computed in double.
#include <cmath>

#include "checks.h"
#include "families.h"
#include "strided.h"

namespace pjref {
namespace {

void CheckOperands(const Op& op, size_t vectors) {
  const Type& type = op.operand_types[0];
  CheckKind(op, type, kFloats);
  const int64_t axis = op.Integer("feature_index", -1);
  CheckAxes(op, "feature_index", {axis}, type.rank());
  for (size_t i = 1; i <= vectors; ++i) {
    CheckThat(op, op.operand_types[i] == Type({type.element, {type.dims[axis]}}),
              "operand #" + std::to_string(i) + " '" + ToString(op.operand_types[i]) +
                  "' does not have an element for each feature");
  }
  const Attribute* epsilon = op.Find("epsilon");
  CheckThat(op, epsilon && epsilon->kind == Attribute::Kind::kFloat,
            "requires attribute 'epsilon'");
}

Type VectorOf(const Op& op) {
  return {op.operand_types[0].element, {op.operand_types[0].dims[op.Integer("feature_index", 0)]}};
}

void CheckInference(const Op& op) {
  CheckCounts(op, 5, 1);
  CheckOperands(op, 4);
  CheckResult(op, 0, op.operand_types[0]);
}

void CheckTraining(const Op& op) {
  CheckCounts(op, 3, 3);
  CheckOperands(op, 2);
  CheckResult(op, 0, op.operand_types[0]);
  CheckResult(op, 1, VectorOf(op));
  CheckResult(op, 2, VectorOf(op));
}

void CheckGrad(const Op& op) {
  CheckCounts(op, 5, 3);
  CheckOperands(op, 3);
  CheckThat(op, op.operand_types[4] == op.operand_types[0],
            "grad_output must have the operand's type");
  CheckResult(op, 0, op.operand_types[0]);
  CheckResult(op, 1, VectorOf(op));
  CheckResult(op, 2, VectorOf(op));
}

// The feature of each element, by its number: elements of a feature come in runs.
struct Features {
  int64_t count, inner;
  explicit Features(const Op& op) : count(VectorOf(op).dims[0]), inner(1) {
    const Dims& dims = op.operand_types[0].dims;
    for (auto i = static_cast<size_t>(op.Integer("feature_index", 0)) + 1; i < dims.size(); ++i)
      inner *= dims[i];
  }
  size_t operator()(size_t element) const {
    return static_cast<size_t>(static_cast<int64_t>(element) / inner % count);
  }
};

Array Stored(const std::vector<double>& values, const Type& type) {
  Array out(type);
  Store(values.data(), 0, out.count(), out);
  return out;
}

// Sums of `values` over the elements of each feature.
std::vector<double> Sums(const std::vector<double>& values, const Features& features) {
  std::vector<double> sums(static_cast<size_t>(features.count), 0);
  for (size_t i = 0; i < values.size(); ++i) sums[features(i)] += values[i];
  return sums;
}

void Inference(Frame* frame, const Op& op) {
  std::vector<double> x = LoadAll<double>(frame->In(op, 0));
  const std::vector<double> scale = LoadAll<double>(frame->In(op, 1)),
                            offset = LoadAll<double>(frame->In(op, 2)),
                            mean = LoadAll<double>(frame->In(op, 3)),
                            variance = LoadAll<double>(frame->In(op, 4));
  const Features features(op);
  const double epsilon = op.Find("epsilon")->number;
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t f = features(i);
    x[i] = (x[i] - mean[f]) / std::sqrt(variance[f] + epsilon) * scale[f] + offset[f];
  }
  frame->Out(op, Stored(x, op.result_types[0]));
}

void Training(Frame* frame, const Op& op) {
  std::vector<double> x = LoadAll<double>(frame->In(op, 0));
  const std::vector<double> scale = LoadAll<double>(frame->In(op, 1)),
                            offset = LoadAll<double>(frame->In(op, 2));
  const Features features(op);
  const double epsilon = op.Find("epsilon")->number;
  const double per =
      features.count == 0 ? 0 : static_cast<double>(x.size()) / static_cast<double>(features.count);
  std::vector<double> mean = Sums(x, features);
  for (double& value : mean) value /= per;
  std::vector<double> squares(x.size());
  for (size_t i = 0; i < x.size(); ++i)
    squares[i] = (x[i] - mean[features(i)]) * (x[i] - mean[features(i)]);
  std::vector<double> variance = Sums(squares, features);
  for (double& value : variance) value /= per;
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t f = features(i);
    x[i] = (x[i] - mean[f]) / std::sqrt(variance[f] + epsilon) * scale[f] + offset[f];
  }
  frame->Out(op, 0, Stored(x, op.result_types[0]));
  frame->Out(op, 1, Stored(mean, op.result_types[1]));
  frame->Out(op, 2, Stored(variance, op.result_types[2]));
}

void Grad(Frame* frame, const Op& op) {
  const std::vector<double> x = LoadAll<double>(frame->In(op, 0)),
                            scale = LoadAll<double>(frame->In(op, 1)),
                            mean = LoadAll<double>(frame->In(op, 2)),
                            variance = LoadAll<double>(frame->In(op, 3)),
                            grad = LoadAll<double>(frame->In(op, 4));
  const Features features(op);
  const double epsilon = op.Find("epsilon")->number;
  const double per =
      features.count == 0 ? 0 : static_cast<double>(x.size()) / static_cast<double>(features.count);
  std::vector<double> normal(x.size()), weighted(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t f = features(i);
    normal[i] = (x[i] - mean[f]) / std::sqrt(variance[f] + epsilon);
    weighted[i] = grad[i] * normal[i];
  }
  const std::vector<double> grad_scale = Sums(weighted, features),
                            grad_offset = Sums(grad, features);
  std::vector<double> out(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t f = features(i);
    out[i] = scale[f] / std::sqrt(variance[f] + epsilon) *
             (grad[i] - grad_offset[f] / per - normal[i] * grad_scale[f] / per);
  }
  frame->Out(op, 0, Stored(out, op.result_types[0]));
  frame->Out(op, 1, Stored(grad_scale, op.result_types[1]));
  frame->Out(op, 2, Stored(grad_offset, op.result_types[2]));
}

}  // namespace

const std::vector<OpRow>& NormalizationRows() {
  static const std::vector<OpRow> kRows = {
      {"stablehlo.batch_norm_inference", &CheckInference, &Inference, nullptr},
      {"stablehlo.batch_norm_training", &CheckTraining, &Training, nullptr},
      {"stablehlo.batch_norm_grad", &CheckGrad, &Grad, nullptr},
  };
  return kRows;
}

}  // namespace pjref
