// The devices of a session, by type, and the device types that have a kernel for a node.
// Private to executor/place/.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "executor/stablehlo/lowerability.h"
#include "graph/ir/graph.h"
#include "plugin/device/device.h"
#include "plugin/kernels/kernel_registry.h"

namespace tenon {

// The device types on which a node of one NodeKind may run. A mask holds one bit for each type
// (DeviceTypes::Bit); vectors "by type" are indexed by the number of the bit. `mismatch` and the
// entries of `why` stay empty in a session with one type.
struct KindSupport {
  // Types on which the node may run: they have a kernel for it, or it needs none there. 0: no type.
  uint64_t mask = 0;
  // Types, never the host's, that bring no kernel of their own: the host's kernel serves the node,
  // or the plan does. May hold types that are not in `mask`.
  uint64_t borrowed = 0;
  // Types with a kernel of the op, but for other dtypes, or whose compiler refuses the dtypes.
  uint64_t mismatch = 0;
  // The node only moves values or calls functions: it needs no kernel.
  bool mover = false;
  // By type: the priority of the kernel; 0 without a kernel.
  std::vector<int32_t> priority;
  // By type: a reason other than dtypes why the type's kernel of the op does not serve the node, or
  // any reason why the type's compiler refuses it; empty: there is none.
  std::vector<std::string> why;
  // The registry's error, if registrations of kernels contradict each other. Its text names the
  // first node of the kind that Support was asked about (of constants, the first of the dtype), but
  // not the node's place in a file.
  absl::Status error;
};

// The device types of a session in order of preference: highest device priority first, then by
// name, then as the devices were given. A type is a name and a plug-in: devices that two plug-ins
// bring under one name are of two types. Does not own the devices and the registry, which must
// outlive this object. Not thread-safe, const functions included: they fill caches.
class DeviceTypes {
 public:
  DeviceTypes(absl::Span<Device* const> devices, const KernelRegistry& kernels);

  // To be called before the other functions, which need what it checks. FAILED_PRECONDITION unless
  // the host is among the devices; INVALID_ARGUMENT for more than 64 types.
  absl::Status Check() const;

  // The support of node n. Asks the registry once per kind and type, and once per type for all
  // constants of one dtype. Every call must pass a graph that shares its storage with the graph of
  // the first call, since kinds are told apart by their index in that storage; with a device that
  // compiles it must be the graph of the first call, which must outlive this object. The reference
  // is valid as long as this object.
  const KindSupport& Support(const Graph& graph, NodeId n) const;
  // Why node n cannot run on `device`, a device of this session with a type outside of the node's
  // mask. A part of a sentence, without the node's name.
  std::string WhyNot(const Graph& graph, NodeId n, const Device* device) const;
  // Why `chosen` is preferred to `device`, on which node n could run too. Both are of this session.
  std::string WhyWorse(const Graph& graph, NodeId n, const Device* device,
                       const Device* chosen) const;

  size_t count() const { return types_.size(); }
  absl::Span<Device* const> devices() const { return devices_; }
  Device* host() const { return host_; }
  uint64_t host_bit() const { return Bit(host_); }
  // The bit of the device's type; 0 for a device that is not of this session.
  uint64_t Bit(const Device* device) const;
  // The device of this full name. Null for an empty or unknown name.
  Device* ByFullName(std::string_view name) const;
  // The first device of the best type in `mask`; the host for an empty mask. The best type has the
  // highest entry of `kernel_priority` (by type; empty: all equal); of several, it is the first in
  // the order of preference.
  Device* Best(uint64_t mask, absl::Span<const int32_t> kernel_priority) const;
  // The first device, in the order of preference, with this type name (empty: any), this ordinal
  // (-1: any) and a type in `mask`. Null: none.
  Device* Find(std::string_view type, int ordinal, uint64_t mask) const;
  // The short names of all devices, in the order given, separated by commas.
  std::string Names() const;

 private:
  struct Type {
    std::string_view name, plugin;
    int priority;
    std::vector<Device*> devices;  // in the order given
    bool compiles = false;         // Device::compiles
    bool compiles_ops = false;     // Device::compiles_ops
  };
  // The support by type number `i`, whose devices compile: what can be lowered runs there.
  void AskCompiler(const Graph& graph, NodeId n, size_t i, KindSupport& support) const;
  // Whether a node without a kernel can be compiled.
  bool Compiles(const Graph& graph, NodeId n) const;
  // The support of node n, from the registry.
  KindSupport Ask(const Graph& graph, NodeId n) const;
  // Finds the support of n's kind, which is not known yet, and keeps it.
  const KindSupport& Add(const Graph& graph, NodeId n) const;

  const KernelRegistry& kernels_;
  std::vector<Device*> devices_;
  std::vector<Type> types_;
  absl::flat_hash_map<const Device*, uint64_t> bits_;
  absl::flat_hash_map<std::string, Device*> by_name_;
  Device* host_ = nullptr;
  mutable std::deque<KindSupport> supports_;         // callers keep references: these never move
  mutable std::vector<const KindSupport*> by_kind_;  // by index of kind; null: not asked yet
  mutable absl::flat_hash_map<DataType, const KindSupport*> constants_;  // of Const, by dtype
  mutable std::string last_name_;  // the last argument of ByFullName
  mutable Device* last_device_ = nullptr;
  mutable std::unique_ptr<stablehlo::Lowerability> lowerability_;  // of the first call's graph
};

}  // namespace tenon
