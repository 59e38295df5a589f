// Ragged tensors on their way through lists: RaggedTensorToVariant with its gradient,
// RaggedTensorFromVariant.
#include <algorithm>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/whole_tensor.h"
#include "plugin/cpu/containers/lists/ragged_value.h"
#include "plugin/cpu/containers/lists/tensor_list.h"
#include "plugin/cpu/elementwise/loops/element_copy.h"
#include "plugin/cpu/sparse/ragged/splits.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct VariantState : NodeFacts {
  explicit VariantState(const Prepare& p) : NodeFacts(p) {}
  bool batched = false;  // ToVariant: an element for each row of the outermost dimension
  DataType splits = DataType::kInt64, values = DataType::kInvalid;
  int64_t encoded_rank = 0, result_rank = 0;  // FromVariant: numbers of splits
};

Splits SplitsOf(const Tensor& t) {
  return {t.data(), t.dtype() == DataType::kInt64, t.num_elements()};
}

int64_t NumRows(const RaggedValue& value) {
  return value.splits.empty() ? value.values.shape().dim(0) : value.splits[0].num_elements() - 1;
}

absl::StatusOr<Tensor> MakeSplits(DataType type, absl::Span<const int64_t> values) {
  TENON_ASSIGN_OR_RETURN(Tensor splits,
                         Tensor::Allocate(type, Shape({static_cast<int64_t>(values.size())})));
  for (size_t i = 0; i < values.size(); ++i) {
    if (type == DataType::kInt64) {
      splits.flat<int64_t>()[i] = values[i];
    } else if (values[i] <= INT32_MAX) {
      splits.flat<int32_t>()[i] = static_cast<int32_t>(values[i]);
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat("a row split of ", values[i], " does not fit int32"));
    }
  }
  return splits;
}

// Each level must divide up all of the next one.
absl::Status CheckLevels(const RaggedValue& value) {
  if (value.splits.empty()) return absl::OkStatus();
  if (value.values.shape().rank() < 1)
    return absl::InvalidArgumentError("the values must have at least one dimension");
  for (size_t level = 0; level < value.splits.size(); ++level) {
    if (value.splits[level].shape().rank() != 1)
      return absl::InvalidArgumentError("row splits must be vectors");
    const Splits splits = SplitsOf(value.splits[level]);
    TENON_RETURN_IF_ERROR(CheckSplits(splits, INT64_MAX, static_cast<int>(level)));
    const int64_t elements = level + 1 < value.splits.size()
                                 ? value.splits[level + 1].num_elements() - 1
                                 : value.values.shape().dim(0);
    if (splits[0] != 0 || splits.back() != elements) {
      return absl::InvalidArgumentError(
          absl::StrCat("row splits (input ", level, ") must lead from 0 to ", elements,
                       ", not from ", splits[0], " to ", splits.back()));
    }
  }
  return absl::OkStatus();
}

// Row r of the outermost dimension. The row is a ragged tensor of its own: its splits begin at 0
// again, so they are copied, while its values are a part of the whole tensor's.
absl::StatusOr<ObjectRef<RaggedValue>> RowOfRagged(const RaggedValue& value, int64_t r) {
  const Splits rows = SplitsOf(value.splits[0]);
  int64_t begin = rows[r], end = rows[r + 1];
  std::vector<Tensor> splits;
  for (size_t level = 1; level < value.splits.size(); ++level) {
    const Splits all = SplitsOf(value.splits[level]);
    std::vector<int64_t> part;
    for (int64_t i = begin; i <= end; ++i) part.push_back(all[i] - all[begin]);
    TENON_ASSIGN_OR_RETURN(Tensor made, MakeSplits(value.splits[level].dtype(), part));
    splits.push_back(std::move(made));
    begin = all[begin];
    end = begin + part.back();
  }
  Dims dims(value.values.shape().dims().begin(), value.values.shape().dims().end());
  dims[0] = end - begin;
  TENON_ASSIGN_OR_RETURN(Shape shape, Shape::Make(dims));
  const int64_t first = begin * RowShape(value.values.shape()).num_elements();
  return ObjectRef<RaggedValue>::Make(std::move(splits), PartOf(value.values, first, shape));
}

