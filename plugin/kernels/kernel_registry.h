// Every kernel that the process knows: the built-in CPU ones and those that plug-ins register.
// Explicit, locked, testable; global because TensorFlow's C ABI registers kernels without a handle.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/op_defs/attr_set.h"
#include "plugin/kernels/kernel.h"

struct TF_OpKernelConstruction;
struct TF_OpKernelContext;
struct TF_AsyncOpKernelDoneCallback;

namespace tenon {

// What a plug-in registered: TensorFlow's callbacks. Any may be null but one of the compute
// functions.
struct PluginKernelFns {
  void* (*create)(TF_OpKernelConstruction*) = nullptr;
  void (*compute)(void*, TF_OpKernelContext*) = nullptr;
  void (*compute_async)(void*, TF_OpKernelContext*, TF_AsyncOpKernelDoneCallback*) = nullptr;
  void (*destroy)(void*) = nullptr;
};

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
  std::string plugin;                         // path of the plug-in; empty: built in
  // The plug-in brings devices of this type itself: its kernels know their streams and memory, not
  // those of another plug-in's devices of the same type.
  bool own_devices_only = false;
  int plugin_priority = 0;  // of the plug-in among plug-ins, as its user says

  const CpuKernelSpec* cpu = nullptr;   // built-in kernels
  PluginKernelFns fns;                  // plug-in kernels
  std::shared_ptr<const void> builder;  // what a plug-in may still hold a pointer to
};

// Whether the kernel serves devices that this plug-in brought (empty: the host), types apart.
bool IsForDevicesOf(const KernelDef& kernel, std::string_view plugin);

// Whether some node fits both kernels, as far as types tell, at the same priority.
bool Compete(const KernelDef& a, const KernelDef& b);

class KernelRegistry {
 public:
  static KernelRegistry& Global();

  void Register(std::shared_ptr<const KernelDef> kernel);
  // Takes every kernel of this plug-in out again. Kernels in use stay alive through their
  // shared_ptr; whether there are any.
  bool RemovePlugin(std::string_view plugin);
  // Whether somebody holds a kernel of this plug-in: a session that was prepared with it.
  bool InUse(std::string_view plugin) const;

  // The kernel for a node on a device type: constraints match, highest priority, the type DEFAULT
  // if the device type itself has none. `device_plugin` brought the device; empty: the host. Of the
  // built-in kernels only those for DEFAULT serve others. NOT_FOUND explains per registration why
  // it does not match; INVALID_ARGUMENT for two of the same priority.
  absl::StatusOr<std::shared_ptr<const KernelDef>> Find(std::string_view node_name,
                                                        std::string_view op, const AttrSet& attrs,
                                                        const OpDef* op_def,
                                                        std::string_view device_type,
                                                        std::string_view device_plugin) const;

  // Why a node for which Find has none is not served by the kernels of its op that are registered
  // for this very device type.
  struct Misfit {
    bool types = false;  // one of them would do if the types of its attributes were others
    std::string why;  // else what is wrong with the first: "has the label 'a' …"; empty: no kernel
  };
  Misfit WhyNot(std::string_view op, const AttrSet& attrs, const OpDef* op_def,
                std::string_view device_type, std::string_view device_plugin) const;

  // TensorFlow's words for a node that none of these types of devices has a kernel for.
  std::string NoKernelText(std::string_view node_name, std::string_view op, const AttrSet& attrs,
                           const OpDef* op_def,
                           absl::Span<const std::string_view> device_types) const;

  // How a plug-in's kernels stand to others for the same nodes at the same priority, where the
  // registration's own order has to decide; one sentence for each of the others.
  std::vector<std::string> Precedence(std::string_view plugin) const;

  // All kernels (of one op where it is not empty), in order of op and device type.
  std::vector<std::shared_ptr<const KernelDef>> List(std::string_view op = {}) const;
  // Those of one plug-in, in the same order.
  std::vector<std::shared_ptr<const KernelDef>> ListOf(std::string_view plugin) const;

 private:
  KernelRegistry();
  struct Impl;
  Impl* impl_;
};

}  // namespace tenon
