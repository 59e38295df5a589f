// ArgMax and ArgMin along one dimension. The first of equal elements wins; NaN never does.
#include <algorithm>
#include <limits>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "graph/base/node_note.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

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

// The place of the best of n numbers side by side. The numbers are compared by vectors, block by
// block; only the last block with a better number is searched for its place.
template <typename T>
int64_t ArgOf(const T* x, int64_t n, bool max) {
  typedef T Vector __attribute__((vector_size(16), aligned(alignof(T))));
  constexpr int64_t kLanes = 16 / sizeof(T), kBlock = 16 * kLanes;
  T best = Worst<T>(max);
  int64_t from = 0, to = n;  // of the block; of all, where nothing is better than the worst
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    T block = best;
    const int64_t end = std::min(begin + kBlock, n);
    int64_t i = begin;
    if (end - begin == kBlock) {
      // `auto` would forget the alignment.
      const Vector* const v = reinterpret_cast<const Vector*>(x + begin);
      Vector most = Vector{} + best;
      for (int k = 0; k < 16; ++k) {
        const Vector next = v[k];
        most = (max ? next > most : next < most) ? next : most;
      }
      for (int64_t k = 0; k < kLanes; ++k) block = Better<T>(most[k], block, max) ? most[k] : block;
      i = end;
    }
    for (; i < end; ++i) block = Better(x[i], block, max) ? x[i] : block;
    if (!Better(block, best, max)) continue;
    best = block;
    from = begin;
    to = end;
  }
  for (int64_t i = from; i < to; ++i) {
    if (x[i] == best) return i;
  }
  return 0;
}

template <typename Element>
void ArgRow(const ArgState& s, int64_t row, const StepArgs& args) {
  using T = typename Element::Native;
  const Element element;
  const auto [outer, length, inner] = s.split;
  if constexpr (std::is_same_v<Element, PlainElement<T>>) {
    if (inner == 1) {
      const T* const x = static_cast<const T*>(args.in[0]) + row * length;
      return StoreIndex(args.out[0], s.out_type, row, ArgOf(x, length, s.max));
    }
  }
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
