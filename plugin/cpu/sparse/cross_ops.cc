// SparseCross, SparseCrossV2, SparseCrossHashed and RaggedCross.
#include <farmhash.h>
#include <highwayhash/sip_hash.h>

#include <algorithm>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/string_element.h"
#include "plugin/cpu/base/whole_tensor.h"
#include "plugin/cpu/sparse/cross.h"
#include "plugin/cpu/sparse/ragged/splits.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct CrossState : NodeFacts {
  explicit CrossState(const Prepare& p) : NodeFacts(p) {}
  int sparse = 0, dense = 0, ragged = 0;  // columns of each kind
  bool hashed = false;
  bool all_strings = false;  // integers are refused
  int64_t buckets = 0;
  uint64_t key = 0;
  std::string order;  // of the columns of RaggedCross: R, S and D
};

// All columns must have as many rows.
absl::Status Agree(std::optional<int64_t>& rows, int64_t own) {
  if (!rows.has_value()) rows = own;
  if (*rows == own) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("all columns must have as many rows, but there are ", *rows, " and ", own));
}

// Input `values` with matrix `indices` and vector `shape`. Row r ends before the first entry that
// `ends` there.
absl::StatusOr<CrossColumn> SparseColumn(const StepArgs& args, int indices, int values, int shape,
                                         std::optional<int64_t>& rows,
                                         bool (*ends)(int64_t row_of_entry, int64_t row)) {
  const Tensor places = args.run_state->Input(indices), dense = args.run_state->Input(shape);
  CrossColumn column{args.run_state->Input(values), {0}};
  const Shape& size = places.shape();
  if (size.rank() != 2 || size.dim(1) != 2 || column.values.shape().rank() != 1 ||
      column.values.num_elements() != size.dim(0) || !(dense.shape() == Shape({2}))) {
    return absl::InvalidArgumentError(
        absl::StrCat("indices ", size.ToString(), ", values ", column.values.shape().ToString(),
                     " and shape ", dense.shape().ToString(), " are no sparse tensor of rank 2"));
  }
  TENON_RETURN_IF_ERROR(Agree(rows, dense.IntAt(0)));
  if (*rows < 0 || *rows > INT32_MAX)
    return absl::InvalidArgumentError(absl::StrCat("there cannot be ", *rows, " rows"));
  int64_t i = 0;
  for (int64_t r = 0; r < *rows; ++r) {
    while (i < size.dim(0) && !ends(places.flat<int64_t>()[2 * i], r)) ++i;
    column.starts.push_back(i);
  }
  return column;
}

absl::StatusOr<CrossColumn> DenseInput(const StepArgs& args, int i, std::optional<int64_t>& rows) {
  const Tensor matrix = args.run_state->Input(i);
  if (matrix.shape().rank() != 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("input ", i, " must be a matrix, its shape is ", matrix.shape().ToString()));
  }
  TENON_RETURN_IF_ERROR(Agree(rows, matrix.shape().dim(0)));
  return DenseColumn(matrix);
}

struct Columns {
  std::vector<CrossColumn> columns;
  int64_t rows = 0;
};

// Those of the SparseCross ops: all indices, all values, all shapes, then dense matrices.
absl::StatusOr<Columns> ReadColumns(const CrossState& s, const StepArgs& args) {
  Columns read;
  std::optional<int64_t> rows;
  // An entry of any other row ends a row, as in TensorFlow; for unsorted entries this differs from
  // RaggedCross's rule.
  const auto ends = [](int64_t row_of_entry, int64_t row) { return row_of_entry != row; };
  for (int i = 0; i < s.sparse; ++i) {
    TENON_ASSIGN_OR_RETURN(CrossColumn column,
                           SparseColumn(args, i, s.sparse + i, 2 * s.sparse + i, rows, ends));
    read.columns.push_back(std::move(column));
  }
  for (int i = 0; i < s.dense; ++i) {
    TENON_ASSIGN_OR_RETURN(CrossColumn column, DenseInput(args, 3 * s.sparse + i, rows));
    read.columns.push_back(std::move(column));
  }
  for (const CrossColumn& column : read.columns) {
    if (s.all_strings && !column.strings())
      return absl::InvalidArgumentError("the columns must hold strings, one holds int64");
  }
  read.rows = rows.value_or(0);
  return read;
}

