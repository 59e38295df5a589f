// CTCLoss, connectionist temporal classification: minus the logarithm of the probability of the
// labels, summed over all their alignments with the inputs, and its gradient by the inputs. After
// Alex Graves, "Supervised Sequence Labelling with Recurrent Neural Networks" (2012), chapter 7.
#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/tiles.h"
#include "plugin/cpu/nn/ctc/ctc_probability.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

enum Input { kInputs, kIndices, kValues, kLengths };

struct CtcLoss {
  DataType type;
  int64_t time, batch, classes, labels;
  bool collapse, merge_repeated, ignore_longer;

  int32_t blank() const { return static_cast<int32_t>(classes - 1); }
};

// The entries [first[b], first[b + 1]) of the sparse labels belong to batch element b.
absl::StatusOr<std::vector<int64_t>> GroupLabels(const CtcLoss& s, const int64_t* indices) {
  std::vector<int64_t> first(s.batch + 1, 0);
  for (int64_t i = 0; i < s.labels; ++i) {
    const int64_t row = indices[2 * i], column = indices[2 * i + 1];
    if (row < 0 || row >= s.batch || column < 0) {
      return absl::InvalidArgumentError(absl::StrCat("labels_indices[", i, "] = [", row, ",",
                                                     column, "] is outside of the batch of ",
                                                     s.batch));
    }
    if (i > 0) {
      const int64_t row_before = indices[2 * i - 2], column_before = indices[2 * i - 1];
      if (row < row_before || (row == row_before && column <= column_before)) {
        return absl::InvalidArgumentError(absl::StrCat("labels_indices[", i, "] = [", row, ",",
                                                       column, "] is repeated or out of order"));
      }
    }
    // Counts first, starts after the sum below.
    ++first[row + 1];
  }
  for (int64_t b = 0; b < s.batch; ++b) first[b + 1] += first[b];
  return first;
}

// One element of the batch: logarithms of probabilities by time and class, by time and state, by
// class.
struct Sequence {
  int64_t batch_index = 0, length = 0;
  const int32_t* labels = nullptr;
  int64_t label_count = 0;
  int64_t states = 0;  // of `path`: labels with a blank before, between and behind
  int32_t* path = nullptr;
  double *log_y = nullptr, *alpha = nullptr, *beta = nullptr, *by_class = nullptr;
};

// Null labels (the blank or above) may only follow the others.
absl::Status MakePath(const CtcLoss& s, Sequence& q) {
  q.states = 0;
  q.path[q.states++] = s.blank();
  bool ended = false;
  for (int64_t i = 0; i < q.label_count; ++i) {
    const int32_t label = q.labels[i];
    if (i > 0 && s.collapse && label == q.labels[i - 1]) continue;
    if (label < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("label ", label, " of batch element ", q.batch_index, " is negative"));
    }
    if (label >= s.blank()) {
      ended = true;
      continue;
    }
    if (ended) {
      return absl::InvalidArgumentError(
          absl::StrCat("label ", label, " of batch element ", q.batch_index,
                       " follows a null label, that is one of at least ", s.blank()));
    }
    q.path[q.states++] = label;
    q.path[q.states++] = s.blank();
  }
  return absl::OkStatus();
}

// Whether state u may be entered from two states before (backward: left to two states behind).
bool MaySkip(const CtcLoss& s, int32_t label, int32_t other) {
  return label != s.blank() && !(s.merge_repeated && label == other);
}
bool MayStay(const CtcLoss& s, int32_t label) { return s.merge_repeated || label == s.blank(); }

// alpha[t, u]: the probability of all beginnings that are in state u at time t.
void ComputeAlpha(const CtcLoss& s, const Sequence& q) {
  const int64_t n = q.states;
  const auto log_y = [&](int64_t t, int64_t u) { return q.log_y[t * s.classes + q.path[u]]; };
  std::fill(q.alpha, q.alpha + q.length * n, kNever);
  for (int64_t u = 0; u < std::min<int64_t>(2, n); ++u) q.alpha[u] = log_y(0, u);
  for (int64_t t = 1; t < q.length; ++t) {
    const double* const before = q.alpha + (t - 1) * n;
    // After t + 1 steps no alignment is beyond state 2 t + 1: a step advances by two at most.
    for (int64_t u = 0; u < std::min(n, 2 * (t + 1)); ++u) {
      double sum = MayStay(s, q.path[u]) ? before[u] : kNever;
      if (u > 0) sum = AddLogs(sum, before[u - 1]);
      if (u > 1 && MaySkip(s, q.path[u], q.path[u - 2])) sum = AddLogs(sum, before[u - 2]);
      q.alpha[t * n + u] = sum + log_y(t, u);
    }
  }
}

