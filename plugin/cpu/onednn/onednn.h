// Shared code of the kernels built on oneDNN: the engine, primitives that run with pointers only,
// packed weights.
//
// oneDNN computes with one thread here. Kernels split their work over Workers themselves. Where the
// order of a sum depends on the size of a piece, the pieces do not depend on the number of threads
// (TilesFor). dnnl.hpp reports errors by exceptions: every use of dnnl.hpp stands inside Guarded().
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

namespace tenon {
class Prepare;  // plugin/kernels/kernel.h
}

namespace tenon::cpu {

// Opens oneDNN at the first call, then calls f with one OpenMP thread and returns f's status. An
// exception of oneDNN or std::bad_alloc becomes a status; any other exception passes. Thread-safe.
//   NOT_FOUND           oneDNN cannot be opened; f is not called
//   UNIMPLEMENTED       oneDNN has no primitive for the request
//   RESOURCE_EXHAUSTED  there is not enough memory
//   INTERNAL            any other error of oneDNN
absl::Status Guarded(absl::FunctionRef<absl::Status()> f);

// Returns the process's CPU engine. Only inside Guarded(). The engine is never destroyed.
const dnnl::engine& OneDnnEngine();

// Returns oneDNN's name of type `t`: float, or bfloat16 where CpuIsa() is AVX-512. nullopt for any
// other type: for other floats oneDNN has no fast kernels.
std::optional<dnnl::memory::data_type> OneDnnType(DataType t);
// Returns whether oneDNN multiplies bfloat16 by instructions of the processor. False if TENON_ISA
// is set (isa.h). Without such instructions oneDNN emulates bfloat16, at a third of the speed of
// float products.
bool ComputesBfloat16();

using MemoryDesc = dnnl::memory::desc;

// Returns whether an implementation is oneDNN's reference code, by its impl_info_str(). Reference
// code is about a hundred times slower than the other implementations.
bool IsReference(const char* impl_info);
// Returns whether a convolution's implementation copies the windows into a matrix (im2col) and
// multiplies that matrix.
bool CopiesWindows(const char* impl_info);

// Returns attributes by which the caller of a primitive supplies the scratch memory, so that a run
// does not allocate.
dnnl::primitive_attr UserScratchpad();

// A primitive together with the descriptors of its arguments.
//
// Run is thread-safe. Concurrent runs need a Context each. The object keeps up to kKept contexts,
// so that Run allocates when more runs are concurrent than ever before, or more than kKept, and
// else hardly ever: a search may miss a context that comes back meanwhile.
class OneDnnRunner {
 public:
  struct Arg {
    int kind;  // DNNL_ARG_...
    MemoryDesc desc;
  };
  // Only inside Guarded(). If `scratchpad` has a size, the constructor adds a scratchpad argument
  // behind `args`; `primitive` then has the attributes of UserScratchpad().
  OneDnnRunner(const dnnl::primitive& primitive, std::vector<Arg> args,
               const MemoryDesc& scratchpad);
  ~OneDnnRunner();
  OneDnnRunner(const OneDnnRunner&) = delete;
  OneDnnRunner& operator=(const OneDnnRunner&) = delete;

  size_t scratch_bytes() const { return scratch_bytes_; }
  // Executes the primitive in the calling thread; needs no Guarded(). `pointers` has one pointer
  // per element of the constructor's `args`, in the same order. `scratch` has scratch_bytes()
  // bytes. RESOURCE_EXHAUSTED if there is no memory for another context; INTERNAL if oneDNN fails.
  absl::Status Run(absl::Span<void* const> pointers, void* scratch) const;

 private:
  struct Context;
  static unsigned FirstPlace();
  Context* Take() const;
  void Return(Context* context) const;

  static constexpr int kKept = 64;
  dnnl::primitive primitive_;
  std::vector<Arg> args_;
  size_t scratch_bytes_ = 0;
  mutable std::atomic<Context*> kept_[kKept] = {};
};

// Copies `from` of layout `from_desc` to `to` of layout `to_desc`, in the calling thread. Only
// inside Guarded().
void Reorder(const MemoryDesc& from_desc, const void* from, const MemoryDesc& to_desc, void* to);

// A buffer for packed weights. The object owns the memory, which starts with any values.
class PackedBytes {
 public:
  explicit PackedBytes(size_t bytes);
  // Returns null if there is not enough memory, so that SessionState::GetPacked keeps nothing.
  static std::shared_ptr<PackedBytes> Make(size_t bytes);
  void* data;  // aligned to kTensorAlignment; null if there was not enough memory

 private:
  BufferRef buffer_;
};

// Returns a copy, in layout `to`, of constant weights. The weights are the piece of input i that
// begins at byte `offset` and has layout `from`; the value of input i must be known. The session
// packs each piece once per layout and shares the result. The caller calls Prepare::DropInput if
// nothing else reads the input. Only inside Guarded(). RESOURCE_EXHAUSTED if there is not enough
// memory.
absl::StatusOr<std::shared_ptr<const PackedBytes>> PackConstant(Prepare& p, int i, size_t offset,
                                                                const MemoryDesc& from,
                                                                const MemoryDesc& to);

// Returns how many OneDnnRunners this process has made so far, by the kind and implementation of
// their primitives, e.g. "convolution jit:avx2". Tests check that none is reference code.
// Thread-safe.
std::map<std::string, int64_t> OneDnnPrimitives();

// Returns a text that is equal for two descriptors in oneDNN's plain or blocked format only if they
// describe the same type, sizes and layout. Of any other format the text has only kind, type and
// sizes.
std::string LayoutKey(const MemoryDesc& desc);

}  // namespace tenon::cpu
