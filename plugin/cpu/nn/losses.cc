// Losses and what goes with them: L2Loss, cross entropies over softmax, InTopK.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct L2Loss {
  DataType type;
  int64_t n;
};

// Blocks of a fixed size are summed each on its own, in double, then the sums: rounding errors grow
// by kBlock + n / kBlock, not by n.
template <typename Element>
double HalfSquareSum(const void* x, int64_t n, Element element) {
  constexpr int64_t kBlock = 4096;
  double total = 0;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    double sum = 0;
    for (int64_t i = begin; i < std::min(begin + kBlock, n); ++i) {
      const double v = element.template As<double>(x, i);
      sum += v * v;
    }
    total += sum;
  }
  return total / 2;
}

absl::Status RunL2Loss(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const L2Loss*>(state);
  VisitFloat(s.type, [&](auto element) {
    element.Put(args.out[0], 0, HalfSquareSum(args.in[0], s.n, element));
  });
  return absl::OkStatus();
}

absl::Status PrepareL2Loss(Prepare& p) {
  p.set_output_shape(0, Shape({}));
  p.set_run(&RunL2Loss,
            std::make_shared<L2Loss>(L2Loss{p.input_type(0), p.input_shape(0).num_elements()}));
  return absl::OkStatus();
}

// Strides of a scalar, vector or matrix that is broadcast to a matrix: 0 along dimensions of 1.
struct Steps {
  int64_t row, column;
};
Steps StepsOf(const Shape& shape) {
  const int rank = shape.rank();
  const int64_t rows = rank < 2 ? 1 : shape.dim(0), classes = rank < 1 ? 1 : shape.dim(rank - 1);
  return {rows == 1 ? 0 : classes, classes == 1 ? 0 : 1};
}

struct CrossEntropy {
  DataType type, label_type;
  int64_t rows, classes;
  Steps feature, label;  // the labels' if they are dense
};

// Maximum and logarithm of the sum of exp(x - maximum) of one row.
struct RowScale {
  double max, log_sum;
};
// Without the maximum, exp of a large logit would overflow. With it the greatest term is 1, so the
// sum of finite logits is at least 1.
template <typename Element>
RowScale ScaleOfRow(const CrossEntropy& s, const void* features, int64_t row, Element element) {
  const auto at = [&](int64_t c) {
    return element.template As<double>(features, row * s.feature.row + c * s.feature.column);
  };
  double max = -std::numeric_limits<double>::infinity(), sum = 0;
  for (int64_t c = 0; c < s.classes; ++c) max = std::max(max, at(c));
  for (int64_t c = 0; c < s.classes; ++c) sum += std::exp(at(c) - max);
  return {max, std::log(sum)};
}

absl::Status RunCrossEntropy(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const CrossEntropy*>(state);
  args.workers->ParallelFor(s.rows, GrainFor(s.classes * 64), [&](int64_t begin, int64_t end) {
    VisitFloat(s.type, [&](auto element) {
      for (int64_t r = begin; r < end; ++r) {
        const RowScale scale = ScaleOfRow(s, args.in[0], r, element);
        double loss = 0;
        for (int64_t c = 0; c < s.classes; ++c) {
          const double x =
              element.template As<double>(args.in[0], r * s.feature.row + c * s.feature.column) -
              scale.max;
          const double label =
              element.template As<double>(args.in[1], r * s.label.row + c * s.label.column);
          // A class of label 0 adds nothing even where its logit is -inf: 0 * inf would be NaN.
          if (label != 0) loss += label * (scale.log_sum - x);
          // The gradient by the logits: softmax less label.
          element.Put(args.out[1], r * s.classes + c, std::exp(x - scale.log_sum) - label);
        }
        element.Put(args.out[0], r, loss);
      }
    });
  });
  return absl::OkStatus();
}

absl::Status PrepareCrossEntropy(Prepare& p) {
  const Shape& features = p.input_shape(0);
  const Shape& labels = p.input_shape(1);
  const std::optional<Dims> size = BroadcastDims(features.dims(), labels.dims());
  if (!size.has_value() || size->size() != 2) {
    return p.Invalid(absl::StrCat("logits and labels must broadcast to one matrix, not ",
                                  features.ToString(), " and ", labels.ToString()));
  }
  auto s = std::make_shared<CrossEntropy>();
  s->type = p.input_type(0);
  s->rows = (*size)[0];
  s->classes = (*size)[1];
  s->feature = StepsOf(features);
  s->label = StepsOf(labels);
  p.set_output_shape(0, Shape({s->rows}));
  p.set_output_shape(1, Shape({s->rows, s->classes}));
  if (s->rows == 0) return absl::OkStatus();
  if (s->classes == 0) return p.Invalid("the logits must have at least one class");
  p.set_run(&RunCrossEntropy, std::move(s));
  return absl::OkStatus();
}

