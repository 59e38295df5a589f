// How often each number stands in each row of a dense, sparse or ragged tensor, as a sparse tensor:
// DenseCountSparseOutput, SparseCountSparseOutput, RaggedCountSparseOutput.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/sparse/coordinates.h"
#include "plugin/cpu/sparse/ragged/splits.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

// Value number i is `number` and stands in this row.
struct Occurrence {
  int64_t row, number, i;
  bool SameCell(const Occurrence& o) const { return row == o.row && number == o.number; }
};

struct CountState {
  int64_t values = 0;
  int64_t rows = 1;     // of a dense or ragged tensor
  SparseSizes sparse;   // of a sparse one
  bool vector = false;  // the result has no rows
  bool binary = false, weighted = false;
  int64_t least = 0, most = 0;  // lengths of the result's rows; negative: as needed
  int values_input = 0, weights_input = 1;
  DataType index_type, type;
};

// Takes the values that count; row_of(i) is the row of value i. Returns how many there are.
template <typename RowOf>
absl::StatusOr<int64_t> Collect(const CountState& s, const StepArgs& args, RowOf row_of,
                                Occurrence* found) {
  int64_t n = 0;
  for (int64_t i = 0; i < s.values; ++i) {
    const int64_t number = LoadIndex(args.in[s.values_input], s.index_type, i);
    if (number < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("the values must not be negative, value ", i, " is ", number));
    }
    if (s.most < 0 || number < s.most) found[n++] = {row_of(i), number, i};
  }
  return n;
}

// Weights are summed in the order of the values; integers wrap around.
void PutCount(const CountState& s, const StepArgs& args, const Occurrence* begin,
              const Occurrence* end, void* out, int64_t at) {
  VisitReal(s.type, [&](auto element, auto) {
    using Wide = typename decltype(element)::Wide;
    Wide sum = s.binary ? Wide{1} : Wide{0};
    for (const Occurrence* o = begin; o != end && !s.binary; ++o) {
      sum += s.weighted ? element.template As<Wide>(args.in[s.weights_input], o->i) : Wide{1};
    }
    element.Put(out, at, sum);
  });
}

absl::Status Write(const CountState& s, const StepArgs& args, int64_t rows, Occurrence* found,
                   int64_t n) {
  // One sort brings the cells into the order of a sparse tensor, the occurrences of a cell
  // together, and these into the order of the values, in which weights are summed.
  std::sort(found, found + n, [](const Occurrence& a, const Occurrence& b) {
    if (a.row != b.row) return a.row < b.row;
    return a.number != b.number ? a.number < b.number : a.i < b.i;
  });
  int64_t cells = 0, largest = 0;
  for (int64_t i = 0; i < n; ++i) {
    cells += i == 0 || !found[i].SameCell(found[i - 1]);
    largest = std::max(largest, found[i].number);
  }
  if (largest == INT64_MAX)
    return absl::InvalidArgumentError(absl::StrCat("no row counts the number ", largest));
  const int64_t columns = s.vector ? 1 : 2;
  TENON_ASSIGN_OR_RETURN(void* indices, args.run_state->AllocateOutput(0, Shape({cells, columns})));
  TENON_ASSIGN_OR_RETURN(void* counts, args.run_state->AllocateOutput(1, Shape({cells})));
  auto* index = static_cast<int64_t*>(indices);
  for (int64_t begin = 0, end = 0, cell = 0; begin < n; begin = end, ++cell) {
    while (end < n && found[end].SameCell(found[begin])) ++end;
    if (!s.vector) *index++ = found[begin].row;
    *index++ = found[begin].number;
    PutCount(s, args, found + begin, found + end, counts, cell);
  }
  auto* shape = static_cast<int64_t*>(args.out[2]);
  if (!s.vector) *shape++ = rows;
  *shape = s.most >= 0 ? s.most : std::max(largest + 1, s.least);
  return absl::OkStatus();
}

absl::Status RunDense(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const CountState*>(state);
  auto* const found = static_cast<Occurrence*>(args.scratch);
  const int64_t columns = std::max<int64_t>(1, s.values / s.rows);
  const auto row_of = [&](int64_t i) { return i / columns; };
  TENON_ASSIGN_OR_RETURN(const int64_t n, Collect(s, args, row_of, found));
  return Write(s, args, s.rows, found, n);
}

