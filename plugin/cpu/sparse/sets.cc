// Sets of values in the rows of dense or sparse tensors: DenseToDense-, DenseToSparse- and
// SparseToSparseSetOperation, SetSize.
#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/elementwise/loops/element_copy.h"
#include "plugin/cpu/sparse/coordinates.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"
#include "tensorflow/c/tf_tstring.h"

namespace tenon::cpu {
namespace {

// Where one operand stands among the inputs: a dense tensor, or the three parts of a sparse one.
struct Operand {
  bool sparse = false;
  int input = 0;      // of the dense tensor, or of the indices
  SparseSizes sizes;  // of the sparse tensor
  Shape shape;        // of the dense tensor
  bool validate = true;
};

absl::StatusOr<Operand> ReadOperand(const Prepare& p, bool sparse, int input) {
  Operand o;
  o.sparse = sparse;
  o.input = input;
  TENON_ASSIGN_OR_RETURN(o.validate, p.AttrBool("validate_indices"));
  if (sparse) {
    TENON_ASSIGN_OR_RETURN(o.sizes, ReadSparse(p, input, input + 1, input + 2));
  } else {
    o.shape = p.input_shape(input);
  }
  if ((sparse ? o.sizes.rank : o.shape.rank()) < 2)
    return p.Invalid("sets are the rows of tensors of at least 2 dimensions");
  return o;
}

absl::Span<const int64_t> ShapeOf(const Operand& o, const StepArgs& args) {
  return o.sparse ? ShapeAt(args.in[o.input + 2], o.sizes.rank) : o.shape.dims();
}

int64_t ElementAt(const void* values, DataType type, int64_t i, int64_t) {
  return LoadIndex(values, type, i);
}
std::string_view ElementAt(const void* values, DataType, int64_t i, std::string_view) {
  const auto* s = static_cast<const TF_TString*>(values) + i;
  return {TF_TString_GetDataPointer(s), TF_TString_GetSize(s)};
}

// A value of a set and where it stands among the operand's values.
template <typename T>
struct Member {
  T value;
  int64_t at;
  bool operator<(const Member& other) const { return value < other.value; }
  bool operator==(const Member& other) const { return value == other.value; }
};

// The rows of an operand that have values, in order; rows are numbered over all dimensions but the
// last.
template <typename T>
class Rows {
 public:
  absl::Status Read(const Operand& o, DataType type, const StepArgs& args) {
    type_ = type;
    values_ = args.in[o.sparse ? o.input + 1 : o.input];
    if (!o.sparse) {
      row_size_ = o.shape.dim(o.shape.rank() - 1);
      count_ = o.shape.num_elements();
      return absl::OkStatus();
    }
    count_ = o.sizes.count;
    return Place(o, args);
  }

  bool done() const { return next_ == count_; }
  int64_t row() const { return RowOf(next_); }
  // The current row's values, sorted, each once; goes on to the next row.
  void Take(std::vector<Member<T>>* set) {
    set->clear();
    for (const int64_t row = RowOf(next_); next_ < count_ && RowOf(next_) == row; ++next_) {
      const int64_t at = order_.empty() ? next_ : order_[next_];
      set->push_back({ElementAt(values_, type_, at, T()), at});
    }
    std::sort(set->begin(), set->end());
    set->erase(std::unique(set->begin(), set->end()), set->end());
  }

 private:
  int64_t RowOf(int64_t i) const { return order_.empty() ? i / row_size_ : rows_[order_[i]]; }

  // Without validation entries may be unordered, but not outside of the shape.
  absl::Status Place(const Operand& o, const StepArgs& args) {
    const void* indices = args.in[o.input];
    const absl::Span<const int64_t> shape = ShapeOf(o, args);
    TENON_RETURN_IF_ERROR(o.validate ? CheckSorted(indices, o.sizes, shape)
                                     : CheckInside(indices, o.sizes, shape));
    order_.resize(count_);
    rows_.resize(count_);
    SortEntries(indices, o.sizes, order_.data());
    for (int64_t i = 0; i < count_; ++i) {
      const absl::Span<const int64_t> entry = EntryAt(indices, o.sizes.rank, i);
      for (int d = 0; d + 1 < o.sizes.rank; ++d) rows_[i] = rows_[i] * shape[d] + entry[d];
    }
    return absl::OkStatus();
  }

