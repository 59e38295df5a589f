// TopK and its kin, NthElement: the largest elements of each row.
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/elementwise/loops/element_copy.h"
#include "plugin/cpu/selection/top_k_loops.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

absl::Status SetRun(Prepare& p, bool nth, std::shared_ptr<TopKState> s) {
  if (s->rows == 0) return absl::OkStatus();
  const RunFn run = FindTopK(p.input_type(0), nth);
  if (run == nullptr) return p.Unimplemented("no CPU kernel for this type");
  p.set_scratch_bytes(TopKScratch(p.workers(), *s));
  p.set_run(run, std::move(s));
  return absl::OkStatus();
}

absl::StatusOr<int64_t> ReadCount(const Prepare& p) {
  if (p.input_shape(1).rank() != 0) return p.Invalid("'k' must be a scalar");
  return InputInt(p, 1);
}

// The k largest of each row.
absl::Status SetTopK(Prepare& p, int64_t k) {
  const Shape& in = p.input_shape(0);
  if (in.rank() < 1) return p.Invalid("the tensor must have at least one dimension");
  const int last = in.rank() - 1;
  if (k < 0 || k > in.dim(last))
    return p.Invalid(absl::StrCat("k must be between 0 and ", in.dim(last), ", it is ", k));
  auto s = std::make_shared<TopKState>(TopKState{ElementCopy(p.input_type(0)), p.input_type(0)});
  s->rows = SplitAt(in, last).outer;
  s->columns = in.dim(last);
  s->k = k;
  s->index_type = p.output_type(1);
  Shape out = in;
  out.set_dim(last, k);
  p.set_output_shape(0, out);
  p.set_output_shape(1, out);
  return SetRun(p, false, std::move(s));
}

absl::Status PrepareTopK(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const int64_t k, ReadCount(p));
  return SetTopK(p, k);
}

absl::Status PrepareTopKOfAttr(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const int64_t k, p.AttrInt("k"));
  return SetTopK(p, k);
}

// Exact, whatever recall is asked for, as TensorFlow's on the CPU.
absl::Status PrepareApproxTopK(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const int64_t axis, p.AttrInt("reduction_dimension"));
  TENON_ASSIGN_OR_RETURN(const bool largest, p.AttrBool("is_max_k"));
  if (axis != -1 && axis != p.input_shape(0).rank() - 1)
    return p.Unimplemented(absl::StrCat("reduction_dimension ", axis, " is not the last one"));
  if (!largest) return p.Unimplemented("is_max_k false is not built");
  return PrepareTopKOfAttr(p);
}

absl::Status PrepareNth(Prepare& p) {
  const Shape& in = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const int64_t n, ReadCount(p));
  TENON_ASSIGN_OR_RETURN(const bool reverse, p.AttrBool("reverse"));
  if (in.rank() < 1) return p.Invalid("the tensor must have at least one dimension");
  const int last = in.rank() - 1;
  if (n < 0 || n >= in.dim(last))
    return p.Invalid(absl::StrCat("n must be between 0 and ", in.dim(last) - 1, ", it is ", n));
  auto s = std::make_shared<TopKState>(TopKState{ElementCopy(p.input_type(0)), p.input_type(0)});
  s->rows = SplitAt(in, last).outer;
  s->columns = in.dim(last);
  s->k = reverse ? in.dim(last) - 1 - n : n;
  Shape out;
  for (int d = 0; d < last; ++d) out.push_back(in.dim(d));
  p.set_output_shape(0, out);
  return SetRun(p, true, std::move(s));
}

}  // namespace

absl::Span<const CpuKernelSpec> TopKKernels() {
  static const CpuKernelSpec specs[] = {
      {"TopKV2", {{"T", kRealTypes}}, PrepareTopK, 0b10},
      {"TopK", {{"T", kRealTypes}}, PrepareTopKOfAttr},
      {"ApproxTopK", {{"T", kRealTypes}}, PrepareApproxTopK},
      {"NthElement", {{"T", kRealTypes}}, PrepareNth, 0b10},
  };
  return specs;
}

}  // namespace tenon::cpu
