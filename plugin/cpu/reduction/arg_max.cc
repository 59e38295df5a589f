// ArgMax and ArgMin along one dimension. The first of equal elements wins; NaN never does.
#include <cstring>
#include <limits>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/elementwise/element_op.h"
#include "plugin/cpu/families.h"
#include "plugin/cpu/kernel_util.h"

namespace tenon::cpu {
namespace {

struct ArgState {
  int64_t outer = 0, length = 0, inner = 0;
  DataType type, out_type;
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

template <typename T, typename Load>
void ArgRow(const ArgState& s, int64_t row, void* out, Load load) {
  for (int64_t j = 0; j < s.inner; ++j) {
    T best = Worst<T>(s.max);
    int64_t at = 0;
    bool found = false;
    for (int64_t i = 0; i < s.length; ++i) {
      const T value = load((row * s.length + i) * s.inner + j);
      // The first element equal to the worst value counts, too.
      if (Better(value, best, s.max) || (!found && value == best)) {
        best = value;
        at = i;
        found = true;
      }
    }
    StoreIndex(out, s.out_type, row * s.inner + j, at);
  }
}

template <typename T>
absl::Status RunArg(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const ArgState*>(state);
  const T* x = static_cast<const T*>(args.in[0]);
  args.workers->ParallelFor(s.outer, GrainFor(s.length * s.inner * 8),
                            [&](int64_t begin, int64_t end) {
                              for (int64_t r = begin; r < end; ++r)
                                ArgRow<T>(s, r, args.out[0], [&](int64_t i) { return x[i]; });
                            });
  return absl::OkStatus();
}

absl::Status RunArgHalf(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const ArgState*>(state);
  const ElementLoop widen = FindCastLoop(s.type, DataType::kFloat);
  const uint16_t* x = static_cast<const uint16_t*>(args.in[0]);
  args.workers->ParallelFor(s.outer, GrainFor(s.length * s.inner * 8),
                            [&](int64_t begin, int64_t end) {
                              std::vector<float> wide(s.length * s.inner);
                              for (int64_t r = begin; r < end; ++r) {
                                const void* in[] = {x + r * s.length * s.inner};
                                widen(in, wide.data(), s.length * s.inner, 0);
                                const float* row = wide.data() - r * s.length * s.inner;
                                ArgRow<float>(s, r, args.out[0], [&](int64_t i) { return row[i]; });
                              }
                            });
  return absl::OkStatus();
}

RunFn FindRun(DataType t) {
  switch (t) {
    case DataType::kFloat:
      return RunArg<float>;
    case DataType::kDouble:
      return RunArg<double>;
    case DataType::kInt8:
      return RunArg<int8_t>;
    case DataType::kUint8:
    case DataType::kBool:
      return RunArg<uint8_t>;
    case DataType::kInt16:
      return RunArg<int16_t>;
    case DataType::kUint16:
      return RunArg<uint16_t>;
    case DataType::kInt32:
      return RunArg<int32_t>;
    case DataType::kUint32:
      return RunArg<uint32_t>;
    case DataType::kInt64:
      return RunArg<int64_t>;
    case DataType::kUint64:
      return RunArg<uint64_t>;
    case DataType::kHalf:
    case DataType::kBfloat16:
      return RunArgHalf;
    default:
      return nullptr;
  }
}

absl::Status PrepareArg(Prepare& p) {
  const Shape& in = p.input_shape(0);
  if (p.input_shape(1).rank() != 0) return p.Invalid("'dimension' must be a scalar");
  TENON_ASSIGN_OR_RETURN(const int64_t dimension, InputInt(p, 1));
  TENON_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(p, dimension, in.rank()));
  if (in.dim(axis) == 0) return p.Invalid(absl::StrCat("dimension ", axis, " is empty"));
  auto s = std::make_shared<ArgState>();
  s->outer = DimProduct(in, 0, axis);
  s->length = in.dim(axis);
  s->inner = DimProduct(in, axis + 1, in.rank());
  s->type = p.input_type(0);
  s->out_type = p.output_type(0);
  s->max = p.op().name == "ArgMax";
  Shape out;
  for (int d = 0; d < in.rank(); ++d) {
    if (d != axis) out.push_back(in.dim(d));
  }
  p.set_output_shape(0, out);
  const RunFn run = FindRun(s->type);
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