  DataType type_;
  const void* values_ = nullptr;
  int64_t count_ = 0, next_ = 0, row_size_ = 1;
  std::vector<int64_t> order_, rows_;  // of sparse operands: entries in order, and their rows
};

enum class SetOperation { kAMinusB, kBMinusA, kIntersection, kUnion };

struct SetState {
  Operand a, b;
  SetOperation operation;
  DataType type;
};

template <typename T>
using Set = std::vector<Member<T>>;

template <typename T>
void Apply(SetOperation operation, const Set<T>& a, const Set<T>& b, Set<T>* out) {
  const auto end = std::back_inserter(*out);
  out->clear();
  switch (operation) {
    case SetOperation::kAMinusB:
      std::set_difference(a.begin(), a.end(), b.begin(), b.end(), end);
      return;
    case SetOperation::kBMinusA:
      std::set_difference(b.begin(), b.end(), a.begin(), a.end(), end);
      return;
    case SetOperation::kIntersection:
      std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), end);
      return;
    case SetOperation::kUnion:
      std::set_union(a.begin(), a.end(), b.begin(), b.end(), end);
      return;
  }
}

// The shape of both operands without the last dimension, which is to be the sets' size.
absl::StatusOr<Shape> RowsShape(const SetState& s, const StepArgs& args) {
  const absl::Span<const int64_t> a = ShapeOf(s.a, args), b = ShapeOf(s.b, args);
  if (a.first(a.size() - 1) != b.first(b.size() - 1)) {
    return absl::InvalidArgumentError(absl::StrCat("the operands, of shapes ", Shape(a).ToString(),
                                                   " and ", Shape(b).ToString(),
                                                   ", differ in more than the last dimension"));
  }
  TENON_RETURN_IF_ERROR(Shape::Make(a).status());
  TENON_RETURN_IF_ERROR(Shape::Make(b).status());
  return Shape::Make(a.first(a.size() - 1));
}

// A value of the result: the row it belongs to, its place in it, where its element stands.
struct Result {
  int64_t row, column, at;
  bool of_a;
};

absl::Status WriteResults(const SetState& s, const Shape& rows, const std::vector<Result>& results,
                          const StepArgs& args) {
  const int rank = rows.rank() + 1;
  const int64_t count = static_cast<int64_t>(results.size());
  TENON_ASSIGN_OR_RETURN(void* data, args.run_state->AllocateOutput(0, Shape({count, rank})));
  TENON_ASSIGN_OR_RETURN(void* values, args.run_state->AllocateOutput(1, Shape({count})));
  int64_t* indices = static_cast<int64_t*>(data);
  const ElementCopy copy(s.type);
  int64_t largest = 0;
  for (int64_t i = 0; i < count; ++i, indices += rank) {
    const Result& r = results[i];
    int64_t rest = r.row;
    for (int d = rank - 2; d >= 0; --d) {
      indices[d] = rest % rows.dim(d);
      rest /= rows.dim(d);
    }
    indices[rank - 1] = r.column;
    largest = std::max(largest, r.column + 1);
    const Operand& from = r.of_a ? s.a : s.b;
    copy(args.in[from.sparse ? from.input + 1 : from.input], r.at, values, i);
  }
  int64_t* const shape = static_cast<int64_t*>(args.out[2]);
  std::copy(rows.dims().begin(), rows.dims().end(), shape);
  shape[rank - 1] = largest;
  return absl::OkStatus();
}

template <typename T>
absl::Status RunSetOperation(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const SetState*>(state);
  TENON_ASSIGN_OR_RETURN(const Shape shape, RowsShape(s, args));
  Rows<T> a, b;
  TENON_RETURN_IF_ERROR(a.Read(s.a, s.type, args));
  TENON_RETURN_IF_ERROR(b.Read(s.b, s.type, args));
  std::vector<Result> results;
  Set<T> of_a, of_b, both;
  while (!a.done() || !b.done()) {
    const int64_t row = a.done() ? b.row() : b.done() ? a.row() : std::min(a.row(), b.row());
    of_a.clear();
    of_b.clear();
    if (!a.done() && a.row() == row) a.Take(&of_a);
    if (!b.done() && b.row() == row) b.Take(&of_b);
    Apply(s.operation, of_a, of_b, &both);
    for (size_t k = 0; k < both.size(); ++k) {
      const bool in_a = std::binary_search(of_a.begin(), of_a.end(), both[k]);
      results.push_back({row, static_cast<int64_t>(k), both[k].at, in_a});
    }
  }
  return WriteResults(s, shape, results, args);
}

