// Elementwise ops on strings: Equal, NotEqual, Add, Select. Select takes resources and variants
// too.
#include <array>
#include <optional>
#include <string>

#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/string_element.h"
#include "plugin/cpu/elementwise/loops/broadcast.h"
#include "plugin/cpu/elementwise/loops/element_copy.h"
#include "plugin/cpu/elementwise/select_shapes.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"
#include "tensorflow/c/tf_tstring.h"

namespace tenon::cpu {
namespace {

std::string_view View(const TF_TString& s) {
  return {TF_TString_GetDataPointer(&s), TF_TString_GetSize(&s)};
}
void Put(TF_TString* to, std::string_view value) { PutString(to, 0, value); }

struct StringState {
  BroadcastPlan plan;
  int operands = 2;
  ElementCopy copy{DataType::kString};

  // Where each operand's element for position i of the result stands.
  std::array<int64_t, kMaxOperands> Offsets(int64_t i) const {
    std::array<int64_t, kMaxOperands> offsets = {};
    for (int d = static_cast<int>(plan.size.size()) - 1; d >= 0; --d) {
      for (int k = 0; k < operands; ++k) offsets[k] += i % plan.size[d] * plan.stride[k][d];
      i /= plan.size[d];
    }
    return offsets;
  }
};

using Visit = void (*)(const StringState& s, const StepArgs& args, int64_t i,
                       const std::array<int64_t, kMaxOperands>& at);

const TF_TString& In(const StepArgs& args, int k, int64_t at) {
  return static_cast<const TF_TString*>(args.in[k])[at];
}

void VisitEqual(const StringState&, const StepArgs& args, int64_t i,
                const std::array<int64_t, kMaxOperands>& at) {
  static_cast<bool*>(args.out[0])[i] = View(In(args, 0, at[0])) == View(In(args, 1, at[1]));
}
void VisitNotEqual(const StringState&, const StepArgs& args, int64_t i,
                   const std::array<int64_t, kMaxOperands>& at) {
  static_cast<bool*>(args.out[0])[i] = View(In(args, 0, at[0])) != View(In(args, 1, at[1]));
}
void VisitAdd(const StringState&, const StepArgs& args, int64_t i,
              const std::array<int64_t, kMaxOperands>& at) {
  std::string joined(View(In(args, 0, at[0])));
  joined += View(In(args, 1, at[1]));
  Put(static_cast<TF_TString*>(args.out[0]) + i, joined);
}
void VisitSelect(const StringState& s, const StepArgs& args, int64_t i,
                 const std::array<int64_t, kMaxOperands>& at) {
  const int k = static_cast<const bool*>(args.in[0])[at[0]] ? 1 : 2;
  s.copy(args.in[k], at[k], args.out[0], i);
}

template <Visit kVisit>
absl::Status RunStrings(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const StringState*>(state);
  const int64_t n = s.plan.shape.num_elements();
  // Offsets from scratch for each element: a string costs more than the divisions.
  for (int64_t i = 0; i < n; ++i) kVisit(s, args, i, s.Offsets(i));
  return absl::OkStatus();
}

template <Visit kVisit>
absl::Status SetStrings(Prepare& p, absl::Span<const Shape> shapes) {
  std::optional<BroadcastPlan> plan = BroadcastPlan::Make(shapes);
  if (!plan.has_value()) return p.Invalid("Incompatible shapes");
  p.set_output_shape(0, plan->shape);
  p.set_run(&RunStrings<kVisit>,
            std::make_shared<StringState>(StringState{
                *std::move(plan), static_cast<int>(shapes.size()), ElementCopy(p.output_type(0))}));
  return absl::OkStatus();
}

template <Visit kVisit>
absl::Status PrepareTwo(Prepare& p) {
  const Shape shapes[] = {p.input_shape(0), p.input_shape(1)};
  return SetStrings<kVisit>(p, shapes);
}

template <Visit kVisit, bool kUnequal>
absl::Status PrepareComparison(Prepare& p) {
  const Shape shapes[] = {p.input_shape(0), p.input_shape(1)};
  TENON_ASSIGN_OR_RETURN(const bool strict, p.AttrBool("incompatible_shape_error"));
  if (strict || BroadcastPlan::Make(shapes).has_value()) return SetStrings<kVisit>(p, shapes);
  const bool answer = kUnequal;
  p.set_output_shape(0, Shape());
  p.set_output_value(0, Tensor::CopyOf(DataType::kBool, Shape(), &answer, 1));
  return absl::OkStatus();
}

absl::Status PrepareStringSelect(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const auto shapes, SelectShapes(p));
  return SetStrings<VisitSelect>(p, shapes);
}

absl::Status PrepareStringSelectV2(Prepare& p) {
  const Shape shapes[] = {p.input_shape(0), p.input_shape(1), p.input_shape(2)};
  return SetStrings<VisitSelect>(p, shapes);
}

CpuKernelSpec SelectKernel(const char* op, PrepareFn prepare) {
  CpuKernelSpec spec{
      op, {{"T", TypeBits(DataType::kString, DataType::kResource, DataType::kVariant)}}, prepare};
  spec.copies_objects = true;
  return spec;
}

}  // namespace

absl::Span<const CpuKernelSpec> StringElementKernels() {
  constexpr uint64_t kString = TypeBit(DataType::kString);
  static const CpuKernelSpec specs[] = {
      {"Equal", {{"T", kString}}, PrepareComparison<VisitEqual, false>},
      {"NotEqual", {{"T", kString}}, PrepareComparison<VisitNotEqual, true>},
      {"Add", {{"T", kString}}, PrepareTwo<VisitAdd>},
      {"AddV2", {{"T", kString}}, PrepareTwo<VisitAdd>},
      SelectKernel("Select", PrepareStringSelect),
      SelectKernel("SelectV2", PrepareStringSelectV2),
  };
  return specs;
}

}  // namespace tenon::cpu
