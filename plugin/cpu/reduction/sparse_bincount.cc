// RaggedBincount and SparseBincount: for each row, how often each number stands in it, or the sum
// of its weights.
#include <cstring>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/sparse/ragged/splits.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct SparseBincount {
  int64_t rows = 1, values = 0, bins = 0;
  int64_t rank = 1;  // of a sparse tensor: numbers in a row of its indices
  DataType index_type, type;
  bool weighted = false;
  bool binary = false;  // whether a number is there, not how often
  int values_input = 1, weights_input = 3;
};

// Counts value i in this row. Sums of integer weights wrap around.
absl::Status Count(const SparseBincount& s, const StepArgs& args, int64_t row, int64_t i) {
  const int64_t bin = LoadIndex(args.in[s.values_input], s.index_type, i);
  if (bin < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("the numbers must not be negative, number ", i, " is ", bin));
  }
  if (bin >= s.bins) return absl::OkStatus();
  const int64_t at = row * s.bins + bin;
  VisitReal(s.type, [&](auto element, auto) {
    using Wide = typename decltype(element)::Wide;
    const Wide weight =
        s.weighted && !s.binary ? element.template As<Wide>(args.in[s.weights_input], i) : Wide{1};
    const Wide before = s.binary ? Wide{0} : element.template As<Wide>(args.out[0], at);
    element.Put(args.out[0], at, before + weight);
  });
  return absl::OkStatus();
}

void Clear(const SparseBincount& s, const StepArgs& args) {
  std::memset(args.out[0], 0, s.rows * s.bins * DataTypeSize(s.type));
}

absl::Status RunRagged(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const SparseBincount*>(state);
  const Splits splits{args.in[0], true, s.rows + 1};
  TENON_RETURN_IF_ERROR(CheckSplits(splits, s.values, 0));
  if (splits[0] != 0 || splits.back() != s.values) {
    return absl::InvalidArgumentError(
        absl::StrCat("the splits must lead from 0 to the number of "
                     "values ",
                     s.values, ", not from ", splits[0], " to ", splits.back()));
  }
  Clear(s, args);
  for (int64_t row = 0; row < s.rows; ++row) {
    for (int64_t i = splits[row]; i < splits[row + 1]; ++i)
      TENON_RETURN_IF_ERROR(Count(s, args, row, i));
  }
  return absl::OkStatus();
}

absl::Status RunSparse(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const SparseBincount*>(state);
  const auto* const indices = static_cast<const int64_t*>(args.in[0]);
  Clear(s, args);
  for (int64_t i = 0; i < s.values; ++i) {
    // A sparse vector is one row: its index says where a value stands, which does not matter.
    const int64_t row = s.rank == 1 ? 0 : indices[i * s.rank];
    if (row < 0 || row >= s.rows) {
      return absl::InvalidArgumentError(
          absl::StrCat("index ", i, " is in row ", row, ", outside of [0, ", s.rows, ")"));
    }
    TENON_RETURN_IF_ERROR(Count(s, args, row, i));
  }
  return absl::OkStatus();
}

// `size` is the input that says how many bins, behind it are the weights.
absl::Status FinishBincount(Prepare& p, std::shared_ptr<SparseBincount> s, int size, bool vector,
                            RunFn run) {
  const Shape &values = p.input_shape(s->values_input), &weights = p.input_shape(size + 1);
  if (values.rank() != 1) return p.Invalid("the values must be a vector");
  // More weights than values are left over, as in TensorFlow.
  if (weights.num_elements() != 0 && weights.num_elements() < values.num_elements())
    return p.Invalid("there must be one weight per value, or none");
  if (p.input_shape(size).rank() != 0) return p.Invalid("the number of bins must be a scalar");
  TENON_ASSIGN_OR_RETURN(s->bins, InputInt(p, size));
  if (s->bins < 0)
    return p.Invalid(absl::StrCat("the number of bins must not be negative, it is ", s->bins));
  TENON_ASSIGN_OR_RETURN(s->binary, p.AttrBool("binary_output"));
  s->values = values.num_elements();
  s->weights_input = size + 1;
  s->weighted = weights.num_elements() > 0;
  s->index_type = p.input_type(s->values_input);
  s->type = p.output_type(0);
  TENON_ASSIGN_OR_RETURN(const Shape out,
                         vector ? CheckedShape(p, {s->bins}) : CheckedShape(p, {s->rows, s->bins}));
  p.set_output_shape(0, out);
  p.set_run(run, std::move(s));
  return absl::OkStatus();
}

absl::Status PrepareRagged(Prepare& p) {
  const Shape& splits = p.input_shape(0);
  if (splits.rank() != 1 || splits.dim(0) < 1)
    return p.Invalid("the splits must be a vector of at least one number");
  auto s = std::make_shared<SparseBincount>();
  s->rows = splits.dim(0) - 1;
  return FinishBincount(p, std::move(s), 2, false, &RunRagged);
}

absl::Status PrepareSparse(Prepare& p) {
  const Shape& indices = p.input_shape(0);
  TENON_ASSIGN_OR_RETURN(const Dims dense, p.InputInts(2));
  if (dense.empty() || dense.size() > 2)
    return p.Invalid(absl::StrCat("the sparse tensor must have rank 1 or 2, not ", dense.size()));
  auto s = std::make_shared<SparseBincount>();
  s->rank = static_cast<int64_t>(dense.size());
  if (indices.rank() != 2 || indices.dim(1) != s->rank ||
      indices.dim(0) != p.input_shape(1).num_elements()) {
    return p.Invalid(absl::StrCat("the indices ", indices.ToString(), " must have a row of ",
                                  s->rank, " for each value"));
  }
  if (s->rank == 2) s->rows = dense[0];
  return FinishBincount(p, std::move(s), 3, dense.size() == 1, &RunSparse);
}

constexpr uint64_t kCountTypes = kIndexTypes | TypeBits(DataType::kFloat, DataType::kDouble);

}  // namespace

absl::Span<const CpuKernelSpec> SparseBincountKernels() {
  static const CpuKernelSpec specs[] = {
      {"RaggedBincount", {{"T", kCountTypes}, {"Tidx", kIndexTypes}}, PrepareRagged, 0b100},
      {"SparseBincount", {{"T", kCountTypes}, {"Tidx", kIndexTypes}}, PrepareSparse, 0b1100},
  };
  return specs;
}

}  // namespace tenon::cpu
