// The functions of tf_tensor.h: tensors that plug-ins and programs make, read and reshape. A null
// tensor has no type, no dimensions and no elements.
#include "tensorflow/c/tf_tensor.h"

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "graph/base/annotate.h"
#include "graph/c_api/arguments.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/callback_scope.h"
#include "graph/c_api/plugin_hold.h"
#include "graph/c_api/tensor_guards.h"
#include "graph/c_api/tensor_handles.h"
#include "graph/c_api/without_memory.h"
#include "graph/tensor/tensor_proto.h"
#include "tensorflow/c/c_api.h"

namespace tenon {
namespace {

using DeallocatorFn = void (*)(void*, size_t, void*);

// Runs when the last share of the tensor goes, perhaps long after the call that made the tensor. So
// it keeps the plug-in and the node of that call, and holds the plug-in's code.
struct Deallocator {
  // `maker` is null where the host makes the tensor.
  Deallocator(DeallocatorFn fn, void* arg, const CallbackInfo* maker)
      : fn(fn),
        arg(arg),
        hold(maker == nullptr ? "" : maker->plugin),
        node(maker == nullptr ? std::string_view() : maker->node) {}

  DeallocatorFn fn;
  void* arg;
  PluginHold hold;
  std::string node;
};

void RunDeallocator(void* data, size_t bytes, void* arg) {
  const std::unique_ptr<Deallocator> d(static_cast<Deallocator*>(arg));
  const std::string& plugin = d->hold.plugin();
  if (plugin.empty()) return d->fn(data, bytes, d->arg);
  absl::Status called = CallPlugin(plugin.c_str(), "tensor deallocator", d->node,
                                   [&] { d->fn(data, bytes, d->arg); });
  if (!called.ok() && !d->node.empty())
    called = Annotate(called, "", absl::StrCat("\n\t [[{{node ", d->node, "}}]]"));
  WarnOf(called);
}

bool IsAligned(const void* data) {
  return reinterpret_cast<uintptr_t>(data) % kTensorAlignment == 0;
}

// Returns the shape if a tensor can have the type, the dimensions are valid and `len` bytes hold
// plain elements. Strings and objects may get more memory than `len`.
std::optional<Shape> CheckedShape(TF_DataType dtype, const int64_t* dims, int num_dims,
                                  size_t len) {
  if (num_dims < 0 || (num_dims > 0 && dims == nullptr)) return std::nullopt;
  if (!IsKnownDataType(dtype) || IsRef(DataTypeFromC(dtype))) return std::nullopt;
  absl::StatusOr<Shape> shape = Shape::Make(absl::MakeConstSpan(dims, num_dims));
  if (!shape.ok()) return std::nullopt;
  const DataType type = DataTypeFromC(dtype);
  const absl::StatusOr<size_t> bytes = TensorBytes(type, *shape);
  if (!bytes.ok()) return std::nullopt;
  if (*bytes > len && IsMemcpyable(type)) return std::nullopt;
  return *std::move(shape);
}

// Whether `len` bytes that a plug-in brings can be the elements. Resources and variants cannot:
// their elements are pointers to objects of the host, which no plug-in can make.
bool CanBeElements(DataType type, const Shape& shape, size_t len) {
  if (IsMemcpyable(type) || shape.num_elements() == 0) return true;  // CheckedShape has counted
  return type == DataType::kString && *TensorBytes(type, shape) <= len;
}

}  // namespace

}  // namespace tenon

using tenon::Buffer;
using tenon::BufferRef;
using tenon::DataTypeFromC;
using tenon::IsThere;
using tenon::Shape;
using tenon::Tensor;