absl::Status RunToVariant(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const VariantState*>(state);
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < s.inputs.size(); ++i) {
    TENON_ASSIGN_OR_RETURN(Tensor input, args.run_state->TakeInput(static_cast<int>(i)));
    inputs.push_back(std::move(input));
  }
  Tensor values = std::move(inputs.back());
  inputs.pop_back();
  auto whole = ObjectRef<RaggedValue>::Make(std::move(inputs), std::move(values));
  TENON_RETURN_IF_ERROR(CheckLevels(*whole));
  if (!s.batched) {
    TENON_ASSIGN_OR_RETURN(
        Tensor handle, HandleTensor(DataType::kVariant, ObjectRef<Object>::Adopt(whole.release())));
    args.run_state->SetOutput(0, std::move(handle));
    return absl::OkStatus();
  }
  if (whole->splits.empty())
    return absl::InvalidArgumentError("a batch must have at least one level of row splits");
  const int64_t rows = NumRows(*whole);
  TENON_ASSIGN_OR_RETURN(const Tensor out, Tensor::Allocate(DataType::kVariant, Shape({rows})));
  for (int64_t r = 0; r < rows; ++r) {
    TENON_ASSIGN_OR_RETURN(ObjectRef<RaggedValue> row, RowOfRagged(*whole, r));
    out.SetObject(r, std::move(row));
  }
  args.run_state->SetOutput(0, out);
  return absl::OkStatus();
}

// The elements of the input, all of the kind that the node asks for.
absl::StatusOr<std::vector<const RaggedValue*>> ReadElements(const VariantState& s,
                                                             const Tensor& encoded) {
  std::vector<const RaggedValue*> elements;
  for (int64_t i = 0; i < encoded.num_elements(); ++i) {
    const auto* value = ObjectAs<RaggedValue>(encoded.ObjectAt(i));
    const auto wrong = [&](auto... words) {
      return absl::InvalidArgumentError(absl::StrCat("element ", i, " of the input ", words...));
    };
    if (value == nullptr) return wrong("holds no ragged tensor");
    if (value->values.dtype() != s.values) {
      return wrong("holds ", DataTypeName(value->values.dtype()), " values, not ",
                   DataTypeName(s.values));
    }
    if (static_cast<int64_t>(value->splits.size()) != s.encoded_rank)
      return wrong("has ", value->splits.size(), " levels of row splits, not ", s.encoded_rank);
    if (value->values.shape().rank() < 1 && s.result_rank != 0)
      return wrong("is a scalar, which has no rows");
    for (const Tensor& splits : value->splits) {
      if (splits.dtype() != s.splits) {
        return wrong("has ", DataTypeName(splits.dtype()), " row splits, not ",
                     DataTypeName(s.splits));
      }
    }
    elements.push_back(value);
  }
  return elements;
}

// The values of all elements, below each other, or (`stacked`) along a new first dimension.
absl::StatusOr<Tensor> JoinValues(const VariantState& s,
                                  const std::vector<const RaggedValue*>& elements, bool stacked) {
  Dims dims;
  for (const RaggedValue* e : elements) {
    const absl::Span<const int64_t> all = e->values.shape().dims();
    const auto own = stacked ? all : all.subspan(1);
    if (dims.empty()) {
      dims = {0};
      dims.insert(dims.end(), own.begin(), own.end());
    } else if (!std::equal(own.begin(), own.end(), dims.begin() + 1, dims.end())) {
      return absl::InvalidArgumentError(
          absl::StrCat("values of shapes ", elements[0]->values.shape().ToString(), " and ",
                       e->values.shape().ToString(), " do not fit together"));
    }
    if (__builtin_add_overflow(dims[0], stacked ? 1 : all[0], &dims[0]))
      return absl::InvalidArgumentError("the elements have too many rows");
  }
  if (dims.empty()) dims = {0};  // nothing says more
  TENON_ASSIGN_OR_RETURN(Shape shape, Shape::Make(dims));
  TENON_ASSIGN_OR_RETURN(Tensor joined, Tensor::Allocate(s.values, shape));
  const ElementCopy copy(s.values);
  int64_t at = 0;
  for (const RaggedValue* e : elements) {
    const int64_t n = e->values.num_elements();
    if (n > 0) copy(e->values.data(), 0, joined.data(), at, n);
    at += n;
  }
  return joined;
}

