// What the kernels built on oneDNN share: the engine, primitives that run with pointers only,
// packed weights.
//
// oneDNN computes with one thread here; kernels split their work over Workers themselves, into
// pieces that do not depend on the number of threads. dnnl.hpp throws: every use of it stands
// inside Guarded().
#pragma once

#include <atomic>
#include <dnnl.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "graph/tensor/dtype.h"
#include "graph/tensor/tensor.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

// Opens oneDNN if need be and calls f with one OpenMP thread. What f throws becomes a status:
// UNIMPLEMENTED when oneDNN has no primitive for the request, RESOURCE_EXHAUSTED, or INTERNAL.
absl::Status Guarded(absl::FunctionRef<absl::Status()> f);

// Only inside Guarded().
const dnnl::engine& OneDnnEngine();

// float and bfloat16; the latter only where this processor has kernels for it.
std::optional<dnnl::memory::data_type> OneDnnType(DataType t);

using MemoryDesc = dnnl::memory::desc;

// Whether an implementation, by what oneDNN says of it, is reference code: a hundred times slower
// than the others.
bool IsReference(const char* impl_info);
// Whether a convolution's implementation is a product of copies of the windows.
bool CopiesWindows(const char* impl_info);

// Scratch memory is given by us, so that a run allocates nothing.
dnnl::primitive_attr UserScratchpad();

// A primitive together with the descriptors of its arguments. Run is thread-safe and, but for the
// first run of each thread that is there at once, does not allocate.
class OneDnnRunner {
 public:
  struct Arg {
    int kind;  // DNNL_ARG_...
    MemoryDesc desc;
  };
  // Inside Guarded(). A scratchpad argument is added when the primitive wants one.
  OneDnnRunner(const dnnl::primitive& primitive, std::vector<Arg> args,
               const MemoryDesc& scratchpad);
  ~OneDnnRunner();
  OneDnnRunner(const OneDnnRunner&) = delete;
  OneDnnRunner& operator=(const OneDnnRunner&) = delete;

  size_t scratch_bytes() const { return scratch_bytes_; }
  // One pointer per argument, in their order; `scratch` as large as scratch_bytes().
  absl::Status Run(absl::Span<void* const> pointers, void* scratch) const;

 private:
  struct Context;
  Context* Take() const;
  void Return(Context* context) const;

  static constexpr int kKept = 8;
  dnnl::primitive primitive_;
  std::vector<Arg> args_;
  size_t scratch_bytes_ = 0;
  mutable std::atomic<Context*> kept_[kKept] = {};
};

// One-shot reorder of `from` into `to`, inside Guarded().
void Reorder(const MemoryDesc& from_desc, const void* from, const MemoryDesc& to_desc, void* to);

// A buffer for packed weights, aligned to kTensorAlignment; `data` is null if memory was short.
class PackedBytes {
 public:
  explicit PackedBytes(size_t bytes);
  void* data;

 private:
  BufferRef buffer_;
};

// The constant weights of input i, of which the piece described by `from` begins at byte `offset`,
// in layout `to`: packed once per session. Inside Guarded(). RESOURCE_EXHAUSTED if memory is short.
absl::StatusOr<std::shared_ptr<const PackedBytes>> PackConstant(Prepare& p, int i, size_t offset,
                                                                const MemoryDesc& from,
                                                                const MemoryDesc& to);

// How many primitives this process has made, by their kind and implementation: "convolution
// jit:avx2". For tests: none may be reference code.
std::map<std::string, int64_t> OneDnnPrimitives();

// A text that two descriptors share only if they describe the same layout.
std::string LayoutKey(const MemoryDesc& desc);

}  // namespace tenon::cpu
