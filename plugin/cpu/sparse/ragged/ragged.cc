// Ragged tensors: RaggedRange, RaggedGather.
#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/elementwise/loops/element_copy.h"
#include "plugin/cpu/sparse/ragged/splits.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

absl::Status CheckSplit(bool is64, int64_t value) {
  if (is64 || value <= INT32_MAX) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("a row split of ", value, " does not fit int32"));
}

struct RangeState {
  int64_t rows = 1;
  bool vector[3] = {};  // whether starts, limits and deltas differ by row
  bool split64 = true;
};

// The number of steps from start to limit, without the latter.
template <typename T>
absl::StatusOr<int64_t> CountSteps(T start, T limit, T delta) {
  if (delta == 0) return absl::InvalidArgumentError("deltas must not be zero");
  if (delta > 0 ? limit < start : limit > start) return 0;
  if constexpr (std::is_integral_v<T>) {
    const __int128 span = static_cast<__int128>(limit) - start, step = delta;
    const __int128 steps = span / step + (span % step != 0);
    if (steps <= INT64_MAX) return static_cast<int64_t>(steps);
  } else {
    const T steps = std::ceil(std::abs((limit - start) / delta));
    if (steps < static_cast<T>(INT64_MAX)) return static_cast<int64_t>(steps);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("from ", start, " to ", limit, " are too many steps of ", delta));
}

template <typename T>
absl::Status RunRange(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const RangeState*>(state);
  const auto value = [&](int input, int64_t row) {
    return static_cast<const T*>(args.in[input])[s.vector[input] ? row : 0];
  };
  StoreIndex(args.out[0], s.split64, 0, 0);
  int64_t count = 0;
  for (int64_t r = 0; r < s.rows; ++r) {
    TENON_ASSIGN_OR_RETURN(const int64_t steps, CountSteps(value(0, r), value(1, r), value(2, r)));
    if (__builtin_add_overflow(count, steps, &count))
      return absl::InvalidArgumentError("the ranges have too many elements");
    TENON_RETURN_IF_ERROR(CheckSplit(s.split64, count));
    StoreIndex(args.out[0], s.split64, r + 1, count);
  }
  TENON_ASSIGN_OR_RETURN(void* data, args.run_state->AllocateOutput(1, Shape({count})));
  T* out = static_cast<T*>(data);
  const Splits splits{args.out[0], s.split64, s.rows + 1};
  for (int64_t r = 0; r < s.rows; ++r) {
    const T start = value(0, r), delta = value(2, r);
    for (int64_t i = 0, n = splits[r + 1] - splits[r]; i < n; ++i) {
      if constexpr (std::is_integral_v<T>) {
        *out++ = static_cast<T>(static_cast<uint64_t>(start) +
                                static_cast<uint64_t>(i) * static_cast<uint64_t>(delta));
      } else {
        *out++ = start + static_cast<T>(i) * delta;
      }
    }
  }
  return absl::OkStatus();
}

RunFn FindRange(DataType type) {
  switch (type) {
    case DataType::kFloat:
      return RunRange<float>;
    case DataType::kDouble:
      return RunRange<double>;
    case DataType::kInt32:
      return RunRange<int32_t>;
    case DataType::kInt64:
      return RunRange<int64_t>;
    default:
      return nullptr;
  }
}

absl::Status PrepareRange(Prepare& p) {
  auto s = std::make_shared<RangeState>();
  bool any = false;
  for (int i = 0; i < 3; ++i) {
    const Shape& shape = p.input_shape(i);
    if (shape.rank() > 1) return p.Invalid("starts, limits and deltas must be scalars or vectors");
    if (shape.rank() == 0) continue;
    if (any && shape.dim(0) != s->rows)
      return p.Invalid("starts, limits and deltas must have equal lengths");
    any = true;
    s->vector[i] = true;
    s->rows = shape.dim(0);
  }
  const RunFn run = FindRange(p.input_type(0));
  if (run == nullptr) return p.Unimplemented("no CPU kernel for this type");
  s->split64 = p.output_type(0) == DataType::kInt64;
  p.set_output_shape(0, Shape({s->rows + 1}));
  p.set_dynamic_output(1);
  p.set_run(run, std::move(s));
  return absl::OkStatus();
}

// Inputs: the splits of each ragged dimension of the params, their values, the indices. Outputs:
// the result's splits, of which the first come from the dimensions of the indices, and its values.
struct GatherState {
  Dims split_counts;
  Shape values, indices;
  DataType index_type;
  bool split64 = true;
  ElementCopy copy;

  int levels() const { return static_cast<int>(split_counts.size()); }
  // The output that holds the splits of the params' level; -1 for the first one if the indices are
  // a scalar, which takes one row of it.
  int output_of(int level) const { return level + indices.rank() - 1; }
};

// The splits for dimensions [.., d, d + 1] of the indices.
absl::Status PutIndexSplits(const GatherState& s, int d, const StepArgs& args) {
  const int64_t rows = DimProduct(s.indices, 0, d + 1), size = s.indices.dim(d + 1);
  int64_t end = 0;
  if (__builtin_mul_overflow(rows, size, &end))
    return absl::InvalidArgumentError("the indices' shape is too large");
  TENON_RETURN_IF_ERROR(CheckSplit(s.split64, end));
  TENON_ASSIGN_OR_RETURN(void* out, args.run_state->AllocateOutput(d, Shape({rows + 1})));
  for (int64_t r = 0; r <= rows; ++r) StoreIndex(out, s.split64, r, r * size);
  return absl::OkStatus();
}

