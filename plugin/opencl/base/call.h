// What a kernel sees of a node: its attributes when it is made, its tensors when it is called.
#pragma once

#include <string>
#include <vector>

#include "../device/status.h"
#include "../device/stream.h"
#include "dims.h"
#include "tensorflow/c/kernels.h"
#include "types.h"

namespace opencl {

struct DeleteTensor {
  void operator()(TF_Tensor* tensor) const { TF_DeleteTensor(tensor); }
};
using TensorPtr = std::unique_ptr<TF_Tensor, DeleteTensor>;

// A tensor by its facts. It holds no handle: the host keeps memory until queued work is done, and a
// handle that is held would keep a buffer from being forwarded.
struct Tensor {
  TF_DataType type = TF_FLOAT;
  Dims dims;
  void* data = nullptr;  // an address of the device, or of the host for arguments in host memory
  int64_t count = 0;

  int rank() const { return static_cast<int>(dims.size()); }
  size_t bytes() const { return static_cast<size_t>(count) * TypeOf(type).bytes; }
};

// Attributes of a node, of which each function takes the name. They throw the host's error if the
// node has no such attribute, or one of another type.
class Construction {
 public:
  explicit Construction(TF_OpKernelConstruction* context) : context_(context) {}

  TF_DataType Type(const char* attr) const;
  int64_t Int(const char* attr) const;
  float Float(const char* attr) const;
  bool Bool(const char* attr) const;
  std::string String(const char* attr) const;
  std::vector<int64_t> Ints(const char* attr) const;
  std::vector<std::string> Strings(const char* attr) const;
  std::vector<TF_DataType> Types(const char* attr) const;
  bool Has(const char* attr) const;  // never throws
  // "node 'name' (op)", for messages of an op that needs to know its name.
  std::string NodeText(const char* op) const;

 private:
  int32_t ListSize(const char* attr, int32_t* total = nullptr) const;
  TF_OpKernelConstruction* context_;
};

// One call of a kernel, on the thread on which the host calls it. Indices of inputs and outputs
// count tensors, from 0. Functions and the constructor throw the host's error, such as
// RESOURCE_EXHAUSTED without memory.
class Call {
 public:
  // `context` must outlive the object.
  explicit Call(TF_OpKernelContext* context);

  TF_OpKernelContext* context() const { return context_; }
  Stream& stream() { return *stream_; }
  Device& device() { return stream_->device(); }

  // What a tensor of the host is; `tensor` stays the caller's.
  static Tensor Facts(const TF_Tensor* tensor);

  int inputs() const { return TF_NumInputs(context_); }
  int outputs() const { return TF_NumOutputs(context_); }
  Tensor In(int index) const;
  // The integers of an input in host memory, of int16, int32, int64 or uint64 and of any shape, in
  // row-major order.
  std::vector<int64_t> HostInts(int index) const;

  // An output of this shape, in new memory. Throws INVALID_ARGUMENT if its size is beyond 63 bits.
  Tensor Out(int index, const Dims& dims);
  // The same, but in the memory of one of these inputs, if it may be changed and fits; else in new
  // memory.
  Tensor OutLike(int index, const Dims& dims, const std::vector<int>& candidates);
  // The output is the input's memory, as a tensor of `dims`, which have as many elements.
  void OutIsInput(int output, int input, const Dims& dims);
  // Device memory. The handle goes with this object; the host keeps the memory until queued work is
  // done.
  Tensor Temp(TF_DataType type, const Dims& dims);
  // As Temp, in bytes.
  void* TempBytes(size_t bytes);

 private:
  TF_OpKernelContext* context_;
  SP_Stream stream_;
  std::vector<TensorPtr> temporary_;
};

[[noreturn]] void Refuse(const std::string& message);          // INVALID_ARGUMENT
[[noreturn]] void NotImplemented(const std::string& message);  // UNIMPLEMENTED
// `axis` counted from the front. Throws INVALID_ARGUMENT, with the name `op`, unless `axis` is in
// [-rank, rank).
int NormalAxis(int64_t axis, int rank, const char* op);

}  // namespace opencl
