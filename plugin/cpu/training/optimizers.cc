// Optimizers' updates: one driver for all rules, for variables by reference and resources, for
// gradients of the whole variable and of some of its rows.
#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/whole_tensor.h"
#include "plugin/cpu/elementwise/loops/element_op.h"
#include "plugin/cpu/training/optimizer_rules.h"
#include "plugin/cpu/variables/writable.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"
#include "plugin/kernels/variable.h"

namespace tenon::cpu {
namespace {

// A variable and up to three slots.
constexpr int kMostVariables = 4;

struct ApplyState : NodeFacts {
  explicit ApplyState(const Prepare& p) : NodeFacts(p) {}
  const OptimizerRule* rule = nullptr;
  DataType type = DataType::kInvalid;
  std::vector<int> variables;                     // inputs
  std::vector<std::pair<HyperName, int>> hypers;  // and their inputs
  int gradient = -1;
  int indices = -1;  // of the rows that the gradient is of; -1: of all
  bool use_nesterov = false, update_slots = true, multiply_linear_by_lr = false;
};

// Locks some variables, which may be the same ones: each once, in the order of their addresses, so
// that two updates of the same variables cannot wait for each other.
class LockAll {
 public:
  explicit LockAll(std::vector<Variable*> variables) : variables_(std::move(variables)) {
    std::sort(variables_.begin(), variables_.end());
    variables_.erase(std::unique(variables_.begin(), variables_.end()), variables_.end());
    for (Variable* v : variables_) v->Lock();
  }
  ~LockAll() {
    for (Variable* v : variables_) v->Unlock();
  }
  LockAll(const LockAll&) = delete;
  LockAll& operator=(const LockAll&) = delete;

 private:
  std::vector<Variable*> variables_;
};

template <typename C>
C ScalarOf(const Tensor& t) {
  if constexpr (kIsComplex<C>) {
    return *t.flat<C>();
  } else {
    C value = 0;
    VisitFloat(t.dtype(), [&](auto element) { value = element.template As<C>(t.data(), 0); });
    return value;
  }
}

template <typename C>
absl::StatusOr<Hyper<C>> ReadHyper(const ApplyState& s, const StepArgs& args) {
  Hyper<C> h;
  h.use_nesterov = s.use_nesterov;
  h.update_slots = s.update_slots;
  h.multiply_linear_by_lr = s.multiply_linear_by_lr;
  for (const auto& [name, input] : s.hypers) {
    const Tensor value = args.run_state->Input(input);
    if (value.shape().rank() != 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "'", NameOf(name), "' must be a scalar, its shape is ", value.shape().ToString()));
    }
    C& to = h.values[static_cast<int>(name)];
    to = value.dtype() == DataType::kInt64 ? C(static_cast<double>(value.IntAt(0)))
                                           : ScalarOf<C>(value);
    if constexpr (!kIsComplex<C>) {
      const bool rate = name == HyperName::kLr, power = name == HyperName::kLrPower;
      const bool fits = rate && !s.multiply_linear_by_lr ? to > 0 : power ? to <= 0 : to >= 0;
      if (s.rule->checks_hyper && !fits) {
        return absl::InvalidArgumentError(absl::StrCat("'", NameOf(name), "' cannot be ", to));
      }
    }
  }
  return h;
}

// Elements [at, at + n) of the variables, by the gradient from `from` on.
template <typename C>
void ApplyTo(const ApplyState& s, RuleFn<C> rule, const Hyper<C>& h,
             absl::Span<const Tensor> values, const Tensor& gradient, int64_t at, int64_t from,
             int64_t n) {
  C* v[kMostVariables];
  if (!HasType(kHalfTypes, s.type)) {
    for (size_t k = 0; k < values.size(); ++k) v[k] = values[k].flat<C>() + at;
    return rule(h, v, gradient.flat<C>() + from, n);
  }
  // Half precision is computed in single, a piece at a time.
  constexpr int64_t kPiece = 256;
  C wide[kMostVariables + 1][kPiece];
  const ElementLoop widen = FindCastLoop(s.type, DataType::kFloat);
  const ElementLoop narrow = FindCastLoop(DataType::kFloat, s.type);
  for (int64_t i = 0; i < n; i += kPiece) {
    const int64_t count = std::min(kPiece, n - i);
    const void* in[] = {gradient.flat<uint16_t>() + from + i};
    widen(in, wide[kMostVariables], count, 0);
    for (size_t k = 0; k < values.size(); ++k) {
      in[0] = values[k].flat<uint16_t>() + at + i;
      widen(in, wide[k], count, 0);
      v[k] = wide[k];
    }
    rule(h, v, wide[kMostVariables], count);
    for (size_t k = 0; k < values.size(); ++k) {
      in[0] = wide[k];
      narrow(in, values[k].flat<uint16_t>() + at + i, count, 0);
    }
  }
}