// Calls f(level, begin, end) for the rows that index i takes at each level, and for the values that
// they hold in the end, at level `levels`.
template <typename F>
void FollowIndex(const GatherState& s, const std::vector<Splits>& splits, int64_t index, F&& f) {
  int64_t begin = index, end = index + 1;
  for (int level = 0; level < s.levels(); ++level) {
    f(level, begin, end);
    begin = splits[level][begin];
    end = splits[level][end];
  }
  f(s.levels(), begin, end);
}

absl::StatusOr<std::vector<Splits>> ReadGatherSplits(const GatherState& s, const StepArgs& args) {
  std::vector<Splits> splits;
  for (int level = 0; level < s.levels(); ++level)
    splits.push_back({args.in[level], s.split64, s.split_counts[level]});
  for (int level = 0; level < s.levels(); ++level) {
    const bool last = level + 1 == s.levels();
    const int64_t limit = last ? s.values.dim(0) : std::max<int64_t>(splits[level + 1].rows(), 0);
    TENON_RETURN_IF_ERROR(CheckSplits(splits[level], limit, level));
  }
  return splits;
}

absl::Status RunGather(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const GatherState*>(state);
  TENON_ASSIGN_OR_RETURN(const std::vector<Splits> splits, ReadGatherSplits(s, args));
  const void* indices = args.in[s.levels() + 1];
  const int64_t count = s.indices.num_elements();
  std::vector<int64_t> totals(s.levels() + 1, 0);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t index = LoadIndex(indices, s.index_type, i);
    if (index < 0 || index >= splits[0].rows()) {
      return absl::InvalidArgumentError(
          absl::StrCat("indices[", i, "] = ", index, " is not in [0, ", splits[0].rows(), ")"));
    }
    bool fits = true;  // values of no width may be any number
    FollowIndex(s, splits, index, [&](int level, int64_t begin, int64_t end) {
      fits &= !__builtin_add_overflow(totals[level], end - begin, &totals[level]);
    });
    if (!fits) return absl::InvalidArgumentError("the result has more than 2^63 - 1 rows");
  }
  for (int d = 0; d + 1 < s.indices.rank(); ++d) TENON_RETURN_IF_ERROR(PutIndexSplits(s, d, args));
  std::vector<void*> out(s.levels(), nullptr);
  for (int level = 0; level < s.levels(); ++level) {
    if (s.output_of(level) < 0) continue;
    TENON_RETURN_IF_ERROR(CheckSplit(s.split64, totals[level + 1]));
    TENON_ASSIGN_OR_RETURN(
        out[level], args.run_state->AllocateOutput(s.output_of(level), Shape({totals[level] + 1})));
    StoreIndex(out[level], s.split64, 0, 0);
  }
  Shape shape = s.values;
  shape.set_dim(0, totals[s.levels()]);
  TENON_RETURN_IF_ERROR(Shape::Make(shape.dims()).status());
  TENON_ASSIGN_OR_RETURN(void* values,
                         args.run_state->AllocateOutput(s.output_of(s.levels()), shape));
  const int64_t piece = DimProduct(s.values, 1, s.values.rank());
  std::vector<int64_t> at(s.levels() + 1, 0);  // what has been written of each level
  for (int64_t i = 0; i < count; ++i) {
    FollowIndex(
        s, splits, LoadIndex(indices, s.index_type, i), [&](int level, int64_t begin, int64_t end) {
          if (level == s.levels()) {
            s.copy(args.in[level], begin * piece, values, at[level] * piece, (end - begin) * piece);
          } else if (out[level] != nullptr) {
            // Rows keep their lengths; their elements follow those written so far.
            const int64_t shift = at[level + 1] - splits[level][begin];
            for (int64_t r = begin; r < end; ++r) {
              StoreIndex(out[level], s.split64, at[level] + r - begin + 1,
                         splits[level][r + 1] + shift);
            }
          }
          at[level] += end - begin;
        });
  }
  return absl::OkStatus();
}

absl::Status PrepareGather(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const int64_t levels, p.AttrInt("PARAMS_RAGGED_RANK"));
  auto s =
      std::make_shared<GatherState>(GatherState{{},
                                                {},
                                                {},
                                                p.input_type(p.num_inputs() - 1),
                                                true,
                                                ElementCopy(p.output_type(p.num_outputs() - 1))});
  if (levels < 1) return p.Invalid("'PARAMS_RAGGED_RANK' must be positive");
  for (int i = 0; i < levels; ++i) {
    if (p.input_shape(i).rank() != 1) return p.Invalid("row splits must be vectors");
    s->split_counts.push_back(p.input_shape(i).dim(0));
  }
  s->values = p.input_shape(static_cast<int>(levels));
  s->indices = p.input_shape(static_cast<int>(levels) + 1);
  s->split64 = p.input_type(0) == DataType::kInt64;
  if (s->values.rank() < 1) return p.Invalid("the params' values must have at least one dimension");
  if (p.num_outputs() != s->output_of(s->levels()) + 1) {
    return p.Invalid(absl::StrCat("'OUTPUT_RAGGED_RANK' must be ", s->output_of(s->levels()),
                                  ", it is ", p.num_outputs() - 1));
  }
  for (int i = 0; i < p.num_outputs(); ++i) p.set_dynamic_output(i);
  p.set_run(&RunGather, std::move(s));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> RaggedKernels() {
  static const CpuKernelSpec specs[] = {
      {"RaggedRange", {}, PrepareRange},
      {"RaggedGather", {{"Tvalues", kCopyTypes}}, PrepareGather},
  };
  return specs;
}

}  // namespace tenon::cpu