// The crosses as a sparse tensor; put(out, at, chosen) writes one.
absl::Status WriteSparse(
    const Columns& read, const StepArgs& args,
    absl::FunctionRef<void(void* out, int64_t at, const std::vector<int64_t>& chosen)> put) {
  TENON_ASSIGN_OR_RETURN(const CrossSizes sizes, CountCrosses(read.columns, read.rows));
  TENON_ASSIGN_OR_RETURN(void* places,
                         args.run_state->AllocateOutput(0, Shape({sizes.total(), 2})));
  TENON_ASSIGN_OR_RETURN(void* values, args.run_state->AllocateOutput(1, Shape({sizes.total()})));
  TENON_ASSIGN_OR_RETURN(void* shape, args.run_state->AllocateOutput(2, Shape({2})));
  auto* place = static_cast<int64_t*>(places);
  for (int64_t r = 0; r < read.rows; ++r) {
    for (int64_t k = 0; k < sizes.starts[r + 1] - sizes.starts[r]; ++k) {
      *place++ = r;
      *place++ = k;
    }
  }
  static_cast<int64_t*>(shape)[0] = read.rows;
  static_cast<int64_t*>(shape)[1] = sizes.most;
  ForEachCross(read.columns, sizes,
               [&](int64_t at, const std::vector<int64_t>& chosen) { put(values, at, chosen); });
  return absl::OkStatus();
}

constexpr std::string_view kSeparator = "_X_";

absl::Status RunCross(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const CrossState*>(state);
  TENON_ASSIGN_OR_RETURN(const Columns read, ReadColumns(s, args));
  return WriteSparse(read, args, [&](void* out, int64_t at, const std::vector<int64_t>& chosen) {
    if (s.hashed) {
      static_cast<int64_t*>(out)[at] =
          BucketOf(CrossFingerprint(read.columns, chosen, s.key), s.buckets);
    } else {
      PutString(out, at, JoinCross(read.columns, chosen, kSeparator));
    }
  });
}

absl::Status RunCrossV2(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const CrossState*>(state);
  TENON_ASSIGN_OR_RETURN(const Columns read, ReadColumns(s, args));
  const Tensor separator = args.run_state->Input(static_cast<int>(s.inputs.size()) - 1);
  if (separator.shape().rank() != 0) return absl::InvalidArgumentError("'sep' must be a scalar");
  const std::string_view between = StringAt(separator.data(), 0);
  return WriteSparse(read, args, [&](void* out, int64_t at, const std::vector<int64_t>& chosen) {
    PutString(out, at, JoinCross(read.columns, chosen, between));
  });
}

// As TensorFlow: of integers, the first four bytes are hashed; of dense ones none, unless strongly.
uint64_t HashOf(const CrossColumn& column, int64_t i, bool strong,
                const highwayhash::HH_U64* salt) {
  constexpr size_t kHashedBytes = 4;
  if (!strong && column.dense && !column.strings()) return column.Fingerprint(i);
  const std::string_view bytes =
      column.strings()
          ? column.StringOf(i)
          : std::string_view(reinterpret_cast<const char*>(column.values.flat<int64_t>() + i),
                             kHashedBytes);
  if (!strong) return util::Fingerprint64(bytes.data(), bytes.size());
  const highwayhash::HH_U64 key[2] = {salt[0], salt[1]};
  return highwayhash::SipHash(key, bytes.data(), bytes.size());
}

absl::Status RunCrossHashed(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const CrossState*>(state);
  TENON_ASSIGN_OR_RETURN(const Columns read, ReadColumns(s, args));
  const int last = static_cast<int>(s.inputs.size()) - 1;
  const Tensor buckets = args.run_state->Input(last - 2), strong = args.run_state->Input(last - 1),
               salt = args.run_state->Input(last);
  if (buckets.shape().rank() != 0 || strong.shape().rank() != 0 || !(salt.shape() == Shape({2})))
    return absl::InvalidArgumentError(
        "'num_buckets' and 'strong_hash' must be scalars, 'salt' must hold two numbers");
  const highwayhash::HH_U64 key[2] = {static_cast<uint64_t>(salt.IntAt(0)),
                                      static_cast<uint64_t>(salt.IntAt(1))};
  const bool strongly = *strong.flat<bool>();
  return WriteSparse(read, args, [&](void* out, int64_t at, const std::vector<int64_t>& chosen) {
    uint64_t hash = 0;
    for (size_t c = 0; c < chosen.size(); ++c) {
      const uint64_t own = HashOf(read.columns[c], chosen[c], strongly, key);
      hash = c == 0 ? own : JoinFingerprints(hash, own);
    }
    static_cast<int64_t*>(out)[at] = BucketOf(hash, buckets.IntAt(0));
  });
}

