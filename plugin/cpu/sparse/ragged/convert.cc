// Ragged tensors as sparse or dense ones: RaggedTensorToSparse, RaggedTensorToTensor.
#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/arrays/strided_copy.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/elementwise/loops/element_copy.h"
#include "plugin/cpu/sparse/ragged/splits.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct ToSparseState {
  Dims split_counts;
  Shape values;
  bool split64 = true;

  int levels() const { return static_cast<int>(split_counts.size()); }
};

// Each level must divide up all of the next one.
absl::StatusOr<std::vector<Splits>> ReadSplits(const ToSparseState& s, const StepArgs& args) {
  std::vector<Splits> splits;
  for (int level = 0; level < s.levels(); ++level) {
    splits.push_back({args.in[level], s.split64, s.split_counts[level]});
    TENON_RETURN_IF_ERROR(CheckSplits(splits[level], INT64_MAX, level));
  }
  for (int level = 0; level < s.levels(); ++level) {
    const int64_t elements = level + 1 < s.levels() ? splits[level + 1].rows() : s.values.dim(0);
    if (splits[level][0] != 0 || splits[level].back() != elements) {
      return absl::InvalidArgumentError(
          absl::StrCat("row splits (input ", level, ") must lead from 0 to ", elements,
                       ", not from ", splits[level][0], " to ", splits[level].back()));
    }
  }
  return splits;
}

void PutDenseShape(const ToSparseState& s, const std::vector<Splits>& splits, int64_t* out) {
  *out++ = splits[0].rows();
  for (const Splits& level : splits) {
    int64_t widest = 0;
    for (int64_t r = 0; r < level.rows(); ++r) widest = std::max(widest, level[r + 1] - level[r]);
    *out++ = widest;
  }
  for (int d = 1; d < s.values.rank(); ++d) *out++ = s.values.dim(d);
}

absl::Status RunToSparse(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const ToSparseState*>(state);
  TENON_ASSIGN_OR_RETURN(const std::vector<Splits> splits, ReadSplits(s, args));
  const int levels = s.levels(), rank = levels + s.values.rank();
  const int64_t piece = DimProduct(s.values, 1, s.values.rank());
  int64_t* out = static_cast<int64_t*>(args.out[0]);
  Dims row(levels, 0);  // the current one of each level
  Dims prefix(levels + 1);
  for (int64_t v = 0; v < s.values.dim(0) && piece > 0; ++v) {
    int64_t element = v;
    for (int level = levels - 1; level >= 0; --level) {
      row[level] = splits[level].RowOf(element, row[level]);
      prefix[level + 1] = element - splits[level][row[level]];
      element = row[level];
    }
    prefix[0] = element;
    for (int64_t i = 0; i < piece; ++i, out += rank) {
      std::copy(prefix.begin(), prefix.end(), out);
      int64_t rest = i;
      for (int d = s.values.rank() - 1; d > 0; --d) {
        out[levels + d] = rest % s.values.dim(d);
        rest /= s.values.dim(d);
      }
    }
  }
  PutDenseShape(s, splits, static_cast<int64_t*>(args.out[2]));
  return absl::OkStatus();
}

absl::Status PrepareToSparse(Prepare& p) {
  const int levels = p.num_inputs() - 1;
  if (levels < 1) return p.Invalid("there must be row splits");
  auto s = std::make_shared<ToSparseState>();
  for (int i = 0; i < levels; ++i) {
    if (p.input_shape(i).rank() != 1) return p.Invalid("row splits must be vectors");
    s->split_counts.push_back(p.input_shape(i).dim(0));
  }
  s->values = p.input_shape(levels);
  s->split64 = p.input_type(0) == DataType::kInt64;
  if (s->values.rank() < 1) return p.Invalid("the values must have at least one dimension");
  const int64_t count = s->values.num_elements(), rank = levels + s->values.rank();
  TENON_ASSIGN_OR_RETURN(const Shape indices, CheckedShape(p, {count, rank}));
  p.set_output_shape(0, indices);
  p.set_output_shape(1, Shape({count}));
  p.Alias(1, levels);
  p.set_output_shape(2, Shape({rank}));
  p.set_run(&RunToSparse, std::move(s));
  return absl::OkStatus();
}

