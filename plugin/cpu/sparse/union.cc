// Two sparse tensors entry by entry, where either has one: SparseAdd with its gradient,
// SparseSparseMaximum, SparseSparseMinimum.
#include <algorithm>
#include <cmath>
#include <complex>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/elementwise/loops/broadcast.h"
#include "plugin/cpu/elementwise/loops/element_copy.h"
#include "plugin/cpu/sparse/coordinates.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

// The numbers of the entries of a and b at one place; -1 where one has none.
struct Pair {
  int64_t a, b;
};

struct UnionState {
  SparseSizes a, b;
  ElementCopy copy;
  // SparseAdd: puts the sum of element i of a and j of b to place k of `out`, unless its magnitude
  // is below the threshold.
  bool (*add)(const void* a, int64_t i, const void* b, int64_t j, const void* threshold, void* out,
              int64_t k) = nullptr;
  ElementStep combine;  // the others
};

// Calls f(pair) for each place that a or b has, in order. Both must be sorted.
template <typename F>
void ForEachPair(const UnionState& s, const void* a, const void* b, F&& f) {
  for (int64_t i = 0, j = 0; i < s.a.count || j < s.b.count;) {
    int order = 0;
    if (i == s.a.count) {
      order = 1;
    } else if (j == s.b.count) {
      order = -1;
    } else {
      order = CompareEntries(EntryAt(a, s.a.rank, i), EntryAt(b, s.b.rank, j));
    }
    f(Pair{order <= 0 ? i : -1, order >= 0 ? j : -1});
    i += order <= 0;
    j += order >= 0;
  }
}

// Inputs are the parts of a, then those of b.
absl::StatusOr<UnionState> ReadUnion(const Prepare& p) {
  UnionState s{{}, {}, ElementCopy(p.input_type(1)), nullptr, {}};
  TENON_ASSIGN_OR_RETURN(s.a, ReadSparse(p, 0, 1, 2));
  TENON_ASSIGN_OR_RETURN(s.b, ReadSparse(p, 3, 4, 5));
  if (s.a.rank != s.b.rank) {
    return p.Invalid(
        absl::StrCat("the operands have ", s.a.rank, " and ", s.b.rank, " dimensions"));
  }
  return s;
}

absl::Status CheckShapes(const UnionState& s, const StepArgs& args) {
  const absl::Span<const int64_t> a = ShapeAt(args.in[2], s.a.rank),
                                  b = ShapeAt(args.in[5], s.b.rank);
  for (int d = 0; d < s.a.rank; ++d) {
    if (a[d] != b[d]) {
      return absl::InvalidArgumentError(
          absl::StrCat("dimension ", d, " of the operands is ", a[d], " and ", b[d]));
    }
  }
  return absl::OkStatus();
}

struct UnionOutputs {
  int64_t* indices = nullptr;
  void* values = nullptr;
};

absl::StatusOr<UnionOutputs> AllocateUnion(const UnionState& s, int64_t count,
                                           const StepArgs& args) {
  UnionOutputs out;
  TENON_ASSIGN_OR_RETURN(void* indices,
                         args.run_state->AllocateOutput(0, Shape({count, s.a.rank})));
  TENON_ASSIGN_OR_RETURN(out.values, args.run_state->AllocateOutput(1, Shape({count})));
  out.indices = static_cast<int64_t*>(indices);
  return out;
}

void PutIndices(const UnionState& s, const StepArgs& args, Pair pair, int64_t k, int64_t* out) {
  const absl::Span<const int64_t> entry =
      pair.a >= 0 ? EntryAt(args.in[0], s.a.rank, pair.a) : EntryAt(args.in[3], s.b.rank, pair.b);
  std::copy(entry.begin(), entry.end(), out + k * s.a.rank);
}

// |x| < threshold, without the overflow that the lowest integer's magnitude would be.
template <typename T, typename Real>
bool Below(T x, Real threshold) {
  if constexpr (std::is_integral_v<T>) {
    const int64_t wide = x;
    const uint64_t magnitude = wide < 0 ? -static_cast<uint64_t>(wide) : wide;
    return threshold > 0 && magnitude < static_cast<uint64_t>(threshold);
  } else {
    return std::abs(x) < threshold;
  }
}