// The splits of a level of the elements, one behind the other.
std::vector<int64_t> JoinSplits(const std::vector<const RaggedValue*>& elements, int64_t level) {
  std::vector<int64_t> joined = {0};
  for (const RaggedValue* e : elements) {
    const Splits splits = SplitsOf(e->splits[level]);
    const int64_t offset = joined.back();
    for (int64_t i = 1; i < splits.count; ++i) joined.push_back(offset + splits[i]);
  }
  return joined;
}

absl::Status SetSplits(const VariantState& s, const StepArgs& args, int64_t output,
                       absl::Span<const int64_t> values) {
  TENON_ASSIGN_OR_RETURN(Tensor splits, MakeSplits(s.splits, values));
  args.run_state->SetOutput(static_cast<int>(output), std::move(splits));
  return absl::OkStatus();
}

// Dimensions of the input become levels of the result, above those of its elements.
absl::Status SetOuterSplits(const VariantState& s, const StepArgs& args, const Shape& shape,
                            const std::vector<const RaggedValue*>& elements) {
  int64_t rows = 1;
  for (int d = 0; d + 1 < shape.rank(); ++d) {
    rows *= shape.dim(d);
    std::vector<int64_t> splits;
    splits.reserve(rows + 1);
    for (int64_t r = 0; r <= rows; ++r) splits.push_back(r * shape.dim(d + 1));
    TENON_RETURN_IF_ERROR(SetSplits(s, args, d, splits));
  }
  std::vector<int64_t> splits = {0};
  for (const RaggedValue* e : elements) splits.push_back(splits.back() + NumRows(*e));
  return SetSplits(s, args, shape.rank() - 1, splits);
}

absl::Status RunFromVariant(const void* state, const StepArgs& args) {
  VariantState s = *static_cast<const VariantState*>(state);
  const Tensor encoded = args.run_state->Input(0);
  const int64_t dims = encoded.shape().rank();
  if (s.encoded_rank < 0) s.encoded_rank = s.result_rank == 0 ? 0 : s.result_rank - dims;
  const bool plain = s.result_rank == 0 && s.encoded_rank == 0;
  if (!plain && (s.encoded_rank < 0 || s.result_rank != dims + s.encoded_rank)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'output_ragged_rank' is ", s.result_rank, ", but ", dims, " dimensions of elements with ",
        s.encoded_rank, " levels of row splits make ", dims + s.encoded_rank));
  }
  TENON_ASSIGN_OR_RETURN(const std::vector<const RaggedValue*> elements, ReadElements(s, encoded));
  if (dims == 0) {
    for (int64_t level = 0; level < s.result_rank; ++level)
      args.run_state->SetOutput(static_cast<int>(level), elements[0]->splits[level]);
    args.run_state->SetOutput(static_cast<int>(s.result_rank), elements[0]->values);
    return absl::OkStatus();
  }
  if (!plain) TENON_RETURN_IF_ERROR(SetOuterSplits(s, args, encoded.shape(), elements));
  for (int64_t level = 0; level < s.encoded_rank; ++level)
    TENON_RETURN_IF_ERROR(SetSplits(s, args, dims + level, JoinSplits(elements, level)));
  TENON_ASSIGN_OR_RETURN(Tensor values, JoinValues(s, elements, plain));
  args.run_state->SetOutput(static_cast<int>(s.result_rank), std::move(values));
  return absl::OkStatus();
}