extern "C" {

TF_Tensor* TF_NewTensor(TF_DataType dtype, const int64_t* dims, int num_dims, void* data,
                        size_t len, void (*deallocator)(void* data, size_t len, void* arg),
                        void* deallocator_arg) try {
  // TF_NewTensor takes ownership of the memory in any case, also on a failure.
  absl::Cleanup free_memory = [&] {
    if (deallocator != nullptr) deallocator(data, len, deallocator_arg);
  };
  std::optional<Shape> shape = tenon::CheckedShape(dtype, dims, num_dims, len);
  if (shape && !tenon::CanBeElements(DataTypeFromC(dtype), *shape, len)) shape.reset();
  if (data == nullptr && len > 0) shape.reset();
  // Kernels of the host load aligned vectors, so a plain tensor at another address is copied, and
  // the deallocator runs at once, as in TensorFlow.
  const bool copy = shape && tenon::IsMemcpyable(DataTypeFromC(dtype)) && !tenon::IsAligned(data);
  Buffer* buffer = nullptr;
  if (copy) {
    buffer = Buffer::Allocate(len);
    if (buffer != nullptr && len != 0) std::memcpy(buffer->data(), data, len);
  } else if (shape && deallocator != nullptr) {
    auto release = std::make_unique<tenon::Deallocator>(deallocator, deallocator_arg,
                                                        tenon::CurrentCallback());
    buffer = Buffer::Wrap(data, len, tenon::RunDeallocator, release.get());
    [[maybe_unused]] auto* const kept = release.release();  // RunDeallocator deletes it
    std::move(free_memory).Cancel();
  } else if (shape) {
    buffer = Buffer::Wrap(data, len, nullptr, nullptr);
  }
  if (buffer == nullptr) return nullptr;
  return tenon::NewTensorHandle(
      Tensor(DataTypeFromC(dtype), *std::move(shape), BufferRef::Adopt(buffer)));
} catch (...) {
  return tenon::WithoutMemory();
}

size_t TF_TensorDefaultAlignment(void) { return tenon::kTensorAlignment; }

TF_Tensor* TF_AllocateTensor(TF_DataType dtype, const int64_t* dims, int num_dims, size_t len) try {
  std::optional<Shape> shape = tenon::CheckedShape(dtype, dims, num_dims, len);
  if (!shape) return nullptr;
  const tenon::DataType type = DataTypeFromC(dtype);
  // A plug-in may ask for more bytes than the elements need.
  const size_t bytes = std::max(len, *tenon::TensorBytes(type, *shape));
  Buffer* const buffer = tenon::AbiWatch::Active() != nullptr && tenon::IsMemcpyable(type)
                             ? tenon::TensorGuards::Get().Allocate(bytes)
                             : Buffer::Allocate(bytes);
  if (buffer == nullptr) return nullptr;
  // Zeroed strings are empty ones, so that the tensor can be freed before the plug-in fills it.
  if (!tenon::IsMemcpyable(type)) std::memset(buffer->data(), 0, bytes);
  if (type == tenon::DataType::kString) buffer->set_string_count(shape->num_elements());
  return tenon::NewTensorHandle(Tensor(type, *std::move(shape), BufferRef::Adopt(buffer)));
} catch (...) {
  return tenon::WithoutMemory();
}

TF_Tensor* TF_TensorMaybeMove(TF_Tensor* tensor) try {
  if (!IsThere(tensor)) return nullptr;
  // A lent handle has no share, and only shares tell whether the buffer has one owner.
  tenon::HandleLoans::Share(tensor);
  const BufferRef& buffer = tensor->share;
  return buffer && buffer->owned() && buffer->unique() ? tensor : nullptr;
} catch (...) {
  return tenon::WithoutMemory();
}

TF_DataType TF_TensorType(const TF_Tensor* tensor) {
  return tenon::DataTypeToC(IsThere(tensor) ? tensor->dtype : tenon::DataType::kInvalid);
}

void TF_SetShape(TF_Tensor* tensor, const int64_t* dims, int num_dims) try {
  if (!IsThere(tensor) || num_dims < 0 || (num_dims > 0 && dims == nullptr)) return;
  absl::StatusOr<Shape> shape = Shape::Make(absl::MakeConstSpan(dims, num_dims));
  if (!shape.ok() || shape->num_elements() != tensor->shape.num_elements()) return;
  tenon::HandleLoans::Share(tensor);
  tensor->shape = *std::move(shape);
} catch (...) {
  tenon::WithoutMemory();
}

int TF_NumDims(const TF_Tensor* tensor) { return IsThere(tensor) ? tensor->shape.rank() : -1; }

int64_t TF_Dim(const TF_Tensor* tensor, int dim_index) {
  return dim_index >= 0 && dim_index < TF_NumDims(tensor) ? tensor->shape.dim(dim_index) : -1;
}

size_t TF_TensorByteSize(const TF_Tensor* tensor) {
  return IsThere(tensor) && tensor->buffer != nullptr ? tensor->buffer->bytes() : 0;
}

void* TF_TensorData(const TF_Tensor* tensor) { return IsThere(tensor) ? tensor->data() : nullptr; }

int64_t TF_TensorElementCount(const TF_Tensor* tensor) {
  return IsThere(tensor) ? tensor->shape.num_elements() : 0;
}

void TF_TensorBitcastFrom(const TF_Tensor* from, TF_DataType type, TF_Tensor* to,
                          const int64_t* new_dims, int num_new_dims, TF_Status* status) try {
  if (!tenon::api::AllGiven({{"from", from}, {"to", to}}, status)) return;
  const auto fail = [status](const char* message) {
    TF_SetStatus(status, TF_INVALID_ARGUMENT, message);
  };
  const size_t from_size = TF_DataTypeSize(TF_TensorType(from));
  const size_t to_size = TF_DataTypeSize(type);
  if (from_size == 0) return fail("other tensor has zero-sized data type");
  if (to_size == 0) return fail("specified output type is zero-sized");
  if (num_new_dims < 0) return fail("a tensor cannot have a negative number of dimensions");
  if (!tenon::api::IsArray("new_dims", new_dims, num_new_dims, status)) return;
  for (const int64_t size : absl::MakeConstSpan(new_dims, num_new_dims)) {
    if (size < 0) return fail(absl::StrCat("Expected a non-negative size, got ", size).c_str());
  }
  absl::StatusOr<Shape> shape = Shape::Make(absl::MakeConstSpan(new_dims, num_new_dims));
  if (!shape.ok()) return tenon::StatusToC(shape.status(), status);
  const absl::StatusOr<size_t> bytes = tenon::TensorBytes(DataTypeFromC(type), *shape);
  if (!bytes.ok() || *bytes != from->value().bytes()) {
    return fail("input and output shapes/data type sizes are not compatible");
  }
  tenon::HandleLoans::Share(to);
  to->Set(Tensor(DataTypeFromC(type), *std::move(shape), from->value().buffer()));
} catch (...) {
  tenon::WithoutMemory(status);
}

// Strings count as aligned: no kernel loads the elements as vectors. So does what a device
// allocated: it may be no memory at all, behind an odd address.
bool TF_TensorIsAligned(const TF_Tensor* tensor) {
  return IsThere(tensor) && (tensor->dtype == tenon::DataType::kString ||
                             (tensor->buffer != nullptr && tensor->buffer->of_device()) ||
                             tenon::IsAligned(tensor->data()));
}

void TF_TensorFromProto(const TF_Buffer* from, TF_Tensor* to, TF_Status* status) try {
  if (!tenon::api::AllGiven({{"from", from}, {"to", to}}, status)) return;
  absl::StatusOr<Tensor> tensor = tenon::TensorFromWire(tenon::BufferBytes(*from));
  // TensorFlow's code and message for bytes that are no TensorProto.
  if (!tensor.ok() && tensor.status().code() == absl::StatusCode::kDataLoss) {
    return TF_SetStatus(status, TF_INVALID_ARGUMENT, "Unparseable tensorflow.TensorProto proto");
  }
  if (!tensor.ok()) return tenon::StatusToC(tensor.status(), status);
  tenon::HandleLoans::Share(to);
  to->Set(*std::move(tensor));
} catch (...) {
  tenon::WithoutMemory(status);
}

}  // extern "C"