enum class Partition { kValueRowIds, kRowSplits };

// One ragged dimension: which row its elements belong to.
struct Level {
  Partition partition;
  int input = 0;
  int64_t count = 0;  // of row ids or splits
};

struct ToTensorState {
  std::vector<Level> levels;     // outermost first
  bool first_dim_given = false;  // by input 3
  bool index64 = true;
  bool shape_known = false;  // else it is the least that holds the values
  Dims shape;                // as asked for, -1 where the data tell
  Shape values, element;     // an element is a row of values
  DataType type;
  Dims default_stride;  // of the default value in an element, in bytes; 0 where it repeats
};

// A level at run time.
struct LevelData {
  const Level* level;
  Splits data;                   // or row ids
  std::vector<int64_t> start;    // of row ids: the first element of the same row
  int64_t size = 0, stride = 0;  // of its dimension in the result
  int64_t hint = 0;

  int64_t elements() const {
    return level->partition == Partition::kRowSplits ? data.back() : data.count;
  }
};

int64_t WidestRow(const LevelData& l) {
  int64_t widest = 0;
  if (l.level->partition == Partition::kRowSplits) {
    for (int64_t r = 0; r < l.data.rows(); ++r)
      widest = std::max(widest, l.data[r + 1] - l.data[r]);
  } else {
    for (int64_t i = 0, first = 0; i < l.data.count; ++i) {
      if (l.data[i] != l.data[first]) first = i;
      widest = std::max(widest, i + 1 - first);
    }
  }
  return widest;
}

// Checks that elements lie in one of `rows` rows, and remembers where runs of row ids start.
absl::Status CheckLevel(LevelData* l, int64_t rows) {
  const int input = l->level->input;
  if (l->level->partition == Partition::kRowSplits) {
    TENON_RETURN_IF_ERROR(CheckSplits(l->data, INT64_MAX, input));
    if (l->data[0] == 0 && l->data.rows() <= rows) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("row splits (input ", input, ") must start at 0, not ", l->data[0],
                     ", and have at most ", rows, " rows, not ", l->data.rows()));
  }
  l->start.resize(l->data.count);
  for (int64_t i = 0; i < l->data.count; ++i) {
    const int64_t row = l->data[i];
    if (row < 0 || row >= rows) {
      return absl::InvalidArgumentError(
          absl::StrCat("row id ", i, " (input ", input, ") is ", row, ", not in [0, ", rows, ")"));
    }
    l->start[i] = i > 0 && l->data[i - 1] == row ? l->start[i - 1] : i;
  }
  return absl::OkStatus();
}

// Where element `i` of the innermost level goes in the result; -1: nowhere.
int64_t PlaceOf(std::vector<LevelData>& levels, int64_t i, int64_t rows, int64_t row_stride) {
  int64_t place = 0;
  for (size_t k = levels.size(); k-- > 0;) {
    LevelData& l = levels[k];
    if (i >= l.elements()) return -1;
    int64_t column = 0;
    if (l.level->partition == Partition::kRowSplits) {
      l.hint = l.data.RowOf(i, l.hint);
      column = i - l.data[l.hint];
      i = l.hint;
    } else {
      column = i - l.start[i];
      i = l.data[i];
    }
    if (column >= l.size) return -1;
    place += column * l.stride;
  }
  return i < rows ? place + i * row_stride : -1;
}

// The rows of the outermost dimension.
int64_t CountRows(const ToTensorState& s, const StepArgs& args) {
  return s.first_dim_given ? LoadIndex(args.in[3], s.index64, 0) : s.levels[0].count - 1;
}

