// A kernel of a plug-in (TensorFlow's C ABI) for one node. Each executable keeps one for each node
// and computes it many times.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "graph/ir/graph.h"
#include "graph/tensor/tensor.h"
#include "plugin/device/device.h"
#include "plugin/kernels/kernel_registry.h"

struct TF_OpKernelContext;

namespace tenon {

class ComputeStreams;   // plugin/device/compute_streams.h
class ResourceManager;  // plugin/kernels/resource.h

// Facts for all kernels of an executable. Kernels share them with the executable, since a kernel on
// which the executable gave up may still use them.
struct KernelSurroundings {
  ResourceManager* resources =
      nullptr;                   // the session's; only valid in calls that the host waits for
  std::string config_proto;      // serialized ConfigProto
  std::string function_library;  // serialized FunctionDefLibrary
};

// The node that a kernel is made for.
struct KernelNode {
  std::string_view name;
  const OpDef* op = nullptr;
  const AttrSet* attrs = nullptr;
  const NodeTypes* types = nullptr;
  std::string node_def_wire;             // serialized NodeDef
  std::vector<std::string> input_names;  // "node" or "node:port" as the graph has them
  std::string device_name;               // full name
  int graph_def_version = 0;             // producer
  std::shared_ptr<const KernelSurroundings> surroundings;  // null: no resources, empty strings
};

// Which inputs and outputs of a node lie in host memory for a kernel. Any one of three things puts
// a tensor there: a HostMemory declaration of the kernel, the type (string, resource), or the
// attributes _input_hostmem and _output_hostmem. A variant without one of these lies in host memory
// too, and is not marked here.
struct MemoryTypes {
  absl::InlinedVector<bool, 8> input_on_host;
  absl::InlinedVector<bool, 8> output_on_host;
};
// Whether a tensor lies in host memory: `declared` is what MemoryTypes says of it. References to
// variables and variants are host objects, whatever the kernel declares.
inline bool LiesOnHost(DataType type, bool declared) {
  return declared || IsRef(type) || type == DataType::kVariant;
}
// INVALID_ARGUMENT for a HostMemory argument that the OpDef lacks. Other errors are those of
// InputRange and OutputRange. The attributes' indices that are out of range are ignored.
absl::StatusOr<MemoryTypes> ResolveMemoryTypes(const KernelDef& kernel, const KernelNode& node);

// A context for calls of any kernels, one call at a time. A caller uses one context for many calls,
// since calls are faster the less memory they touch.
struct ContextDeleter {
  void operator()(TF_OpKernelContext* context) const;
};
using ContextPtr = std::unique_ptr<TF_OpKernelContext, ContextDeleter>;
ContextPtr NewContext();

// The arguments of one call. Spans and pointers are the caller's, and must be valid until Compute
// or Begin has returned; `streams` after Begin until End has returned.
struct ComputeArgs {
  struct Input {
    Tensor* tensor = nullptr;
    // No later step reads the tensor: its buffer may become an output. The call of an asynchronous
    // kernel then moves the tensor away.
    bool last_use = false;
  };
  std::span<const Input> inputs;
  std::span<Tensor* const> outputs;  // empty tensors, which the kernel sets
  int64_t step_id = 0;
  uint64_t frame_id = 0;
  int64_t iter_id = 0;
  // On a device: the compute streams, and the number of the call's own; null and 0 are the first.
  ComputeStreams* streams = nullptr;
  int stream = 0;
  double timeout_s = 60;  // seconds, for an asynchronous kernel's callback and for deferred work
};

// One kernel object of a plug-in. Methods may be called by several threads at once, if each has a
// context of its own.
class PluginKernel {
 public:
  // Runs create_func. Errors: the plug-in's code and text + "[[{{node n}}]]"; INTERNAL for an
  // exception; those of ResolveMemoryTypes. The targets of the node's views and pointers, and
  // `device`, must outlive the kernel; node.types is copied. A null `device` is the host.
  static absl::StatusOr<std::unique_ptr<PluginKernel>> Create(
      std::shared_ptr<const KernelDef> kernel, KernelNode node, Device* device);
  virtual ~PluginKernel() = default;  // calls delete_func; warns if it throws

  // Queues the computation (device) or runs it (host). Thread-safe, with a context for each thread.
  // Waits for an asynchronous kernel and for deferred work. Errors:
  //   the first failure: one that the kernel reported, where UNAVAILABLE becomes INTERNAL; INTERNAL
  //   for an exception;
  //   DEADLINE_EXCEEDED if the callback or the deferred work takes longer than timeout_s. A
  //   synchronous compute_func has no limit;
  //   INTERNAL "Missing 0-th output from {{node n}}" for a missing output, if there is no failure;
  //   INTERNAL, a fault of the plug-in (IsPluginFault), for an output without a PJRT buffer on a
  //   device without streams.
  // After an error some outputs may be set. No other call may use `context` meanwhile. If the
  // plug-in may still use the context after the call, and always in strict mode, `context` becomes
  // a new one. An asynchronous kernel leaves `context` alone: its contexts are the kernel's own.
  virtual absl::Status Compute(const ComputeArgs& args, ContextPtr& context) = 0;
  // Whether the kernel is asynchronous: it computes on other threads, and Compute only waits. Begin
  // and End are then the two halves of Compute; between them the caller may do other work and begin
  // other calls.
  virtual bool is_async() const = 0;
  // Begins a call of an asynchronous kernel: runs compute_async_func. The call keeps its own
  // references to the inputs, and takes of args.outputs only their number. The caller must end
  // every call, on this kernel; End returns the failures of Begin.
  virtual ContextPtr Begin(const ComputeArgs& args) = 0;
  // Waits for the call, its done callback and its deferred work, and sets `outputs`, as many as
  // Begin was told. Errors are those of Compute. DEADLINE_EXCEEDED comes timeout_s after Begin
  // called the plug-in. If compute_async_func threw, End waits for nothing: the work has ended if
  // the callback came before. Where the work has not ended, `outputs` stay alone. After any other
  // error they are set, those that the kernel did not set to empty tensors.
  virtual absl::Status End(ContextPtr call, std::span<Tensor* const> outputs) = 0;
  // Whether Compute or Begin was called.
  virtual bool has_computed() const = 0;
  virtual const KernelDef& def() const = 0;
  // Brings the memory that Compute reads first into the cache.
  virtual void Prefetch() const = 0;
  virtual const MemoryTypes& memory() const = 0;
};

}  // namespace tenon
