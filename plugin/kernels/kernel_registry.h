// Every kernel that the process knows: the built-in CPU kernels and the kernels that plug-ins
// register. There is one registry in a process, because TensorFlow's C ABI registers kernels
// without a handle.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/op_defs/attr_set.h"
#include "graph/op_defs/op_def.h"
#include "graph/tensor/dtype.h"

struct TF_OpKernelConstruction;
struct TF_OpKernelContext;
struct TF_AsyncOpKernelDoneCallback;

namespace tenon {

struct CpuKernelSpec;  // plugin/kernels/kernel_spec.h

// The callbacks of a plug-in's kernel, as TensorFlow's C ABI has them. `compute` or `compute_async`
// is set; any other may be null.
struct PluginKernelFns {
  void* (*create)(TF_OpKernelConstruction*) = nullptr;
  void (*compute)(void*, TF_OpKernelContext*) = nullptr;
  void (*compute_async)(void*, TF_OpKernelContext*, TF_AsyncOpKernelDoneCallback*) = nullptr;
  void (*destroy)(void*) = nullptr;
};

// One registration of a kernel. Immutable once it is registered.
struct KernelDef {
  std::string op;
  std::string device_type;  // "CPU", "APU", "DEFAULT"
  std::string label;
  int32_t priority = 0;
  struct Constraint {
    std::string attr;
    std::vector<DataType> allowed;
  };
  std::vector<Constraint> constraints;
  std::vector<std::string> host_memory_args;  // names of inputs and outputs in the OpDef
  std::string class_name;                     // for diagnostics
  // Path of the plug-in, which names its ledger. Empty: built in, or registered outside of a load.
  std::string plugin;
  // The plug-in brings devices of this type itself. Its kernels know streams and memory of its own
  // devices, not of another plug-in's devices of the same type.
  bool own_devices_only = false;
  // The rank of the plug-in among plug-ins, which the user sets. Between kernels of the same
  // priority that of the higher rank serves.
  int plugin_priority = 0;

  const CpuKernelSpec* cpu = nullptr;   // built-in kernels
  PluginKernelFns fns;                  // plug-in kernels
  std::shared_ptr<const void> builder;  // kept alive: the plug-in may still hold a pointer to it
};

// Whether the kernel may serve devices of `plugin` (empty: the host). A built-in kernel serves the
// host, or all devices if it is for DEFAULT. A plug-in's kernel serves all devices, or with
// own_devices_only those of its plug-in. Does not compare device types otherwise.
bool IsForDevicesOf(const KernelDef& kernel, std::string_view plugin);

// Whether two kernels of one op have the same priority, and a node and a device may exist that fit
// both, as far as device types, constraints and labels tell.
bool Compete(const KernelDef& a, const KernelDef& b);

// Thread-safe.
class KernelRegistry {
 public:
  static KernelRegistry& Global();

  // `kernel` must not be null. Checks nothing: of two equal registrations of one plug-in Find
  // cannot choose.
  void Register(std::shared_ptr<const KernelDef> kernel);
  // Removes every kernel of this plug-in; none if `plugin` is empty. A kernel that is in use stays
  // alive through its shared_ptr. Returns whether one is in use.
  bool RemovePlugin(std::string_view plugin);
  // Whether a kernel of this plug-in that is still registered is in use: a session that was
  // prepared with it, or anybody else with a result of Find or List, still shares it.
  bool InUse(std::string_view plugin) const;

  // The kernel for a node on a device type: of those with matching constraints and the label of the
  // node's attribute _kernel, the one of highest priority. At equal priority a plug-in's kernel
  // goes before a built-in one; of two plug-ins the higher plugin_priority goes first, else the one
  // that registered first. If no kernel for the device type matches, a kernel for the type DEFAULT,
  // by the same rules. `device_plugin` is the plug-in that brought the device; empty: the host.
  // Kernels that may not serve its devices (IsForDevicesOf) are left out. `op_def` gives the
  // defaults of attributes; null: there are none. `node_name` is for messages. NOT_FOUND lists the
  // registrations of the op; INVALID_ARGUMENT if these rules do not decide, as two kernels with the
  // same `plugin` match at the highest priority.
  absl::StatusOr<std::shared_ptr<const KernelDef>> Find(std::string_view node_name,
                                                        std::string_view op, const AttrSet& attrs,
                                                        const OpDef* op_def,
                                                        std::string_view device_type,
                                                        std::string_view device_plugin) const;

  // Why no kernel that is registered for the op and exactly this device type serves a node. Ask
  // only if that is so: a kernel that does serve the node counts as one with other types.
  struct Misfit {
    bool types = false;  // one kernel would serve the node if type attributes had other values
    // If `types` is false: the fault of the first kernel, "has the label 'a' …"; empty: no kernel.
    std::string why;
  };
  Misfit WhyNot(std::string_view op, const AttrSet& attrs, const OpDef* op_def,
                std::string_view device_type, std::string_view device_plugin) const;

  // TensorFlow's message for a node for which none of these device types has a kernel.
  std::string NoKernelText(std::string_view node_name, std::string_view op, const AttrSet& attrs,
                           const OpDef* op_def,
                           absl::Span<const std::string_view> device_types) const;

  // The first line of that message if the node lacks an attribute that a kernel of the op
  // constrains; else empty.
  std::string StrayConstraintText(std::string_view op, const AttrSet& attrs,
                                  const OpDef* op_def) const;

  // The registrations of the op as TensorFlow's messages list them: a line each, which begins with
  // two blanks; "  <no registered kernels>" without any.
  std::string RegisteredText(std::string_view op) const;

  // Describes where kernels of a plug-in and kernels of another origin serve the same nodes at the
  // same priority, so that a rule beyond the priority has to decide. For each other origin one
  // sentence counts the pairs in which the plug-in's kernel goes first, and another one those in
  // which it goes behind; no sentence for no pairs.
  std::vector<std::string> Precedence(std::string_view plugin) const;

  // All kernels, or the kernels of `op` if it is not empty, in order of op, device type and
  // registration.
  std::vector<std::shared_ptr<const KernelDef>> List(std::string_view op = {}) const;
  // The kernels of one plug-in, in the same order. `plugin` must not be empty.
  std::vector<std::shared_ptr<const KernelDef>> ListOf(std::string_view plugin) const;

 private:
  KernelRegistry();
  struct Impl;
  Impl* impl_;
};

}  // namespace tenon
