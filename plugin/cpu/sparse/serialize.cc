// Sparse tensors as three strings or variants each: SerializeSparse, SerializeManySparse,
// DeserializeSparse, DeserializeManySparse.
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/tensor/dtype.h"
#include "graph/tensor/shape.h"
#include "graph/tensor/shape_wire.h"
#include "graph/tensor/tensor.h"
#include "graph/tensor/tensor_proto.h"
#include "graph/wire/wire.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/string_element.h"
#include "plugin/cpu/base/whole_tensor.h"
#include "plugin/cpu/elementwise/loops/element_copy.h"
#include "plugin/cpu/sparse/sparse_parts.h"
#include "plugin/kernels/kernel_spec.h"
#include "plugin/kernels/run_fn.h"

namespace tenon::cpu {
namespace {

constexpr int kParts = 3;

// A tensor as an element of a variant tensor.
class TensorValue : public Object {
 public:
  static constexpr std::string_view kKind = "tensor";
  std::string_view kind() const override { return kKind; }
  explicit TensorValue(Tensor value) : value(std::move(value)) {}
  const Tensor value;
};

// Strings go into tensor_content here, all lengths before all bytes; elsewhere they do not.
absl::StatusOr<std::string> ToWire(const Tensor& tensor) {
  if (tensor.dtype() != DataType::kString) return TensorToWire(tensor);
  constexpr uint32_t kDtype = 1, kShape = 2, kContent = 4;
  std::string content, wire;
  WireWriter lengths(&content), fields(&wire);
  for (int64_t i = 0; i < tensor.num_elements(); ++i)
    lengths.RawVarint(StringAt(tensor.data(), i).size());
  for (int64_t i = 0; i < tensor.num_elements(); ++i) content += StringAt(tensor.data(), i);
  fields.Varint(kDtype, static_cast<uint64_t>(DataType::kString));
  fields.Bytes(kShape, ShapeToWire(tensor.shape()));
  if (!content.empty()) fields.Bytes(kContent, content);
  return wire;
}

absl::Status Serialize(const SparseParts& parts, const Tensor& out, int64_t row) {
  const Tensor* const tensors[kParts] = {&parts.indices, &parts.values, &parts.shape};
  for (int k = 0; k < kParts; ++k) {
    if (out.dtype() == DataType::kVariant) {
      // A copy: the value outlives the step, and the memory of RunState::Input may belong to the
      // plan.
      TENON_ASSIGN_OR_RETURN(Tensor own, tensors[k]->Copy());
      out.SetObject(row * kParts + k, ObjectRef<TensorValue>::Make(std::move(own)));
      continue;
    }
    TENON_ASSIGN_OR_RETURN(const std::string wire, ToWire(*tensors[k]));
    PutString(out.data(), row * kParts + k, wire);
  }
  return absl::OkStatus();
}

absl::Status RunSerialize(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const NodeFacts*>(state);
  TENON_ASSIGN_OR_RETURN(const SparseParts t, SparseInputs(args));
  TENON_ASSIGN_OR_RETURN(const Tensor out, Tensor::Allocate(s.outputs[0], Shape({kParts})));
  TENON_RETURN_IF_ERROR(Serialize(t, out, 0));
  args.run_state->SetOutput(0, out);
  return absl::OkStatus();
}

absl::Status RunSerializeMany(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const NodeFacts*>(state);
  TENON_ASSIGN_OR_RETURN(const SparseParts t, SparseInputs(args));
  Tensor out;
  TENON_RETURN_IF_ERROR(ForRows(
      t,
      [&](int64_t rows) -> absl::Status {
        TENON_ASSIGN_OR_RETURN(const Shape shape, Shape::Make({rows, kParts}));
        TENON_ASSIGN_OR_RETURN(out, Tensor::Allocate(s.outputs[0], shape));
        return absl::OkStatus();
      },
      [&](int64_t row, SparseParts part) { return Serialize(part, out, row); }));
  args.run_state->SetOutput(0, out);
  return absl::OkStatus();
}

absl::StatusOr<Tensor> Deserialize(const Tensor& serialized, int64_t i, DataType type) {
  Tensor tensor;
  if (serialized.dtype() == DataType::kVariant) {
    const auto* value = ObjectAs<TensorValue>(serialized.ObjectAt(i));
    if (value == nullptr)
      return absl::InvalidArgumentError(absl::StrCat("element ", i, " holds no tensor"));
    tensor = value->value;
  } else {
    absl::StatusOr<Tensor> parsed =
        TensorFromWire(StringAt(serialized.data(), i), nullptr, kMostStringBytes);
    if (!parsed.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("string ", i, " is no TensorProto: ", parsed.status().message()));
    }
    tensor = *std::move(parsed);
  }
  if (tensor.dtype() == type) return tensor;
  return absl::InvalidArgumentError(absl::StrCat("tensor ", i, " holds ",
                                                 DataTypeName(tensor.dtype()), " where ",
                                                 DataTypeName(type), " is wanted"));
}

absl::StatusOr<SparseParts> DeserializeRow(const Tensor& serialized, int64_t row, DataType type) {
  SparseParts t;
  TENON_ASSIGN_OR_RETURN(t.indices, Deserialize(serialized, row * kParts, DataType::kInt64));
  TENON_ASSIGN_OR_RETURN(t.values, Deserialize(serialized, row * kParts + 1, type));
  TENON_ASSIGN_OR_RETURN(t.shape, Deserialize(serialized, row * kParts + 2, DataType::kInt64));
  TENON_RETURN_IF_ERROR(CheckSparseParts(t, absl::StrCat(" of element ", row)));
  return t;
}

absl::Status RunDeserialize(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const NodeFacts*>(state);
  const Tensor serialized = args.run_state->Input(0);
  const Shape& shape = serialized.shape();
  const int last = shape.rank() - 1;
  if (last < 0 || shape.dim(last) != kParts || shape.num_elements() == 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the input must hold 3 elements for each of at least one sparse tensor, its shape is ",
        shape.ToString()));
  }
  const Shape outer(shape.dims().subspan(0, last));
  std::vector<SparseParts> all;
  for (int64_t row = 0; row < outer.num_elements(); ++row) {
    TENON_ASSIGN_OR_RETURN(SparseParts t, DeserializeRow(serialized, row, s.outputs[1]));
    all.push_back(std::move(t));
  }
  return SetJoinedSparse(all, outer, args);
}

absl::Status RunDeserializeMany(const void* state, const StepArgs& args) {
  if (args.run_state->Input(0).shape().rank() == 2) return RunDeserialize(state, args);
  return absl::InvalidArgumentError("the input must be a matrix");
}

}  // namespace

absl::Span<const CpuKernelSpec> SerializeSparseKernels() {
  constexpr uint64_t kTypes = kNumberTypes | TypeBits(DataType::kBool, DataType::kString);
  static const CpuKernelSpec specs[] = {
      WholeTensorKernel("SerializeSparse", "T", kTypes, PrepareWhole<&RunSerialize>),
      WholeTensorKernel("SerializeManySparse", "T", kTypes, PrepareWhole<&RunSerializeMany>),
      WholeTensorKernel("DeserializeSparse", "dtype", kTypes, PrepareWhole<&RunDeserialize>),
      WholeTensorKernel("DeserializeManySparse", "dtype", kTypes,
                        PrepareWhole<&RunDeserializeMany>),
  };
  return specs;
}

}  // namespace tenon::cpu
