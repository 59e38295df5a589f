// ArgMax and ArgMin along one dimension. The first of equal elements wins; NaN never does.
#include <limits>

#include "absl/strings/str_cat.h"
#include "graph/base/node_note.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {
namespace {

struct ArgState {
  AxisSplit split;
  DataType out_type;
  bool max = true;
};

template <typename T>
bool Better(T candidate, T best, bool max) {
  return max ? candidate > best : candidate < best;
}

// Starts from the worst value, so that NaN at the front does not stick.
template <typename T>
T Worst(bool max) {
  using L = std::numeric_limits<T>;
  if constexpr (L::has_infinity) return max ? -L::infinity() : L::infinity();
  return max ? L::lowest() : L::max();
}

template <typename Element>
void ArgRow(const ArgState& s, int64_t row, const StepArgs& args) {
  using T = typename Element::Native;
  const Element element;
  const auto [outer, length, inner] = s.split;
  for (int64_t j = 0; j < inner; ++j) {
    T best = Worst<T>(s.max);
    int64_t at = 0;
    bool found = false;
    for (int64_t i = 0; i < length; ++i) {
      const T value = element.template As<T>(args.in[0], (row * length + i) * inner + j);
      // The first element equal to the worst value counts, too.
      if (Better(value, best, s.max) || (!found && value == best)) {
        best = value;
        at = i;
        found = true;
      }
    }
    StoreIndex(args.out[0], s.out_type, row * inner + j, at);
  }
}

template <typename Element>
absl::Status RunArg(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const ArgState*>(state);
  args.workers->ParallelFor(s.split.outer, GrainFor(s.split.size * s.split.inner * 8),
                            [&](int64_t begin, int64_t end) {
                              for (int64_t r = begin; r < end; ++r) ArgRow<Element>(s, r, args);
                            });
  return absl::OkStatus();
}

RunFn FindRun(DataType t) {
  RunFn run = nullptr;
  // A bool is a byte of 0 or 1: it orders as uint8 does.
  VisitElement(t == DataType::kBool ? DataType::kUint8 : t, [&]<typename Element>(Element) {
    if constexpr (!kIsComplex<typename Element::Native>) run = &RunArg<Element>;
  });
  return run;
}

absl::Status PrepareArg(Prepare& p) {
  const Shape& in = p.input_shape(0);
  if (p.input_shape(1).rank() != 0) return p.Invalid("'dimension' must be a scalar");
  TENON_ASSIGN_OR_RETURN(const int64_t dimension, InputInt(p, 1));
  const absl::StatusOr<int> found = NormalizeAxis(p, dimension, in.rank());
  if (!found.ok()) {
    return NoteAnswer(found.status(), absl::StatusCode::kInvalidArgument,
                      absl::StrCat("Expected dimension in the range [", -in.rank(), ", ", in.rank(),
                                   "), but got ", dimension));
  }
  const int axis = *found;
  if (in.dim(axis) == 0) return p.Invalid(absl::StrCat("dimension ", axis, " is empty"));
  auto s = std::make_shared<ArgState>();
  s->split = SplitAt(in, axis);
  s->out_type = p.output_type(0);
  s->max = p.op().name == "ArgMax";
  Shape out;
  for (int d = 0; d < in.rank(); ++d) {
    if (d != axis) out.push_back(in.dim(d));
  }
  p.set_output_shape(0, out);
  const RunFn run = FindRun(p.input_type(0));
  if (run == nullptr) return p.Unimplemented("no CPU kernel for this type");
  p.set_run(run, std::move(s));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> ArgKernels() {
  static const CpuKernelSpec specs[] = {
      {"ArgMax", {{"T", kRealTypes | TypeBit(DataType::kBool)}}, PrepareArg, 0b10},
      {"ArgMin", {{"T", kRealTypes | TypeBit(DataType::kBool)}}, PrepareArg, 0b10},
  };
  return specs;
}

}  // namespace tenon::cpu