template <typename T>
T Sum(T x, T y) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(x) + static_cast<uint64_t>(y));
  } else {
    return x + y;
  }
}

template <typename T, typename Real = T>
bool AddPair(const void* a, int64_t i, const void* b, int64_t j, const void* threshold, void* out,
             int64_t k) {
  const T sum = Sum(static_cast<const T*>(a)[i], static_cast<const T*>(b)[j]);
  if (Below(sum, *static_cast<const Real*>(threshold))) return false;
  static_cast<T*>(out)[k] = sum;
  return true;
}

decltype(UnionState::add) FindAdd(DataType type) {
  switch (type) {
    case DataType::kFloat:
      return AddPair<float>;
    case DataType::kDouble:
      return AddPair<double>;
    case DataType::kInt8:
      return AddPair<int8_t>;
    case DataType::kInt16:
      return AddPair<int16_t>;
    case DataType::kInt32:
      return AddPair<int32_t>;
    case DataType::kInt64:
      return AddPair<int64_t>;
    case DataType::kComplex64:
      return AddPair<std::complex<float>, float>;
    case DataType::kComplex128:
      return AddPair<std::complex<double>, double>;
    default:
      return nullptr;
  }
}

// Sums below the threshold are left out: a first pass counts the others.
absl::Status RunAdd(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const UnionState*>(state);
  TENON_RETURN_IF_ERROR(CheckShapes(s, args));
  const auto sum = [&](Pair pair, void* out, int64_t k) {
    return s.add(args.in[1], pair.a, args.in[4], pair.b, args.in[6], out, k);
  };
  int64_t count = 0;
  ForEachPair(s, args.in[0], args.in[3],
              [&](Pair pair) { count += pair.a < 0 || pair.b < 0 || sum(pair, args.scratch, 0); });
  TENON_ASSIGN_OR_RETURN(const UnionOutputs out, AllocateUnion(s, count, args));
  int64_t k = 0;
  ForEachPair(s, args.in[0], args.in[3], [&](Pair pair) {
    if (pair.b < 0) {
      s.copy(args.in[1], pair.a, out.values, k);
    } else if (pair.a < 0) {
      s.copy(args.in[4], pair.b, out.values, k);
    } else if (!sum(pair, out.values, k)) {
      return;
    }
    PutIndices(s, args, pair, k++, out.indices);
  });
  std::copy_n(static_cast<const int64_t*>(args.in[2]), s.a.rank,
              static_cast<int64_t*>(args.out[2]));
  return absl::OkStatus();
}

absl::Status PrepareAdd(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(UnionState s, ReadUnion(p));
  if (s.a.rank < 1) return p.Invalid("the operands must have at least one dimension");
  if (p.input_shape(6).rank() != 0) return p.Invalid("'thresh' must be a scalar");
  const DataType type = p.input_type(1), threshold = p.input_type(6);
  const DataType wanted = type == DataType::kComplex64    ? DataType::kFloat
                          : type == DataType::kComplex128 ? DataType::kDouble
                                                          : type;
  s.add = FindAdd(type);
  if (s.add == nullptr) return p.Unimplemented("no CPU kernel for this type");
  if (threshold != wanted) {
    return p.Invalid(
        absl::StrCat("'thresh' must be of the type of a magnitude, ", DataTypeName(wanted)));
  }
  p.set_dynamic_output(0);
  p.set_dynamic_output(1);
  p.set_output_shape(2, Shape({s.a.rank}));
  p.set_scratch_bytes(s.copy.bytes());
  p.set_run(&RunAdd, std::make_shared<UnionState>(std::move(s)));
  return absl::OkStatus();
}