// The result's shape, of which asked-for dimensions of -1 come from the data.
absl::StatusOr<Shape> FindShape(const ToTensorState& s, const std::vector<LevelData>& levels,
                                int64_t rows) {
  const auto asked = [&](size_t d) { return s.shape_known ? s.shape[d] : -1; };
  Dims dims = {asked(0) >= 0 ? asked(0) : rows};
  for (size_t k = 0; k < levels.size(); ++k)
    dims.push_back(asked(k + 1) >= 0 ? asked(k + 1) : WidestRow(levels[k]));
  dims.insert(dims.end(), s.element.dims().begin(), s.element.dims().end());
  return Shape::Make(dims);
}

void FillWithDefault(const ToTensorState& s, int64_t elements, const StepArgs& args, void* out) {
  const int64_t bytes = static_cast<int64_t>(DataTypeSize(s.type));
  const Dims to = DenseStrides(s.element, bytes);
  StridedCopy fill(s.type);
  fill.AddDim(elements, 0, s.element.num_elements() * bytes);
  for (int d = 0; d < s.element.rank(); ++d)
    fill.AddDim(s.element.dim(d), s.default_stride[d], to[d]);
  fill.Finish();
  fill.Run(args.in[2], out, args.workers);
}

absl::Status RunToTensor(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const ToTensorState*>(state);
  const int64_t rows = CountRows(s, args);
  if (rows < 0) return absl::InvalidArgumentError(absl::StrCat("there cannot be ", rows, " rows"));
  std::vector<LevelData> levels;
  int64_t elements = rows;
  for (const Level& level : s.levels) {
    levels.push_back({&level, {args.in[level.input], s.index64, level.count}, {}});
    TENON_RETURN_IF_ERROR(CheckLevel(&levels.back(), elements));
    elements = levels.back().elements();
  }
  if (!levels.empty() && elements > s.values.dim(0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the rows hold ", elements, " values, given are ", s.values.dim(0)));
  }
  TENON_ASSIGN_OR_RETURN(const Shape shape, FindShape(s, levels, rows));
  TENON_ASSIGN_OR_RETURN(void* out, args.run_state->AllocateOutput(0, shape));
  if (shape.num_elements() == 0) return absl::OkStatus();
  int64_t stride = 1;
  for (size_t k = levels.size(); k-- > 0; stride *= levels[k].size) {
    levels[k].size = shape.dim(static_cast<int>(k) + 1);
    levels[k].stride = stride;
  }
  const int64_t piece = s.element.num_elements();
  FillWithDefault(s, shape.num_elements() / piece, args, out);
  const ElementCopy copy(s.type);
  for (int64_t i = 0; i < s.values.dim(0); ++i) {
    const int64_t place = PlaceOf(levels, i, std::min(rows, shape.dim(0)), stride);
    if (place >= 0) copy(args.in[1], i * piece, out, place * piece, piece);
  }
  return absl::OkStatus();
}

absl::Status ReadPartitions(const Prepare& p, ToTensorState* s) {
  TENON_ASSIGN_OR_RETURN(const std::vector<std::string_view> names,
                         p.AttrStringList("row_partition_types"));
  if (names.empty() || static_cast<int>(names.size()) > p.num_inputs() - 3)
    return p.Invalid("there must be a row partition tensor for each of 'row_partition_types'");
  for (size_t k = 0; k < names.size(); ++k) {
    const int input = static_cast<int>(k) + 3;
    const Shape& shape = p.input_shape(input);
    if (k == 0 && names[k] == "FIRST_DIM_SIZE") {
      if (shape.num_elements() != 1) return p.Invalid("FIRST_DIM_SIZE must be a scalar");
      s->first_dim_given = true;
      continue;
    }
    if (shape.rank() != 1) return p.Invalid("row partitions must be vectors");
    if (names[k] == "ROW_SPLITS") {
      if (shape.dim(0) < 1) return p.Invalid("row splits must not be empty");
      s->levels.push_back({Partition::kRowSplits, input, shape.dim(0)});
    } else if (names[k] == "VALUE_ROWIDS" && k > 0) {
      s->levels.push_back({Partition::kValueRowIds, input, shape.dim(0)});
    } else {
      return p.Invalid(absl::StrCat(
          "row partition ", k, " cannot be ", names[k],
          k == 0 ? "; FIRST_DIM_SIZE and ROW_SPLITS can" : "; ROW_SPLITS and VALUE_ROWIDS can"));
    }
  }
  return absl::OkStatus();
}

// The shape asked for, which the values must fit; -1, a scalar, asks for nothing.
absl::Status ReadAskedShape(const Prepare& p, ToTensorState* s) {
  TENON_ASSIGN_OR_RETURN(s->shape, p.InputInts(0));
  if (p.input_shape(0).rank() == 0) {
    if (s->shape[0] == -1) return absl::OkStatus();
    return p.Invalid(absl::StrCat("a scalar 'shape' must be -1, it is ", s->shape[0]));
  }
  s->shape_known = true;
  const size_t ragged = s->levels.size() + 1;
  if (s->shape.size() != ragged + s->element.rank()) {
    return p.Invalid(absl::StrCat("'shape' must have ", ragged + s->element.rank(),
                                  " elements, it has ", s->shape.size()));
  }
  for (size_t d = 0; d < s->shape.size(); ++d) {
    if (s->shape[d] < -1)
      return p.Invalid(absl::StrCat("shape[", d, "] must not be ", s->shape[d]));
    if (d < ragged || s->shape[d] == -1) continue;
    const int64_t dim = s->element.dim(static_cast<int>(d - ragged));
    if (s->shape[d] != dim) {
      return p.Invalid(
          absl::StrCat("shape[", d, "] is ", s->shape[d], ", that of the values ", dim));
    }
  }
  return absl::OkStatus();
}

// The default value's dimensions are the last of an element's, or 1.
absl::Status ReadDefault(const Prepare& p, ToTensorState* s) {
  const Shape& value = p.input_shape(2);
  const Shape& element = s->element;
  const int missing = element.rank() - value.rank();
  bool fits = missing >= 0;
  const Dims from = DenseStrides(value, static_cast<int64_t>(DataTypeSize(s->type)));
  for (int d = 0; fits && d < element.rank(); ++d) {
    const int own = d - missing;
    const bool repeats = own < 0 || value.dim(own) == 1;
    fits = repeats || value.dim(own) == element.dim(d);
    s->default_stride.push_back(repeats ? 0 : from[own]);
  }
  if (!fits) {
    return p.Invalid(absl::StrCat("the default value's shape ", value.ToString(),
                                  " does not broadcast to ", element.ToString()));
  }
  return absl::OkStatus();
}

absl::Status PrepareToTensor(Prepare& p) {
  auto s = std::make_shared<ToTensorState>();
  s->type = p.input_type(1);
  TENON_RETURN_IF_ERROR(ReadPartitions(p, s.get()));
  s->values = p.input_shape(1);
  if (s->values.rank() < 1) return p.Invalid("the values must have at least one dimension");
  s->element = Shape(s->values.dims().subspan(1));
  s->index64 = p.input_type(3) == DataType::kInt64;
  TENON_RETURN_IF_ERROR(ReadAskedShape(p, s.get()));
  TENON_RETURN_IF_ERROR(ReadDefault(p, s.get()));
  p.set_dynamic_output(0);
  p.set_run(&RunToTensor, std::move(s));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> RaggedConvertKernels() {
  static const CpuKernelSpec specs[] = {
      {"RaggedTensorToSparse", {{"T", kCopyTypes}}, PrepareToSparse},
      {"RaggedTensorToTensor", {{"T", kCopyTypes}}, PrepareToTensor, 0b1},
  };
  return specs;
}

}  // namespace tenon::cpu
