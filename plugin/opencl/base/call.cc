#include "call.h"

#include <algorithm>
#include <cstring>

namespace opencl {
namespace {

Tensor FactsOf(const TF_Tensor* tensor) {
  Tensor facts;
  facts.type = TF_TensorType(tensor);
  facts.dims.resize(static_cast<size_t>(TF_NumDims(tensor)));
  for (size_t i = 0; i < facts.dims.size(); ++i)
    facts.dims[i] = TF_Dim(tensor, static_cast<int>(i));
  facts.count = Count(facts.dims);
  facts.data = TF_TensorData(tensor);
  return facts;
}

}  // namespace

void Refuse(const std::string& message) { throw Error(TF_INVALID_ARGUMENT, message); }
void NotImplemented(const std::string& message) { throw Error(TF_UNIMPLEMENTED, message); }

int NormalAxis(int64_t axis, int rank, const char* op) {
  if (axis >= -rank && axis < rank) return static_cast<int>(axis < 0 ? axis + rank : axis);
  Refuse(std::string(op) + ": axis " + std::to_string(axis) + " is not in [" +
         std::to_string(-rank) + ", " + std::to_string(rank) + ")");
}

// --- Construction ---

TF_DataType Construction::Type(const char* attr) const {
  const StatusPtr status(TF_NewStatus());
  TF_DataType value = TF_FLOAT;
  TF_OpKernelConstruction_GetAttrType(context_, attr, &value, status.get());
  ThrowIfFailed(status);
  return value;
}

int64_t Construction::Int(const char* attr) const {
  const StatusPtr status(TF_NewStatus());
  int64_t value = 0;
  TF_OpKernelConstruction_GetAttrInt64(context_, attr, &value, status.get());
  ThrowIfFailed(status);
  return value;
}

float Construction::Float(const char* attr) const {
  const StatusPtr status(TF_NewStatus());
  float value = 0;
  TF_OpKernelConstruction_GetAttrFloat(context_, attr, &value, status.get());
  ThrowIfFailed(status);
  return value;
}

bool Construction::Bool(const char* attr) const {
  const StatusPtr status(TF_NewStatus());
  TF_Bool value = 0;
  TF_OpKernelConstruction_GetAttrBool(context_, attr, &value, status.get());
  ThrowIfFailed(status);
  return value != 0;
}

int32_t Construction::ListSize(const char* attr, int32_t* total) const {
  const StatusPtr status(TF_NewStatus());
  int32_t list = 0, bytes = 0;
  TF_OpKernelConstruction_GetAttrSize(context_, attr, &list, &bytes, status.get());
  ThrowIfFailed(status);
  // -1 stands for what an attribute of another kind does not have, and for the bytes of no texts.
  if (total != nullptr) *total = std::max(bytes, 0);
  return std::max(list, 0);
}

std::string Construction::String(const char* attr) const {
  int32_t total = 0;
  ListSize(attr, &total);
  std::string value(static_cast<size_t>(total), '\0');
  const StatusPtr status(TF_NewStatus());
  TF_OpKernelConstruction_GetAttrString(context_, attr, value.data(), value.size(), status.get());
  ThrowIfFailed(status);
  return value;
}

std::vector<int64_t> Construction::Ints(const char* attr) const {
  std::vector<int64_t> values(static_cast<size_t>(ListSize(attr)));
  const StatusPtr status(TF_NewStatus());
  TF_OpKernelConstruction_GetAttrInt64List(context_, attr, values.data(),
                                           static_cast<int>(values.size()), status.get());
  ThrowIfFailed(status);
  return values;
}

std::vector<TF_DataType> Construction::Types(const char* attr) const {
  std::vector<TF_DataType> values(static_cast<size_t>(ListSize(attr)));
  const StatusPtr status(TF_NewStatus());
  TF_OpKernelConstruction_GetAttrTypeList(context_, attr, values.data(),
                                          static_cast<int>(values.size()), status.get());
  ThrowIfFailed(status);
  return values;
}

std::vector<std::string> Construction::Strings(const char* attr) const {
  int32_t total = 0;
  const auto count = static_cast<size_t>(ListSize(attr, &total));
  std::vector<char*> texts(count);
  std::vector<size_t> lengths(count);
  std::string storage(static_cast<size_t>(total), '\0');
  const StatusPtr status(TF_NewStatus());
  TF_OpKernelConstruction_GetAttrStringList(context_, attr, texts.data(), lengths.data(),
                                            static_cast<int>(count), storage.data(), storage.size(),
                                            status.get());
  ThrowIfFailed(status);
  std::vector<std::string> values;
  for (size_t i = 0; i < count; ++i) values.emplace_back(texts[i], lengths[i]);
  return values;
}

bool Construction::Has(const char* attr) const {
  const StatusPtr status(TF_NewStatus());
  return TF_OpKernelConstruction_HasAttr(context_, attr, status.get());
}

std::string Construction::NodeText(const char* op) const {
  const TF_StringView name = TF_OpKernelConstruction_GetName(context_);
  return "node '" + std::string(name.data, name.len) + "' (" + op + ")";
}

// --- Call ---

Tensor Call::Facts(const TF_Tensor* tensor) { return FactsOf(tensor); }

Call::Call(TF_OpKernelContext* context) : context_(context) {
  const StatusPtr status(TF_NewStatus());
  stream_ = TF_GetStream(context, status.get());
  ThrowIfFailed(status);
}

Tensor Call::In(int index) const {
  const StatusPtr status(TF_NewStatus());
  TF_Tensor* handle = nullptr;
  TF_GetInput(context_, index, &handle, status.get());
  const TensorPtr tensor(handle);
  ThrowIfFailed(status);
  return FactsOf(tensor.get());
}

std::vector<int64_t> Call::HostInts(int index) const {
  const StatusPtr status(TF_NewStatus());
  TF_Tensor* handle = nullptr;
  TF_GetInput(context_, index, &handle, status.get());
  const TensorPtr tensor(handle);
  ThrowIfFailed(status);
  const auto count = static_cast<size_t>(TF_TensorElementCount(tensor.get()));
  std::vector<int64_t> values(count);
  const void* data = TF_TensorData(tensor.get());
  const size_t bytes = TF_DataTypeSize(TF_TensorType(tensor.get()));
  for (size_t i = 0; i < count; ++i) {
    values[i] = bytes == 8   ? static_cast<const int64_t*>(data)[i]
                : bytes == 4 ? static_cast<const int32_t*>(data)[i]
                             : static_cast<const int16_t*>(data)[i];
  }
  return values;
}

Tensor Call::Out(int index, const Dims& dims) { return OutLike(index, dims, {}); }

Tensor Call::OutLike(int index, const Dims& dims, const std::vector<int>& candidates) {
  const StatusPtr status(TF_NewStatus());
  const TF_DataType type = TF_ExpectedOutputDataType(context_, index);
  const int rank = static_cast<int>(dims.size());
  const auto bytes =
      static_cast<size_t>(Times(CheckedCount(dims), static_cast<int64_t>(TF_DataTypeSize(type))));
  TensorPtr tensor(
      candidates.empty()
          ? TF_AllocateOutput(context_, index, type, dims.data(), rank, bytes, status.get())
          : TF_ForwardInputOrAllocateOutput(context_, candidates.data(),
                                            static_cast<int>(candidates.size()), index, dims.data(),
                                            rank, nullptr, status.get()));
  ThrowIfFailed(status);
  return FactsOf(tensor.get());
}

void Call::OutIsInput(int output, int input, const Dims& dims) {
  const StatusPtr status(TF_NewStatus());
  TF_Tensor* handle = nullptr;
  TF_GetInput(context_, input, &handle, status.get());
  const TensorPtr from(handle);
  ThrowIfFailed(status);
  if (dims == FactsOf(from.get()).dims) {
    TF_SetOutput(context_, output, from.get(), status.get());
    return ThrowIfFailed(status);
  }
  const int64_t none = 0;
  const TensorPtr to(TF_AllocateTensor(TF_TensorType(from.get()), &none, 1, 0));
  TF_TensorBitcastFrom(from.get(), TF_TensorType(from.get()), to.get(), dims.data(),
                       static_cast<int>(dims.size()), status.get());
  ThrowIfFailed(status);
  TF_SetOutput(context_, output, to.get(), status.get());
  ThrowIfFailed(status);
}

Tensor Call::Temp(TF_DataType type, const Dims& dims) {
  const StatusPtr status(TF_NewStatus());
  TF_AllocatorAttributes attributes{TF_ALLOCATOR_ATTRIBUTES_STRUCT_SIZE, 0};
  TensorPtr tensor(TF_AllocateTemp(context_, type, dims.data(), static_cast<int>(dims.size()),
                                   &attributes, status.get()));
  ThrowIfFailed(status);
  Tensor facts = FactsOf(tensor.get());
  temporary_.push_back(std::move(tensor));
  return facts;
}

void* Call::TempBytes(size_t bytes) { return Temp(TF_UINT8, {static_cast<int64_t>(bytes)}).data; }

}  // namespace opencl