absl::Status RunSparseCrossEntropy(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const CrossEntropy*>(state);
  const bool is64 = s.label_type == DataType::kInt64;
  for (int64_t r = 0; r < s.rows; ++r) {
    const int64_t label = LoadIndex(args.in[1], is64, r);
    // All labels are checked before any output is written and before threads start.
    if (label < 0 || label >= s.classes) {
      return absl::InvalidArgumentError(absl::StrCat(
          "label ", label, " of row ", r, " is outside the valid range [0, ", s.classes, ")"));
    }
  }
  args.workers->ParallelFor(s.rows, GrainFor(s.classes * 64), [&](int64_t begin, int64_t end) {
    VisitFloat(s.type, [&](auto element) {
      for (int64_t r = begin; r < end; ++r) {
        const RowScale scale = ScaleOfRow(s, args.in[0], r, element);
        const int64_t label = LoadIndex(args.in[1], is64, r);
        for (int64_t c = 0; c < s.classes; ++c) {
          const double x = element.template As<double>(args.in[0], r * s.classes + c) - scale.max -
                           scale.log_sum;
          if (c == label) element.Put(args.out[0], r, -x);
          element.Put(args.out[1], r * s.classes + c, std::exp(x) - (c == label ? 1 : 0));
        }
      }
    });
  });
  return absl::OkStatus();
}

absl::Status PrepareSparseCrossEntropy(Prepare& p) {
  const Shape& features = p.input_shape(0);
  if (features.rank() != 2)
    return p.Invalid(absl::StrCat("the logits must be a matrix, not ", features.ToString()));
  if (!(p.input_shape(1) == Shape({features.dim(0)}))) {
    return p.Invalid(absl::StrCat("the labels must have the shape [", features.dim(0), "], not ",
                                  p.input_shape(1).ToString()));
  }
  if (features.dim(1) == 0) return p.Invalid("the logits must have at least one class");
  auto s = std::make_shared<CrossEntropy>();
  s->type = p.input_type(0);
  s->label_type = p.input_type(1);
  s->rows = features.dim(0);
  s->classes = features.dim(1);
  s->feature = {s->classes, 1};
  p.set_output_shape(0, Shape({s->rows}));
  p.set_output_shape(1, features);
  p.set_run(&RunSparseCrossEntropy, std::move(s));
  return absl::OkStatus();
}

struct InTopK {
  int64_t rows, classes, k;
  bool k_is_input, k_is64, targets64;
};

// Whether fewer than k classes of the row are more probable than the target. False where that
// cannot be told.
bool TargetInTop(const float* row, int64_t classes, int64_t target, int64_t k) {
  if (target < 0 || target >= classes || !std::isfinite(row[target])) return false;
  int64_t above = 0;
  for (int64_t c = 0; c < classes; ++c) {
    if (!std::isfinite(row[c])) return false;
    above += row[c] > row[target];
  }
  return above < k;
}

absl::Status RunInTopK(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const InTopK*>(state);
  const int64_t k = s.k_is_input ? LoadIndex(args.in[2], s.k_is64, 0) : s.k;
  const auto* predictions = static_cast<const float*>(args.in[0]);
  auto* out = static_cast<bool*>(args.out[0]);
  for (int64_t r = 0; r < s.rows; ++r) {
    out[r] = TargetInTop(predictions + r * s.classes, s.classes,
                         LoadIndex(args.in[1], s.targets64, r), k);
  }
  return absl::OkStatus();
}

absl::Status PrepareInTopK(Prepare& p) {
  const Shape& predictions = p.input_shape(0);
  const Shape& targets = p.input_shape(1);
  if (predictions.rank() != 2)
    return p.Invalid(absl::StrCat("predictions must be a matrix, not ", predictions.ToString()));
  if (targets.rank() != 1)
    return p.Invalid(absl::StrCat("targets must be a vector, not ", targets.ToString()));
  if (targets.dim(0) != predictions.dim(0)) {
    return p.Invalid(absl::StrCat("there are ", predictions.dim(0), " rows of predictions and ",
                                  targets.dim(0), " targets"));
  }
  auto s = std::make_shared<InTopK>();
  s->rows = predictions.dim(0);
  s->classes = predictions.dim(1);
  s->targets64 = p.input_type(1) == DataType::kInt64;
  s->k_is_input = p.num_inputs() == 3;
  // InTopKV2 has k as an input, InTopK as an attribute.
  if (s->k_is_input) {
    if (p.input_shape(2).rank() != 0)
      return p.Invalid(absl::StrCat("k must be a scalar, not ", p.input_shape(2).ToString()));
    s->k_is64 = p.input_type(2) == DataType::kInt64;
  } else {
    TENON_ASSIGN_OR_RETURN(s->k, p.AttrInt("k"));
  }
  p.set_output_shape(0, targets);
  p.set_run(&RunInTopK, std::move(s));
  return absl::OkStatus();
}

const CpuKernelSpec kLossKernels[] = {
    {"L2Loss", {{"T", kFloatTypes}}, &PrepareL2Loss},
    {"SoftmaxCrossEntropyWithLogits", {{"T", kFloatTypes}}, &PrepareCrossEntropy},
    {"SparseSoftmaxCrossEntropyWithLogits",
     {{"T", kFloatTypes}, {"Tlabels", kIndexTypes}},
     &PrepareSparseCrossEntropy},
    {"InTopK", {{"T", kIndexTypes}}, &PrepareInTopK},
    {"InTopKV2", {{"T", kIndexTypes}}, &PrepareInTopK},
};

}  // namespace

absl::Span<const CpuKernelSpec> LossKernels() { return kLossKernels; }

}  // namespace tenon::cpu