absl::StatusOr<CrossColumn> RaggedColumn(const StepArgs& args, int values, int splits_input,
                                         std::optional<int64_t>& rows) {
  const Tensor row_splits = args.run_state->Input(splits_input);
  CrossColumn column{args.run_state->Input(values)};
  if (column.values.shape().rank() != 1 || row_splits.shape().rank() != 1 ||
      row_splits.num_elements() < 1) {
    return absl::InvalidArgumentError("ragged columns must have rank 2, with at least one split");
  }
  const Splits splits{row_splits.data(), row_splits.dtype() == DataType::kInt64,
                      row_splits.num_elements()};
  const int64_t count = column.values.num_elements();
  TENON_RETURN_IF_ERROR(CheckSplits(splits, count, splits_input));
  if (splits[0] != 0 || splits.back() != count) {
    return absl::InvalidArgumentError(absl::StrCat("the splits (input ", splits_input,
                                                   ") must lead from 0 to ", count, ", not from ",
                                                   splits[0], " to ", splits.back()));
  }
  for (int64_t i = 0; i < splits.count; ++i) column.starts.push_back(splits[i]);
  TENON_RETURN_IF_ERROR(Agree(rows, splits.rows()));
  return column;
}

// Values and splits of ragged columns; indices, values and shapes of sparse ones; dense matrices.
absl::StatusOr<Columns> ReadRaggedColumns(const CrossState& s, const StepArgs& args) {
  std::vector<CrossColumn> ragged, sparse, dense;
  std::optional<int64_t> rows;
  for (int i = 0; i < s.ragged; ++i) {
    TENON_ASSIGN_OR_RETURN(CrossColumn column, RaggedColumn(args, i, s.ragged + i, rows));
    ragged.push_back(std::move(column));
  }
  const int first = 2 * s.ragged;
  const auto ends = [](int64_t row_of_entry, int64_t row) { return row_of_entry > row; };
  for (int i = 0; i < s.sparse; ++i) {
    TENON_ASSIGN_OR_RETURN(CrossColumn column, SparseColumn(args, first + i, first + s.sparse + i,
                                                            first + 2 * s.sparse + i, rows, ends));
    sparse.push_back(std::move(column));
  }
  for (int i = 0; i < s.dense; ++i) {
    TENON_ASSIGN_OR_RETURN(CrossColumn column, DenseInput(args, first + 3 * s.sparse + i, rows));
    dense.push_back(std::move(column));
  }
  Columns read;
  size_t taken[3] = {};
  for (char kind : s.order) {
    const int k = kind == 'R' ? 0 : kind == 'S' ? 1 : 2;
    std::vector<CrossColumn>& of_kind = k == 0 ? ragged : k == 1 ? sparse : dense;
    if (taken[k] == of_kind.size())
      return absl::InvalidArgumentError("'input_order' names more columns than there are");
    read.columns.push_back(of_kind[taken[k]++]);
  }
  read.rows = rows.value_or(0);
  return read;
}

absl::Status RunRaggedCross(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const CrossState*>(state);
  TENON_ASSIGN_OR_RETURN(const Columns read, ReadRaggedColumns(s, args));
  TENON_ASSIGN_OR_RETURN(const CrossSizes sizes, CountCrosses(read.columns, read.rows));
  const bool is64 = s.outputs[1] == DataType::kInt64;
  if (!is64 && sizes.total() > INT32_MAX) {
    return absl::InvalidArgumentError(
        absl::StrCat(sizes.total(), " crosses are too many for int32 row splits"));
  }
  TENON_ASSIGN_OR_RETURN(void* values, args.run_state->AllocateOutput(0, Shape({sizes.total()})));
  TENON_ASSIGN_OR_RETURN(void* splits, args.run_state->AllocateOutput(1, Shape({read.rows + 1})));
  for (int64_t r = 0; r <= read.rows; ++r) StoreIndex(splits, is64, r, sizes.starts[r]);
  ForEachCross(read.columns, sizes, [&](int64_t at, const std::vector<int64_t>& chosen) {
    if (s.hashed) {
      static_cast<int64_t*>(values)[at] =
          BucketOf(CrossFingerprint(read.columns, chosen, s.key), s.buckets);
    } else {
      PutString(values, at, JoinCross(read.columns, chosen, kSeparator));
    }
  });
  return absl::OkStatus();
}