// beta[t, u]: the probability of all ends that follow state u at time t.
void ComputeBeta(const CtcLoss& s, const Sequence& q) {
  const int64_t n = q.states;
  std::fill(q.beta, q.beta + q.length * n, kNever);
  for (int64_t u = std::max<int64_t>(0, n - 2); u < n; ++u) q.beta[(q.length - 1) * n + u] = 0;
  for (int64_t t = q.length - 2; t >= 0; --t) {
    const double* const behind = q.beta + (t + 1) * n;
    const auto next = [&](int64_t u) {
      return behind[u] + q.log_y[(t + 1) * s.classes + q.path[u]];
    };
    // States from which the end is still in reach.
    for (int64_t u = std::max<int64_t>(0, n - 2 * (q.length - t)); u < n; ++u) {
      double sum = MayStay(s, q.path[u]) ? next(u) : kNever;
      if (u + 1 < n) sum = AddLogs(sum, next(u + 1));
      if (u + 2 < n && MaySkip(s, q.path[u], q.path[u + 2])) sum = AddLogs(sum, next(u + 2));
      q.beta[t * n + u] = sum;
    }
  }
}

// Logarithms of the softmax of each time's inputs.
template <typename Element>
void ComputeLogY(const CtcLoss& s, const void* inputs, const Sequence& q, Element element) {
  for (int64_t t = 0; t < q.length; ++t) {
    double* const row = q.log_y + t * s.classes;
    const int64_t at = (t * s.batch + q.batch_index) * s.classes;
    double max = kNever, sum = 0;
    for (int64_t c = 0; c < s.classes; ++c) {
      row[c] = element.template As<double>(inputs, at + c);
      max = std::max(max, row[c]);
    }
    for (int64_t c = 0; c < s.classes; ++c) sum += std::exp(row[c] - max);
    const double norm = max + std::log(sum);
    for (int64_t c = 0; c < s.classes; ++c) row[c] -= norm;
  }
}

// Without any alignment the gradient is the probabilities, as in TensorFlow, and NaN everywhere if
// the loss is.
template <typename Element>
void StoreGradient(const CtcLoss& s, const Sequence& q, double log_p, void* gradient,
                   Element element) {
  for (int64_t t = 0; t < q.length; ++t) {
    std::fill(q.by_class, q.by_class + s.classes, kNever);
    for (int64_t u = 0; u < q.states && log_p != kNever; ++u) {
      double& sum = q.by_class[q.path[u]];
      sum = AddLogs(sum, q.alpha[t * q.states + u] + q.beta[t * q.states + u]);
    }
    const int64_t at = (t * s.batch + q.batch_index) * s.classes;
    for (int64_t c = 0; c < s.classes; ++c) {
      const bool none = q.by_class[c] == kNever && !std::isnan(log_p);
      const double share = none ? 0 : std::exp(q.by_class[c] - log_p);
      element.Put(gradient, at + c, std::exp(q.log_y[t * s.classes + c]) - share);
    }
  }
}

// The memory of a sequence; RESOURCE_EXHAUSTED if there is none.
absl::StatusOr<Tensor> AllocateTables(const CtcLoss& s, Sequence& q) {
  // A blank before, between and behind the labels; fewer states if labels collapse.
  const int64_t most_states = 2 * q.label_count + 1, table = q.length * most_states;
  const int64_t doubles = q.length * s.classes + 2 * table + s.classes + most_states;
  TENON_ASSIGN_OR_RETURN(Tensor memory, Tensor::Allocate(DataType::kDouble, Shape({doubles})));
  q.log_y = memory.flat<double>();
  q.alpha = q.log_y + q.length * s.classes;
  q.beta = q.alpha + table;
  q.by_class = q.beta + table;
  q.path = reinterpret_cast<int32_t*>(q.by_class + s.classes);
  return memory;
}