// An operand that has no entry counts as zero: first each is filled up, in scratch memory.
absl::Status RunCombine(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const UnionState*>(state);
  TENON_RETURN_IF_ERROR(CheckShapes(s, args));
  TENON_RETURN_IF_ERROR(CheckInside(args.in[0], s.a, ShapeAt(args.in[2], s.a.rank)));
  TENON_RETURN_IF_ERROR(CheckInside(args.in[3], s.b, ShapeAt(args.in[5], s.b.rank)));
  int64_t count = 0;
  ForEachPair(s, args.in[0], args.in[3], [&](Pair) { ++count; });
  TENON_ASSIGN_OR_RETURN(const UnionOutputs out, AllocateUnion(s, count, args));
  char* const a = static_cast<char*>(args.scratch);
  char* const b = a + count * s.copy.bytes();
  int64_t k = 0;
  const auto put = [&](const void* values, int64_t i, char* filled) {
    if (i >= 0) {
      s.copy(values, i, filled, k);
    } else {
      s.copy.Zero(filled, k, 1);
    }
  };
  ForEachPair(s, args.in[0], args.in[3], [&](Pair pair) {
    put(args.in[1], pair.a, a);
    put(args.in[4], pair.b, b);
    PutIndices(s, args, pair, k++, out.indices);
  });
  ElementStep combine = s.combine;
  combine.n = count;
  const void* in[] = {a, b};
  RunElementStep(combine, in, out.values, args.workers);
  return absl::OkStatus();
}

absl::Status PrepareCombine(Prepare& p, ElementOp op) {
  TENON_ASSIGN_OR_RETURN(UnionState s, ReadUnion(p));
  const DataType type = p.input_type(1);
  if (!MakeElementStep(op, type, p.input_shape(1), p.input_shape(1), &s.combine))
    return p.Unimplemented("no CPU kernel for this type");
  p.set_dynamic_output(0);
  p.set_dynamic_output(1);
  p.set_scratch_bytes(2 * (s.a.count + s.b.count) * s.copy.bytes());
  p.set_run(&RunCombine, std::make_shared<UnionState>(std::move(s)));
  return absl::OkStatus();
}
absl::Status PrepareMaximum(Prepare& p) { return PrepareCombine(p, ElementOp::kMaximum); }
absl::Status PrepareMinimum(Prepare& p) { return PrepareCombine(p, ElementOp::kMinimum); }

struct AddGradState {
  SparseSizes a, b, sum;
  ElementCopy copy;
};

// The gradient of the sum's entries where the operand has one, else (the sum was dropped) zero.
void SpreadGrad(const AddGradState& s, const StepArgs& args, int indices,
                const SparseSizes& operand, void* out) {
  s.copy.Zero(out, 0, operand.count);
  for (int64_t i = 0, k = 0; i < operand.count && k < s.sum.count;) {
    const int order = CompareEntries(EntryAt(args.in[indices], operand.rank, i),
                                     EntryAt(args.in[3], s.sum.rank, k));
    if (order == 0) s.copy(args.in[0], k, out, i);
    i += order <= 0;
    k += order >= 0;
  }
}

absl::Status RunAddGrad(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const AddGradState*>(state);
  SpreadGrad(s, args, 1, s.a, args.out[0]);
  SpreadGrad(s, args, 2, s.b, args.out[1]);
  return absl::OkStatus();
}

absl::Status PrepareAddGrad(Prepare& p) {
  AddGradState s{{}, {}, {}, ElementCopy(p.input_type(0))};
  TENON_ASSIGN_OR_RETURN(s.a, ReadCoordinates(p, 1));
  TENON_ASSIGN_OR_RETURN(s.b, ReadCoordinates(p, 2));
  TENON_ASSIGN_OR_RETURN(s.sum, ReadCoordinates(p, 3));
  if (s.a.rank != s.sum.rank || s.b.rank != s.sum.rank)
    return p.Invalid("the operands and the sum must have the same number of dimensions");
  if (!(p.input_shape(0) == Shape({s.sum.count})))
    return p.Invalid("the gradient must have one element per entry of the sum");
  p.set_output_shape(0, Shape({s.a.count}));
  p.set_output_shape(1, Shape({s.b.count}));
  p.set_run(&RunAddGrad, std::make_shared<AddGradState>(s));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> SparseUnionKernels() {
  static const CpuKernelSpec specs[] = {
      {"SparseAdd", {{"T", kNumberTypes}}, PrepareAdd},
      {"SparseAddGrad", {{"T", kNumberTypes}}, PrepareAddGrad},
      {"SparseSparseMaximum", {{"T", kRealTypes}}, PrepareMaximum},
      {"SparseSparseMinimum", {{"T", kRealTypes}}, PrepareMinimum},
  };
  return specs;
}

}  // namespace tenon::cpu
