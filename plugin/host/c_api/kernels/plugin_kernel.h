// A kernel that came through TensorFlow's C ABI, for one node: created once per session and node,
// computed many times.
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

class ResourceManager;  // plugin/kernels/resource.h

// What all kernels of an executable may ask for; shared with those that it has given up on.
struct KernelSurroundings {
  ResourceManager* resources = nullptr;  // the session's: only for calls that it waits for
  std::string config_proto;              // serialized ConfigProto
  std::string function_library;          // serialized FunctionDefLibrary
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
  std::shared_ptr<const KernelSurroundings> surroundings;
};

// Which inputs and outputs of a node lie in host memory for this kernel: by HostMemory
// declarations, by type (string, resource) and by _input_hostmem/_output_hostmem. INVALID_ARGUMENT
// for a HostMemory argument that the OpDef lacks.
struct MemoryTypes {
  absl::InlinedVector<bool, 8> input_on_host;
  absl::InlinedVector<bool, 8> output_on_host;
};
absl::StatusOr<MemoryTypes> ResolveMemoryTypes(const KernelDef& kernel, const KernelNode& node);

// What plug-ins see of calls, one at a time and of whatever kernels: the less memory calls touch,
// the faster they are.
struct ContextDeleter {
  void operator()(TF_OpKernelContext* context) const;
};
using ContextPtr = std::unique_ptr<TF_OpKernelContext, ContextDeleter>;
ContextPtr NewContext();

struct ComputeArgs {
  struct Input {
    Tensor* tensor = nullptr;  // valid while the kernel computes
    bool last_use = false;     // nobody reads it later: its buffer may become an output
  };
  std::span<const Input> inputs;
  std::span<Tensor* const> outputs;  // nothing yet; filled by the kernel
  int64_t step_id = 0;
  uint64_t frame_id = 0;
  int64_t iter_id = 0;
  double timeout_s = 60;  // for an asynchronous kernel's done callback and for deferred work
};

class PluginKernel {
 public:
  // Runs create_func. Errors: the plug-in's code and text + "[[{{node n}}]]".
  // What the node's views point to must outlive the kernel.
  static absl::StatusOr<std::unique_ptr<PluginKernel>> Create(
      std::shared_ptr<const KernelDef> kernel, KernelNode node, Device* device);
  virtual ~PluginKernel() = default;  // delete_func

  // Enqueues (device) or runs (host) the computation; thread-safe. The first failure that the
  // kernel reported wins; a missing output is INTERNAL "Missing 0-th output from {{node n}}";
  // exceptions become INTERNAL. An async kernel, and work that a kernel deferred, is waited for:
  // DEADLINE_EXCEEDED after timeout_s.
  // `context` serves this call alone while it lasts, and is another one afterwards if the plug-in
  // may still use it.
  virtual absl::Status Compute(const ComputeArgs& args, ContextPtr& context) = 0;
  // Whether Compute only waits for what another thread does: then Begin and End are its two halves,
  // between which the caller may do other work, and begin other calls.
  virtual bool is_async() const = 0;
  // Begins a call, which gets its own share of the inputs. Whoever begins a call has to end it.
  virtual ContextPtr Begin(const ComputeArgs& args) = 0;
  // Waits for the call; DEADLINE_EXCEEDED timeout_s after its begin. Fills `outputs`.
  virtual absl::Status End(ContextPtr call, std::span<Tensor* const> outputs) = 0;
  // Whether Compute was called.
  virtual bool has_computed() const = 0;
  virtual const KernelDef& def() const = 0;
  // Soon it will be computed: brings what that reads into the cache.
  virtual void Prefetch() const = 0;
  virtual const MemoryTypes& memory() const = 0;
};

}  // namespace tenon