template <typename Element>
absl::Status ComputeSequence(const CtcLoss& s, const StepArgs& args, Sequence q, Element element) {
  if (q.label_count == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("batch element ", q.batch_index, " has no labels"));
  }
  // Zeros stay where the element is left out and behind the end of its sequence.
  element.Put(args.out[0], q.batch_index, 0.0);
  for (int64_t t = 0; t < s.time; ++t) {
    const int64_t at = (t * s.batch + q.batch_index) * s.classes;
    for (int64_t c = 0; c < s.classes; ++c) element.Put(args.out[1], at + c, 0.0);
  }
  if (q.label_count > q.length) {
    if (s.ignore_longer) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("batch element ", q.batch_index, " has ", q.label_count, " labels but only ",
                     q.length, " steps; ignore_longer_outputs_than_inputs leaves it out"));
  }
  TENON_ASSIGN_OR_RETURN(const Tensor memory, AllocateTables(s, q));
  TENON_RETURN_IF_ERROR(MakePath(s, q));
  ComputeLogY(s, args.in[kInputs], q, element);
  ComputeAlpha(s, q);
  ComputeBeta(s, q);
  // The sum over all states is the same at every time; the first serves.
  double log_p = kNever;
  for (int64_t u = 0; u < q.states; ++u) log_p = AddLogs(log_p, q.alpha[u] + q.beta[u]);
  element.Put(args.out[0], q.batch_index, -log_p);
  StoreGradient(s, q, log_p, args.out[1], element);
  return absl::OkStatus();
}

absl::Status RunLoss(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const CtcLoss*>(state);
  const auto* const lengths = static_cast<const int32_t*>(args.in[kLengths]);
  const auto* const values = static_cast<const int32_t*>(args.in[kValues]);
  for (int64_t b = 0; b < s.batch; ++b) {
    if (lengths[b] >= 0 && lengths[b] <= s.time) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("sequence_length[", b, "] = ", lengths[b], " is not in [0, ", s.time, "]"));
  }
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> first,
                         GroupLabels(s, static_cast<const int64_t*>(args.in[kIndices])));
  return ForEachTile(args, s.batch, 0, [&](int64_t b, char*) {
    const Sequence q{.batch_index = b,
                     .length = lengths[b],
                     .labels = values + first[b],
                     .label_count = first[b + 1] - first[b]};
    absl::Status status;
    VisitFloat(s.type, [&](auto element) { status = ComputeSequence(s, args, q, element); });
    return status;
  });
}

absl::Status PrepareLoss(Prepare& p) {
  const Shape& inputs = p.input_shape(kInputs);
  const Shape& indices = p.input_shape(kIndices);
  if (inputs.rank() != 3)
    return p.Invalid(absl::StrCat("the inputs must have rank 3, not ", inputs.ToString()));
  if (inputs.num_elements() == 0)
    return p.Invalid(absl::StrCat("the inputs must not be empty, as ", inputs.ToString()));
  if (indices.rank() != 2 || indices.dim(1) != 2) {
    return p.Invalid(
        absl::StrCat("labels_indices must have the shape [n,2], not ", indices.ToString()));
  }
  TENON_RETURN_IF_ERROR(CheckInputShape(p, kValues, Shape({indices.dim(0)})));
  TENON_RETURN_IF_ERROR(CheckInputShape(p, kLengths, Shape({inputs.dim(1)})));
  auto s = std::make_shared<CtcLoss>();
  s->type = p.input_type(kInputs);
  s->time = inputs.dim(0);
  s->batch = inputs.dim(1);
  s->classes = inputs.dim(2);
  s->labels = indices.dim(0);
  TENON_ASSIGN_OR_RETURN(s->collapse, p.AttrBool("preprocess_collapse_repeated"));
  TENON_ASSIGN_OR_RETURN(s->merge_repeated, p.AttrBool("ctc_merge_repeated"));
  TENON_ASSIGN_OR_RETURN(s->ignore_longer, p.AttrBool("ignore_longer_outputs_than_inputs"));
  p.set_output_shape(0, Shape({s->batch}));
  p.set_output_shape(1, inputs);
  p.set_run(&RunLoss, std::move(s));
  return absl::OkStatus();
}

const CpuKernelSpec kCtcLossKernels[] = {
    {"CTCLoss", {{"T", TypeBits(DataType::kFloat, DataType::kDouble)}}, &PrepareLoss},
};

}  // namespace

absl::Span<const CpuKernelSpec> CtcLossKernels() { return kCtcLossKernels; }

}  // namespace tenon::cpu