template <typename C>
absl::Status Apply(const ApplyState& s, RuleFn<C> rule, const StepArgs& args,
                   absl::Span<const Tensor> values, const Tensor& gradient) {
  TENON_ASSIGN_OR_RETURN(const Hyper<C> h, ReadHyper<C>(s, args));
  if (s.indices < 0) {
    const auto bytes = static_cast<int64_t>(DataTypeSize(s.type) * values.size());
    args.workers->ParallelFor(gradient.num_elements(), GrainFor(bytes),
                              [&](int64_t begin, int64_t end) {
                                ApplyTo(s, rule, h, values, gradient, begin, begin, end - begin);
                              });
    return absl::OkStatus();
  }
  const Tensor indices = args.run_state->Input(s.indices);
  const int64_t count = indices.num_elements();
  const int64_t row = count == 0 ? 0 : gradient.num_elements() / count;
  // In order and in one thread: indices may repeat, and later rows see what earlier ones have
  // changed.
  for (int64_t i = 0; i < count; ++i)
    ApplyTo(s, rule, h, values, gradient, indices.IntAt(i) * row, i * row, row);
  return absl::OkStatus();
}

// The gradient has the variable's shape, or that of the rows that the indices choose.
absl::Status CheckGradient(const ApplyState& s, const StepArgs& args, const Shape& variable,
                           const Shape& gradient) {
  Shape wanted = variable;
  if (s.indices >= 0) {
    const Tensor indices = args.run_state->Input(s.indices);
    if (variable.rank() < 1 || indices.shape().rank() != 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("indices ", indices.shape().ToString(), " into a variable of shape ",
                       variable.ToString(), ": they must be a vector of row numbers"));
    }
    for (int64_t i = 0; i < indices.num_elements(); ++i) {
      const int64_t at = indices.IntAt(i);
      if (at < 0 || at >= variable.dim(0)) {
        return absl::InvalidArgumentError(
            absl::StrCat("indices[", i, "] = ", at, " is not in [0, ", variable.dim(0), ")"));
      }
    }
    wanted.set_dim(0, indices.num_elements());
  }
  if (gradient == wanted) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the gradient has shape ", gradient.ToString(),
                                                 " where ", wanted.ToString(), " is wanted"));
}

absl::Status RunApply(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const ApplyState*>(state);
  std::vector<Variable*> variables;
  for (int i : s.variables) {
    TENON_ASSIGN_OR_RETURN(Variable * variable, InputAs<Variable>(args, i));
    variables.push_back(variable);
  }
  const Tensor gradient = args.run_state->Input(s.gradient);
  const LockAll lock(variables);
  std::vector<Tensor*> values;
  for (Variable* variable : variables) {
    TENON_ASSIGN_OR_RETURN(values.emplace_back(), variable->LockedValue());
    const Tensor& value = *values.back();
    if (!value.initialized()) return variable->NoValue(absl::StatusCode::kFailedPrecondition);
    if (value.dtype() != s.type || !(value.shape() == values[0]->shape())) {
      return absl::InvalidArgumentError(
          absl::StrCat("variable '", variable->name(), "' is ", DataTypeName(value.dtype()),
                       value.shape().ToString(), " where ", DataTypeName(s.type),
                       values[0]->shape().ToString(), " is wanted"));
    }
  }
  TENON_RETURN_IF_ERROR(CheckGradient(s, args, values[0]->shape(), gradient.shape()));
  for (Tensor* value : values) TENON_RETURN_IF_ERROR(MakeWritable(*value));
  std::vector<Tensor> writable;
  for (const Tensor* value : values) writable.push_back(*value);
  switch (s.type) {
    case DataType::kDouble:
      return Apply(s, s.rule->of_double, args, writable, gradient);
    case DataType::kComplex64:
      return Apply(s, s.rule->of_complex64, args, writable, gradient);
    case DataType::kComplex128:
      return Apply(s, s.rule->of_complex128, args, writable, gradient);
    default:
      return Apply(s, s.rule->of_float, args, writable, gradient);
  }
}

const OptimizerRule* FindRule(std::string_view op) {
  absl::ConsumePrefix(&op, "Resource");
  absl::ConsumePrefix(&op, "Sparse");
  absl::ConsumePrefix(&op, "Apply");
  for (const OptimizerRule& rule : OptimizerRules()) {
    if (rule.name == op) return &rule;
  }
  return nullptr;
}