absl::Status SetRun(Prepare& p, std::shared_ptr<CrossState> s, RunFn run) {
  for (int i = 0; i < p.num_outputs(); ++i) p.set_dynamic_output(i);
  p.set_run(run, std::move(s));
  return absl::OkStatus();
}

// Three inputs for each sparse column, one for each dense one, and `others`.
absl::StatusOr<std::shared_ptr<CrossState>> MakeState(const Prepare& p, int others) {
  auto s = std::make_shared<CrossState>(p);
  TENON_ASSIGN_OR_RETURN(const int64_t sparse, p.AttrInt("N"));
  s->sparse = static_cast<int>(sparse);
  s->dense = p.num_inputs() - 3 * s->sparse - others;
  if (s->dense < 0) return p.Invalid("'sparse_types' must name as many types as 'N' says");
  return s;
}

absl::Status ReadHash(const Prepare& p, CrossState& s) {
  TENON_ASSIGN_OR_RETURN(s.hashed, p.AttrBool("hashed_output"));
  TENON_ASSIGN_OR_RETURN(s.buckets, p.AttrInt("num_buckets"));
  TENON_ASSIGN_OR_RETURN(const int64_t key, p.AttrInt("hash_key"));
  s.key = static_cast<uint64_t>(key);
  const DataType wanted = s.hashed ? DataType::kInt64 : DataType::kString;
  if (p.output_type(p.num_outputs() == 3 ? 1 : 0) == wanted) return absl::OkStatus();
  return p.Invalid(
      absl::StrCat("with hashed_output ", s.hashed, " the crosses are ", DataTypeName(wanted)));
}

absl::Status PrepareCross(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<CrossState> s, MakeState(p, 0));
  TENON_ASSIGN_OR_RETURN(const DataType internal, p.AttrType("internal_type"));
  s->all_strings = internal == DataType::kString;
  TENON_RETURN_IF_ERROR(ReadHash(p, *s));
  return SetRun(p, std::move(s), &RunCross);
}

absl::Status PrepareCrossV2(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<CrossState> s, MakeState(p, 1));
  return SetRun(p, std::move(s), &RunCrossV2);
}

absl::Status PrepareCrossHashed(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<CrossState> s, MakeState(p, 3));
  return SetRun(p, std::move(s), &RunCrossHashed);
}

absl::Status PrepareRaggedCross(Prepare& p) {
  auto s = std::make_shared<CrossState>(p);
  TENON_ASSIGN_OR_RETURN(const int64_t sparse, p.AttrInt("Nsparse"));
  TENON_ASSIGN_OR_RETURN(const std::string_view order, p.AttrString("input_order"));
  s->order = order;
  s->sparse = static_cast<int>(sparse);
  for (char kind : order) {
    s->ragged += kind == 'R';
    s->dense += kind == 'D';
    if (!absl::StrContains("RSD", kind))
      return p.Invalid(absl::StrCat("'input_order' must be made of R, S and D, it is ", order));
  }
  if (p.num_inputs() != 2 * s->ragged + 3 * s->sparse + s->dense)
    return p.Invalid(absl::StrCat("'input_order' ", order, " does not fit the inputs"));
  TENON_RETURN_IF_ERROR(ReadHash(p, *s));
  return SetRun(p, std::move(s), &RunRaggedCross);
}

}  // namespace

absl::Span<const CpuKernelSpec> ColumnCrossKernels() {
  static const CpuKernelSpec specs[] = {
      WholeTensorKernel("SparseCross", "out_type", kEveryType, PrepareCross),
      WholeTensorKernel("SparseCrossV2", PrepareCrossV2),
      WholeTensorKernel("SparseCrossHashed", PrepareCrossHashed),
      WholeTensorKernel("RaggedCross", "out_row_splits_type", kEveryType, PrepareRaggedCross),
  };
  return specs;
}

}  // namespace tenon::cpu
