// Integers that are shapes and indices: as in TensorFlow's kernels for GPUs, int32 tensors stay in
// the host's memory, and the ops that make and move them run there, although the device asks for
// them.
#pragma once

#include "../base/call.h"
#include "../base/registry.h"

namespace opencl {

// CopyStrided: copies element by element over `loop`, whose operands are source and target, from
// element `from_at` of `from` on to element `to_at` of `to` on. If `on_host`, both tensors must be
// int32 in host memory, and the copy is done on return. Otherwise both are in device memory, of any
// type, and the copy is queued.
void CopyAnywhere(Call& call, bool on_host, const Tensor& from, int64_t from_at, const Tensor& to,
                  int64_t to_at, const Loop& loop);

// Registers ops that compute shapes and places, such as Range, of int32 and int64, with inputs and
// outputs in host memory.
void RegisterHostIntegers();
// Registers StridedSlice of every type that the plug-in has. That of int32 has input and output in
// host memory; begin, end and strides lie there for every type.
void RegisterStridedSlice();

}  // namespace opencl