absl::StatusOr<SetOperation> ReadOperation(const Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const std::string_view name, p.AttrString("set_operation"));
  const std::string lower = absl::AsciiStrToLower(name);
  if (lower == "a-b") return SetOperation::kAMinusB;
  if (lower == "b-a") return SetOperation::kBMinusA;
  if (lower == "intersection") return SetOperation::kIntersection;
  if (lower == "union") return SetOperation::kUnion;
  return p.Invalid(
      absl::StrCat("'set_operation' must be a-b, b-a, intersection or union, it is ", name));
}

absl::Status PrepareSetOperation(Prepare& p, bool sparse_a, bool sparse_b) {
  auto s = std::make_shared<SetState>();
  TENON_ASSIGN_OR_RETURN(s->operation, ReadOperation(p));
  TENON_ASSIGN_OR_RETURN(s->a, ReadOperand(p, sparse_a, 0));
  TENON_ASSIGN_OR_RETURN(s->b, ReadOperand(p, sparse_b, sparse_a ? 3 : 1));
  s->type = p.output_type(1);
  const int rank = sparse_a ? s->a.sizes.rank : s->a.shape.rank();
  p.set_dynamic_output(0);
  p.set_dynamic_output(1);
  p.set_output_shape(2, Shape({rank}));
  const bool strings = s->type == DataType::kString;
  p.set_run(strings ? &RunSetOperation<std::string_view> : &RunSetOperation<int64_t>, std::move(s));
  return absl::OkStatus();
}
absl::Status PrepareDenseToDense(Prepare& p) { return PrepareSetOperation(p, false, false); }
absl::Status PrepareDenseToSparse(Prepare& p) { return PrepareSetOperation(p, false, true); }
absl::Status PrepareSparseToSparse(Prepare& p) { return PrepareSetOperation(p, true, true); }

struct SetSizeState {
  Operand set;
  DataType type;
  int64_t rows = 0;
};

template <typename T>
absl::Status RunSetSize(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const SetSizeState*>(state);
  int32_t* const sizes = static_cast<int32_t*>(args.out[0]);
  std::fill(sizes, sizes + s.rows, 0);
  Rows<T> rows;
  TENON_RETURN_IF_ERROR(rows.Read(s.set, s.type, args));
  Set<T> set;
  while (!rows.done()) {
    const int64_t row = rows.row();
    rows.Take(&set);
    sizes[row] = static_cast<int32_t>(set.size());
  }
  return absl::OkStatus();
}

absl::Status PrepareSetSize(Prepare& p) {
  auto s = std::make_shared<SetSizeState>();
  TENON_ASSIGN_OR_RETURN(s->set, ReadOperand(p, true, 0));
  TENON_ASSIGN_OR_RETURN(Dims dims, p.InputInts(2));
  TENON_RETURN_IF_ERROR(CheckedShape(p, dims).status());
  dims.pop_back();
  TENON_ASSIGN_OR_RETURN(const Shape out, CheckedShape(p, dims));
  s->type = p.input_type(1);
  s->rows = out.num_elements();
  p.set_output_shape(0, out);
  const bool strings = s->type == DataType::kString;
  p.set_run(strings ? &RunSetSize<std::string_view> : &RunSetSize<int64_t>, std::move(s));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> SetKernels() {
  static const CpuKernelSpec specs[] = {
      {"DenseToDenseSetOperation", {{"T", kEveryType}}, PrepareDenseToDense},
      {"DenseToSparseSetOperation", {{"T", kEveryType}}, PrepareDenseToSparse},
      {"SparseToSparseSetOperation", {{"T", kEveryType}}, PrepareSparseToSparse},
      {"SetSize", {{"T", kEveryType}}, PrepareSetSize, 0b100},
  };
  return specs;
}

}  // namespace tenon::cpu