absl::Status RunSparse(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const CountState*>(state);
  const absl::Span<const int64_t> shape = ShapeAt(args.in[2], s.sparse.rank);
  if (!s.vector && (shape[0] < 1 || shape[0] > INT32_MAX))
    return absl::InvalidArgumentError(absl::StrCat("there cannot be ", shape[0], " rows"));
  for (int64_t dim : shape) {
    if (dim < 0)
      return absl::InvalidArgumentError(absl::StrCat("a dimension of the dense shape is ", dim));
  }
  TENON_RETURN_IF_ERROR(CheckInside(args.in[0], s.sparse, shape));
  auto* const found = static_cast<Occurrence*>(args.scratch);
  const auto row_of = [&](int64_t i) {
    return s.vector ? 0 : EntryAt(args.in[0], s.sparse.rank, i)[0];
  };
  TENON_ASSIGN_OR_RETURN(const int64_t n, Collect(s, args, row_of, found));
  return Write(s, args, shape[0], found, n);
}

absl::Status RunRagged(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const CountState*>(state);
  const Splits splits{args.in[0], true, s.rows + 1};
  TENON_RETURN_IF_ERROR(CheckSplits(splits, s.values, 0));
  if (splits[0] != 0 || splits.back() != s.values) {
    return absl::InvalidArgumentError(absl::StrCat("the splits must lead from 0 to ", s.values,
                                                   ", the number of values, not ", "from ",
                                                   splits[0], " to ", splits.back()));
  }
  auto* const found = static_cast<Occurrence*>(args.scratch);
  int64_t row = 0;
  const auto row_of = [&](int64_t i) { return row = splits.RowOf(i, row); };
  TENON_ASSIGN_OR_RETURN(const int64_t n, Collect(s, args, row_of, found));
  return Write(s, args, s.rows, found, n);
}

absl::Status Finish(Prepare& p, std::shared_ptr<CountState> s, RunFn run) {
  const Shape &values = p.input_shape(s->values_input), &weights = p.input_shape(s->weights_input);
  TENON_ASSIGN_OR_RETURN(s->least, p.AttrInt("minlength"));
  TENON_ASSIGN_OR_RETURN(s->most, p.AttrInt("maxlength"));
  TENON_ASSIGN_OR_RETURN(s->binary, p.AttrBool("binary_output"));
  s->weighted = weights.num_elements() > 0;
  if (s->weighted && !(weights == values)) {
    return p.Invalid(absl::StrCat("the weights must have the values' shape, they have ",
                                  weights.ToString(), " and ", values.ToString()));
  }
  s->values = values.num_elements();
  s->index_type = p.input_type(s->values_input);
  s->type = p.output_type(1);
  size_t scratch = 0;
  if (__builtin_mul_overflow(static_cast<size_t>(s->values), sizeof(Occurrence), &scratch))
    return p.Invalid("the values are too many");
  p.set_dynamic_output(0);
  p.set_dynamic_output(1);
  p.set_output_shape(2, Shape({s->vector ? 1 : 2}));
  p.set_scratch_bytes(scratch);
  p.set_run(run, std::move(s));
  return absl::OkStatus();
}

absl::Status PrepareDense(Prepare& p) {
  const Shape& values = p.input_shape(0);
  auto s = std::make_shared<CountState>();
  s->vector = values.rank() == 1;
  if (values.rank() == 2) s->rows = values.dim(0);
  if ((!s->vector && values.rank() != 2) || s->rows < 1)
    return p.Invalid("the values must be a vector, or a matrix of at least one row");
  return Finish(p, std::move(s), &RunDense);
}

absl::Status PrepareSparse(Prepare& p) {
  auto s = std::make_shared<CountState>();
  TENON_ASSIGN_OR_RETURN(s->sparse, ReadSparse(p, 0, 1, 2));
  if (s->sparse.rank < 1) return p.Invalid("the dense shape must have at least one element");
  s->vector = s->sparse.rank == 1;
  s->values_input = 1;
  s->weights_input = 3;
  return Finish(p, std::move(s), &RunSparse);
}

absl::Status PrepareRagged(Prepare& p) {
  const Shape& splits = p.input_shape(0);
  if (splits.rank() != 1 || splits.dim(0) < 2)
    return p.Invalid("the splits must be a vector of at least two numbers");
  auto s = std::make_shared<CountState>();
  s->rows = splits.dim(0) - 1;
  s->values_input = 1;
  s->weights_input = 2;
  return Finish(p, std::move(s), &RunRagged);
}

}  // namespace

absl::Span<const CpuKernelSpec> CountKernels() {
  constexpr uint64_t kTypes = kIndexTypes | TypeBits(DataType::kFloat, DataType::kDouble);
  static const CpuKernelSpec specs[] = {
      {"DenseCountSparseOutput", {{"T", kIndexTypes}, {"output_type", kTypes}}, PrepareDense},
      {"SparseCountSparseOutput", {{"T", kIndexTypes}, {"output_type", kTypes}}, PrepareSparse},
      {"RaggedCountSparseOutput", {{"T", kIndexTypes}, {"output_type", kTypes}}, PrepareRagged},
  };
  return specs;
}

}  // namespace tenon::cpu