// The gradients of rows, one behind the other; a row that has none counts as zeros.
absl::Status RunToVariantGrad(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const VariantState*>(state);
  const Tensor rows = args.run_state->Input(0), row_splits = args.run_state->Input(1);
  TENON_ASSIGN_OR_RETURN(const PartialShape asked, ShapeInput(args, 2));
  const std::optional<Shape> shape = asked.ToShape();
  if (!shape.has_value() || shape->rank() < 1)
    return absl::InvalidArgumentError("'dense_values_shape' must be known, of at least rank 1");
  const int64_t count = rows.num_elements();
  const Splits splits = SplitsOf(row_splits);
  const bool whole = rows.shape().rank() == 0;
  if (!whole) {
    if (row_splits.shape().rank() != 1 || splits.count != count + 1)
      return absl::InvalidArgumentError(
          absl::StrCat("there must be ", count + 1, " row splits, there are ", splits.count));
    TENON_RETURN_IF_ERROR(CheckSplits(splits, shape->dim(0), 1));
  }
  TENON_ASSIGN_OR_RETURN(void* out, args.run_state->AllocateOutput(0, *shape));
  const ElementCopy copy(s.outputs[0]);
  const int64_t row_elements = RowShape(*shape).num_elements();
  int64_t at = 0;
  for (int64_t r = 0; r < count; ++r) {
    const auto* value = ObjectAs<RaggedValue>(rows.ObjectAt(r));
    const int64_t n = value != nullptr ? value->values.num_elements()
                      : whole          ? shape->num_elements()
                                       : (splits[r + 1] - splits[r]) * row_elements;
    if (value != nullptr && value->values.dtype() != s.outputs[0]) {
      return absl::InvalidArgumentError(absl::StrCat("gradient ", r, " holds ",
                                                     DataTypeName(value->values.dtype()), ", not ",
                                                     DataTypeName(s.outputs[0])));
    }
    if (n > shape->num_elements() - at) break;
    value != nullptr ? copy(value->values.data(), 0, out, at, n) : copy.Zero(out, at, n);
    at += n;
  }
  if (at == shape->num_elements()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the gradients do not make up values of shape ", shape->ToString()));
}

absl::Status PrepareToVariant(Prepare& p) {
  auto s = std::make_shared<VariantState>(p);
  TENON_ASSIGN_OR_RETURN(s->batched, p.AttrBool("batched_input"));
  p.set_dynamic_output(0);
  p.set_run(&RunToVariant, std::move(s));
  return absl::OkStatus();
}

absl::Status PrepareFromVariant(Prepare& p) {
  auto s = std::make_shared<VariantState>(p);
  TENON_ASSIGN_OR_RETURN(s->encoded_rank, p.AttrInt("input_ragged_rank"));
  TENON_ASSIGN_OR_RETURN(s->result_rank, p.AttrInt("output_ragged_rank"));
  TENON_ASSIGN_OR_RETURN(s->values, p.AttrType("Tvalues"));
  TENON_ASSIGN_OR_RETURN(s->splits, p.AttrType("Tsplits"));
  for (int i = 0; i < p.num_outputs(); ++i) p.set_dynamic_output(i);
  p.set_run(&RunFromVariant, std::move(s));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> RaggedVariantKernels() {
  static const CpuKernelSpec specs[] = {
      WholeTensorKernel("RaggedTensorToVariant", "Tvalues", kEveryType, PrepareToVariant),
      WholeTensorKernel("RaggedTensorFromVariant", "Tvalues", kEveryType, PrepareFromVariant),
      WholeTensorKernel("RaggedTensorToVariantGradient",
                        PrepareWhole<&RunToVariantGrad, VariantState>),
  };
  return specs;
}

}  // namespace tenon::cpu
