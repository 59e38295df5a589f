// Cross: the product of vectors in space.
#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct CrossState {
  int64_t vectors = 0;
  DataType type;
};

// `A` computes: integers wrap around, which unsigned arithmetic does in any width.
template <typename A>
absl::Status RunCross(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const CrossState*>(state);
  VisitElement(s.type, [&](auto element) {
    args.workers->ParallelFor(s.vectors, GrainFor(24), [&](int64_t begin, int64_t end) {
      for (int64_t i = 3 * begin; i < 3 * end; i += 3) {
        // Both vectors are read before the result is written.
        A a[3], b[3];
        for (int d = 0; d < 3; ++d) {
          a[d] = element.template As<A>(args.in[0], i + d);
          b[d] = element.template As<A>(args.in[1], i + d);
        }
        for (int d = 0; d < 3; ++d) {
          const int next = (d + 1) % 3, last = (d + 2) % 3;
          element.Put(args.out[0], i + d, a[next] * b[last] - a[last] * b[next]);
        }
      }
    });
  });
  return absl::OkStatus();
}

absl::Status PrepareCross(Prepare& p) {
  const Shape& a = p.input_shape(0);
  if (!(a == p.input_shape(1))) {
    return p.Invalid(absl::StrCat("both inputs must have the same shape, not ", a.ToString(),
                                  " and ", p.input_shape(1).ToString()));
  }
  if (a.rank() < 1)
    return p.Invalid(absl::StrCat("Input must be at least 1D, got shape ", a.ToString()));
  if (a.dim(a.rank() - 1) != 3) {
    return absl::FailedPreconditionError(absl::StrCat(
        "Cross-products are only defined for 3-element vectors, the shape is ", a.ToString()));
  }
  const auto s =
      std::make_shared<CrossState>(CrossState{DimProduct(a, 0, a.rank() - 1), p.input_type(0)});
  p.set_output_shape(0, a);
  if (s->type == DataType::kDouble) {
    p.set_run(&RunCross<double>, s);
  } else if (HasType(kFloatTypes, s->type)) {
    p.set_run(&RunCross<float>, s);
  } else {
    p.set_run(&RunCross<uint64_t>, s);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> CrossKernels() {
  static const CpuKernelSpec specs[] = {
      {"Cross", {{"T", kRealTypes}}, PrepareCross},
  };
  return specs;
}

}  // namespace tenon::cpu
