// Queues one kernel: arguments in order, then Run.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>

#include "call.h"

namespace opencl {

// Holds the kernel's lock for its whole life. A thread that has a Launch must not begin another one
// of the same kernel.
class Launch {
 public:
  // Compiles the kernel if nobody has: `key` decides what make_source() returns. Throws what
  // Programs::Get throws.
  template <typename MakeSource>
  Launch(Call& call, const KernelKey& key, MakeSource make_source)
      : Launch(call, call.device().programs().Get(key, make_source)) {}

  // Memory and the index of its first element: two arguments, `__global T* x, ulong x_at`.
  Launch& Memory(const void* address, size_t bytes, size_t element_bytes);
  Launch& Memory(const Tensor& tensor) {
    return Memory(tensor.data, tensor.bytes(), TypeOf(tensor.type).bytes);
  }
  // Where the kernel reports an error, and as what: `__global int* errors, int number`.
  Launch& Errors(cl_int number);
  // Any plain value, of the size that the kernel declares.
  template <typename T>
  Launch& Value(const T& value) {
    return Raw(&value, sizeof(value));
  }
  Launch& Bytes(const void* data, size_t size) { return Raw(data, size); }
  Launch& Int(int64_t value) { return Value(static_cast<cl_int>(value)); }

  // A number of elements: `uint n`, or `ulong n` if `wide`.
  Launch& Length(int64_t count, bool wide);
  // A loop as the kernels' structs have it: dims, then the strides of each operand, of 32 bits, or
  // of 64 if `wide`.
  Launch& Positions(const Loop& loop, bool wide);

  // Work-items in each dimension, in groups of `group`, of which each number by itself is cut down
  // to most_work_items().
  // `global` is rounded up to whole groups: each work-item of the kernel must see whether it has
  // something to do. Queues nothing if a dimension of `global` is 0.
  void Run(std::array<size_t, 3> global, std::array<size_t, 3> group);
  void Run(int64_t global, size_t group = 256) {
    Run({static_cast<size_t>(global), 1, 1}, {group, 1, 1});
  }
  // A work-item for each column of each row, in groups along the rows.
  void RunRows(int64_t columns, int64_t rows);
  size_t most_work_items() const { return kernel_.most_work_items; }

 private:
  Launch(Call& call, Kernel& kernel);
  Launch& Raw(const void* data, size_t size);

  Call& call_;
  Kernel& kernel_;
  std::unique_lock<std::mutex> lock_;
  cl_uint next_ = 0;
  bool may_report_ = false;
};

}  // namespace opencl
