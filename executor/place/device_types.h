// The devices of a session by type, and which of the types have a kernel for a node.
// Private to executor/place/.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "graph/ir/graph.h"
#include "plugin/device/device.h"
#include "plugin/kernels/kernel_registry.h"

namespace tenon {

// What a node's kind allows. Bits are those of DeviceTypes.
struct KindSupport {
  uint64_t mask = 0;      // types with a kernel
  uint64_t borrowed = 0;  // types where nothing but the host's own kernel serves it, or the plan
  uint64_t mismatch = 0;  // types with a kernel of the op, but for other dtypes
  bool mover = false;     // needs no kernel
  std::vector<int32_t> priority;  // of the kernel, by type
  std::vector<std::string> why;   // what else keeps a type's kernel from serving it, by type
  absl::Status error;             // the registrations contradict each other
};

// Types in order of preference: highest device priority first, then by name. What two plug-ins
// bring under one name are two types. Device pointers must outlive it.
class DeviceTypes {
 public:
  DeviceTypes(absl::Span<Device* const> devices, const KernelRegistry& kernels);

  // FAILED_PRECONDITION unless the host is among the devices; INVALID_ARGUMENT for more than 64
  // types.
  absl::Status Check() const;

  // Cached by kind: one question to the registry per kind and type. All calls are for graphs that
  // share one storage.
  const KindSupport& Support(const Graph& graph, NodeId n) const;
  // Why `device` cannot have n; why it can, but `chosen` goes before it.
  std::string WhyNot(const Graph& graph, NodeId n, const Device* device) const;
  std::string WhyWorse(const Graph& graph, NodeId n, const Device* device,
                       const Device* chosen) const;

  size_t count() const { return types_.size(); }
  absl::Span<Device* const> devices() const { return devices_; }
  Device* host() const { return host_; }
  uint64_t host_bit() const { return Bit(host_); }
  uint64_t Bit(const Device* device) const;
  Device* ByFullName(std::string_view name) const;
  // The first device of the best type in `mask`. `kernel_priority` (may be empty) goes before the
  // device's own priority.
  Device* Best(uint64_t mask, absl::Span<const int32_t> kernel_priority) const;
  // The first device that fits type and ordinal (empty, -1: any) and is in `mask`, or null.
  Device* Find(std::string_view type, int ordinal, uint64_t mask) const;
  std::string Names() const;

 private:
  struct Type {
    std::string_view name, plugin;
    int priority;
    std::vector<Device*> devices;  // by ordinal
  };
  KindSupport Ask(const Graph& graph, NodeId n) const;
  const KindSupport& Add(const Graph& graph, NodeId n) const;

  const KernelRegistry& kernels_;
  std::vector<Device*> devices_;
  std::vector<Type> types_;
  absl::flat_hash_map<const Device*, uint64_t> bits_;
  absl::flat_hash_map<std::string, Device*> by_name_;
  Device* host_ = nullptr;
  mutable std::deque<KindSupport> supports_;
  mutable std::vector<const KindSupport*> by_kind_;  // by index of kind; null: not asked yet
  mutable absl::flat_hash_map<DataType, const KindSupport*> constants_;
  mutable std::string last_name_;  // that ByFullName was asked for
  mutable Device* last_device_ = nullptr;
};

}  // namespace tenon
