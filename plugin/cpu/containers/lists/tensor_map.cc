// Maps from tensors to tensors, as values: who changes a map that others hold changes a copy.
#include <map>

#include "absl/strings/str_cat.h"
#include "graph/tensor/dtype.h"
#include "graph/tensor/shape.h"
#include "graph/tensor/tensor.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/whole_tensor.h"
#include "plugin/cpu/containers/lists/tensor_list.h"
#include "plugin/cpu/elementwise/loops/element_copy.h"
#include "plugin/kernels/kernel_spec.h"
#include "plugin/kernels/run_fn.h"

namespace tenon::cpu {
namespace {

class TensorMap : public Object {
 public:
  static constexpr std::string_view kKind = "tensor map";
  std::string_view kind() const override { return kKind; }

  struct Entry {
    Tensor key, value;
  };
  std::map<std::string, Entry> entries;  // by KeyOf
};

// What tells keys apart: type, shape and elements.
absl::StatusOr<std::string> KeyOf(const Tensor& key) {
  std::string text = absl::StrCat(DataTypeName(key.dtype()), key.shape().ToString(), "/");
  if (IsMemcpyable(key.dtype())) {
    text.append(key.flat<char>(), key.bytes());
  } else if (key.dtype() == DataType::kString) {
    for (int64_t i = 0; i < key.num_elements(); ++i)
      absl::StrAppend(&text, key.StringAt(i).size(), "/", key.StringAt(i));
  } else {
    return absl::UnimplementedError(
        absl::StrCat("keys of type ", DataTypeName(key.dtype()), " have no order"));
  }
  return text;
}

// Input 0 as a map that may be changed, and its handle.
struct OwnMap {
  Tensor handle;
  TensorMap* map;
};

absl::StatusOr<OwnMap> TakeMap(const StepArgs& args) {
  TENON_RETURN_IF_ERROR(InputAs<TensorMap>(args, 0).status());
  TENON_ASSIGN_OR_RETURN(Tensor handle, args.run_state->TakeInput(0));
  auto* map = ObjectAs<TensorMap>(handle.ObjectAt(0));
  if (handle.buffer()->unique() && map->unique()) return OwnMap{std::move(handle), map};
  auto copy = ObjectRef<TensorMap>::Make();
  copy->entries = map->entries;
  map = copy.get();
  TENON_ASSIGN_OR_RETURN(
      handle, HandleTensor(DataType::kVariant, ObjectRef<Object>::Adopt(copy.release())));
  return OwnMap{std::move(handle), map};
}

absl::Status RunEmptyMap(const void*, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(
      Tensor handle, HandleTensor(DataType::kVariant, ObjectRef<Object>::Adopt(
                                                          ObjectRef<TensorMap>::Make().release())));
  args.run_state->SetOutput(0, std::move(handle));
  return absl::OkStatus();
}

absl::Status RunTensorMapInsert(const void*, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(Tensor key, args.run_state->TakeInput(1));
  TENON_ASSIGN_OR_RETURN(std::string text, KeyOf(key));
  TENON_ASSIGN_OR_RETURN(Tensor value, args.run_state->TakeInput(2));
  TENON_ASSIGN_OR_RETURN(OwnMap own, TakeMap(args));
  own.map->entries.insert_or_assign(std::move(text),
                                    TensorMap::Entry{std::move(key), std::move(value)});
  args.run_state->SetOutput(0, std::move(own.handle));
  return absl::OkStatus();
}

absl::Status IsMissing() { return absl::InvalidArgumentError("the map has no such key"); }

absl::Status RunErase(const void*, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(const std::string text, KeyOf(args.run_state->Input(1)));
  TENON_ASSIGN_OR_RETURN(OwnMap own, TakeMap(args));
  if (own.map->entries.erase(text) == 0) return IsMissing();
  args.run_state->SetOutput(0, std::move(own.handle));
  return absl::OkStatus();
}

absl::Status RunLookup(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const NodeFacts*>(state);
  TENON_ASSIGN_OR_RETURN(const TensorMap* map, InputAs<TensorMap>(args, 0));
  TENON_ASSIGN_OR_RETURN(const std::string text, KeyOf(args.run_state->Input(1)));
  const auto found = map->entries.find(text);
  if (found == map->entries.end()) return IsMissing();
  const Tensor& value = found->second.value;
  if (value.dtype() != s.outputs[0]) {
    return absl::InvalidArgumentError(absl::StrCat("the value is ", DataTypeName(value.dtype()),
                                                   ", not ", DataTypeName(s.outputs[0])));
  }
  args.run_state->SetOutput(0, value);
  return absl::OkStatus();
}

absl::Status RunHasKey(const void*, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(const TensorMap* map, InputAs<TensorMap>(args, 0));
  TENON_ASSIGN_OR_RETURN(const std::string text, KeyOf(args.run_state->Input(1)));
  *static_cast<bool*>(args.out[0]) = map->entries.contains(text);
  return absl::OkStatus();
}

absl::Status RunTensorMapSize(const void*, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(const TensorMap* map, InputAs<TensorMap>(args, 0));
  *static_cast<int32_t*>(args.out[0]) = static_cast<int32_t>(map->entries.size());
  return absl::OkStatus();
}

// All keys, which must have one shape, below each other.
absl::Status RunStackKeys(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const NodeFacts*>(state);
  TENON_ASSIGN_OR_RETURN(const TensorMap* map, InputAs<TensorMap>(args, 0));
  if (map->entries.empty())
    return absl::InvalidArgumentError("the map is empty: nobody knows the shape of its keys");
  const Shape& row = map->entries.begin()->second.key.shape();
  for (const auto& [text, entry] : map->entries) {
    if (entry.key.dtype() != s.outputs[0] || !(entry.key.shape() == row)) {
      return absl::InvalidArgumentError(
          absl::StrCat("keys must all be ", DataTypeName(s.outputs[0]), row.ToString(), ", one is ",
                       DataTypeName(entry.key.dtype()), entry.key.shape().ToString()));
    }
  }
  // The order is that of the keys' texts. TensorFlow's map has no order that a caller could rely
  // on.
  const auto count = static_cast<int64_t>(map->entries.size());
  TENON_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(Stacked(count, row)));
  TENON_ASSIGN_OR_RETURN(void* out, args.run_state->AllocateOutput(0, shape));
  const ElementCopy copy(s.outputs[0]);
  int64_t i = 0;
  for (const auto& [text, entry] : map->entries)
    copy(entry.key.data(), 0, out, i++ * row.num_elements(), row.num_elements());
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> TensorMapKernels() {
  static const CpuKernelSpec specs[] = {
      WholeTensorKernel("EmptyTensorMap", PrepareWhole<&RunEmptyMap>),
      WholeTensorKernel("TensorMapInsert", PrepareWhole<&RunTensorMapInsert>),
      WholeTensorKernel("TensorMapErase", PrepareWhole<&RunErase>),
      WholeTensorKernel("TensorMapLookup", PrepareWhole<&RunLookup>),
      WholeTensorKernel("TensorMapHasKey", PrepareScalar<&RunHasKey>),
      WholeTensorKernel("TensorMapSize", PrepareScalar<&RunTensorMapSize>),
      WholeTensorKernel("TensorMapStackKeys", PrepareWhole<&RunStackKeys>),
  };
  return specs;
}

}  // namespace tenon::cpu
