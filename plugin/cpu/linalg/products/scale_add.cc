// A product times a number plus a tensor that broadcasts to it, in place, as _MklFusedBatchMatMulV2
// fuses them.
#include "plugin/cpu/linalg/products/scale_add.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {
namespace {

// Elements of a block. The sum follows the product block by block, so that it finds the product's
// results in the first-level cache.
constexpr int64_t kPiece = 4096;

bool MakeStep(ElementOp op, DataType type, const Shape& a, const Shape& b, ElementStep* step) {
  if (!MakeElementStep(op, type, a, b, step)) return false;
  if (!step->converts) step->rows_loop = FindElementRowsLoop(op, type);
  return true;
}

}  // namespace

absl::StatusOr<ScaleAdd> ScaleAdd::Make(const Prepare& p, int factor, int addend,
                                        const Shape& output) {
  if (p.input_shape(factor).num_elements() != 1)
    return p.Invalid(absl::StrCat("input ", factor, " must be one number, not ",
                                  p.input_shape(factor).ToString()));
  const Shape shapes[] = {output, p.input_shape(addend)};
  const std::optional<BroadcastPlan> plan = BroadcastPlan::Make(shapes);
  if (!plan || !(plan->shape == output))
    return p.Invalid(absl::StrCat("input ", addend, " must broadcast to ", output.ToString(),
                                  ", which ", shapes[1].ToString(), " does not"));
  ScaleAdd s;
  s.factor_ = factor;
  s.addend_ = addend;
  const DataType type = p.input_type(0);
  if (!MakeStep(ElementOp::kMul, type, output, Shape(), &s.scale_) ||
      !MakeStep(ElementOp::kAdd, type, output, shapes[1], &s.add_))
    return p.Unimplemented(absl::StrCat("scaling ", DataTypeName(type), " is not built"));
  return s;
}

void ScaleAdd::Run(const StepArgs& args, int64_t begin, int64_t end) const {
  const void* const scaled[] = {args.out[0], args.in[factor_]};
  const void* const added[] = {args.out[0], args.in[addend_]};
  for (int64_t at = begin; at < end; at += kPiece) {
    const int64_t until = std::min(at + kPiece, end);
    RunElementRange(scale_, scaled, args.out[0], at, until);
    RunElementRange(add_, added, args.out[0], at, until);
  }
}

}  // namespace tenon::cpu