// What each input is, its name in the op's signature says.
absl::Status SortInputs(const Prepare& p, ApplyState& s) {
  for (int i = 0; i < p.num_inputs(); ++i) {
    const std::string_view name = p.op().inputs[i].name;
    if (IsRef(p.input_type(i)) || p.input_type(i) == DataType::kResource) {
      s.variables.push_back(i);
    } else if (name == "grad" || name == "delta") {
      s.gradient = i;
    } else if (name == "indices") {
      s.indices = i;
    } else {
      int hyper = 0;
      while (hyper < static_cast<int>(HyperName::kCount) &&
             NameOf(static_cast<HyperName>(hyper)) != name) {
        ++hyper;
      }
      if (hyper == static_cast<int>(HyperName::kCount))
        return absl::InternalError(absl::StrCat("no rule knows the input '", name, "'"));
      s.hypers.emplace_back(static_cast<HyperName>(hyper), i);
    }
  }
  return absl::OkStatus();
}

absl::Status PrepareApply(Prepare& p) {
  auto s = std::make_shared<ApplyState>(p);
  s->rule = FindRule(p.op().name);
  TENON_RETURN_IF_ERROR(SortInputs(p, *s));
  TENON_ASSIGN_OR_RETURN(s->type, p.AttrType("T"));
  for (const auto& [name, flag] :
       {std::pair("use_nesterov", &s->use_nesterov), std::pair("update_slots", &s->update_slots),
        std::pair("multiply_linear_by_lr", &s->multiply_linear_by_lr)}) {
    if (p.op().FindAttr(name) == nullptr) continue;
    TENON_ASSIGN_OR_RETURN(*flag, p.AttrBool(name));
  }
  if (p.num_outputs() == 1) {
    p.set_output_shape(0, Shape());
    p.Alias(0, 0);
  }
  p.set_run(&RunApply, std::move(s));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> OptimizerKernels() {
  static constexpr const char* kOps[] = {"ApplyAdaMax",
                                         "ApplyAdadelta",
                                         "ApplyAdagrad",
                                         "ApplyAdagradDA",
                                         "ApplyAdagradV2",
                                         "ApplyAdam",
                                         "ApplyAddSign",
                                         "ApplyCenteredRMSProp",
                                         "ApplyFtrl",
                                         "ApplyFtrlV2",
                                         "ApplyGradientDescent",
                                         "ApplyMomentum",
                                         "ApplyPowerSign",
                                         "ApplyProximalAdagrad",
                                         "ApplyProximalGradientDescent",
                                         "ApplyRMSProp",
                                         "ResourceApplyAdaMax",
                                         "ResourceApplyAdadelta",
                                         "ResourceApplyAdagrad",
                                         "ResourceApplyAdagradDA",
                                         "ResourceApplyAdagradV2",
                                         "ResourceApplyAdam",
                                         "ResourceApplyAdamWithAmsgrad",
                                         "ResourceApplyAddSign",
                                         "ResourceApplyCenteredRMSProp",
                                         "ResourceApplyFtrl",
                                         "ResourceApplyFtrlV2",
                                         "ResourceApplyGradientDescent",
                                         "ResourceApplyKerasMomentum",
                                         "ResourceApplyMomentum",
                                         "ResourceApplyPowerSign",
                                         "ResourceApplyProximalAdagrad",
                                         "ResourceApplyProximalGradientDescent",
                                         "ResourceApplyRMSProp",
                                         "SparseApplyAdadelta",
                                         "SparseApplyAdagrad",
                                         "SparseApplyAdagradDA",
                                         "SparseApplyAdagradV2",
                                         "SparseApplyCenteredRMSProp",
                                         "SparseApplyFtrl",
                                         "SparseApplyFtrlV2",
                                         "SparseApplyMomentum",
                                         "SparseApplyProximalAdagrad",
                                         "SparseApplyProximalGradientDescent",
                                         "SparseApplyRMSProp",
                                         "ResourceSparseApplyAdadelta",
                                         "ResourceSparseApplyAdagrad",
                                         "ResourceSparseApplyAdagradDA",
                                         "ResourceSparseApplyAdagradV2",
                                         "ResourceSparseApplyCenteredRMSProp",
                                         "ResourceSparseApplyFtrl",
                                         "ResourceSparseApplyFtrlV2",
                                         "ResourceSparseApplyKerasMomentum",
                                         "ResourceSparseApplyMomentum",
                                         "ResourceSparseApplyProximalAdagrad",
                                         "ResourceSparseApplyProximalGradientDescent",
                                         "ResourceSparseApplyRMSProp"};
  static const auto* const specs = [] {
    auto* all = new std::vector<CpuKernelSpec>;
    for (const char* op : kOps) {
      const bool any_number = FindRule(op)->of_complex64 != nullptr;
      const uint64_t types = any_number ? kFloatTypes | kComplexTypes : kFloatTypes;
      all->push_back(WholeTensorKernel(op, "T", types, PrepareApply));
    }
    return all;
  }();
  return *specs;
}

}  // namespace tenon::cpu
