// Kernels are looked up once for each kind of node and device. Kernels of plug-ins are created once
// for each node.

#include "executor/place/kernel_store.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "executor/place/placer.h"
#include "graph/base/status_macros.h"
#include "graph/wire/wire.h"

namespace tenon {
namespace {

// The bytes of the node's NodeDef: a plug-in's kernel may ask for them. The numbers are those of
// the message's fields.
std::string NodeDefWire(const Graph& graph, NodeId n, absl::Span<const std::string> inputs) {
  std::string wire;
  WireWriter writer(&wire);
  writer.Bytes(1, graph.name(n));
  writer.Bytes(2, graph.op_name(n));
  for (const std::string& input : inputs) writer.Bytes(3, input);
  for (const Output& from : graph.control_inputs(n)) writer.Bytes(3, graph.OutputName(from));
  if (!graph.device(n).empty()) writer.Bytes(4, graph.device(n));
  for (const Attr& attr : graph.attrs(n).all()) {
    std::string entry;
    WireWriter entry_writer(&entry);
    entry_writer.Bytes(1, attr.name);
    entry_writer.Bytes(2, attr.value.wire());
    writer.Bytes(5, entry);
  }
  return wire;
}

}  // namespace

absl::StatusOr<const KernelDef*> KernelStore::Find(const Graph& graph, NodeId n,
                                                   const Device& device) {
  TENON_ASSIGN_OR_RETURN(const std::shared_ptr<const KernelDef> def, FindShared(graph, n, device));
  return def.get();  // found_ keeps it
}

absl::StatusOr<std::shared_ptr<const KernelDef>> KernelStore::FindShared(const Graph& graph,
                                                                         NodeId n,
                                                                         const Device& device) {
  const NodeKind& kind = graph.kind(n);
  TENON_RETURN_IF_ERROR(kind.types_status);
  const std::pair key(&kind, &device);
  absl::MutexLock lock(&mutex_);
  auto it = found_.find(key);
  if (it == found_.end()) {
    auto kernel = registry_.Find(graph.name(n), kind.op_name, kind.attrs, kind.op, device.type(),
                                 device.plugin());
    if (absl::IsNotFound(kernel.status()))
      return absl::UnimplementedError(kernel.status().message());
    TENON_RETURN_IF_ERROR(kernel.status());
    it = found_.emplace(key, *std::move(kernel)).first;
  }
  return it->second;
}

std::shared_ptr<const KernelSurroundings> KernelStore::Surroundings() {
  absl::MutexLock lock(&mutex_);
  if (surroundings_ == nullptr)
    surroundings_ = std::make_shared<const KernelSurroundings>(describe_());
  return surroundings_;
}

KernelNode KernelStore::Describe(const Graph& graph, NodeId n, const Device& device) {
  const NodeKind& kind = graph.kind(n);
  KernelNode node;
  node.name = graph.name(n);
  node.op = kind.op;
  node.attrs = &kind.attrs;
  node.types = &kind.types;
  for (const Output& from : graph.data_inputs(n))
    node.input_names.push_back(graph.OutputName(from));
  node.node_def_wire = NodeDefWire(graph, n, node.input_names);
  node.device_name = device.full_name();
  node.graph_def_version = graph.producer();
  node.surroundings = Surroundings();
  return node;
}

PluginKernel* KernelStore::Created(NodeId n) {
  absl::MutexLock lock(&mutex_);
  const auto it = created_.find(n);
  return it == created_.end() ? nullptr : it->second.get();
}

absl::StatusOr<PluginKernel*> KernelStore::Create(const Graph& graph, NodeId n, Device* device) {
  TENON_ASSIGN_OR_RETURN(const std::shared_ptr<const KernelDef> def, FindShared(graph, n, *device));
  // By node: a node has one device, and kernels of TensorFlow keep state per node.
  if (PluginKernel* const created = Created(n)) return created;
  // Without the lock: create_func is the plug-in's, and may wait, or call what needs the store.
  TENON_ASSIGN_OR_RETURN(std::unique_ptr<PluginKernel> kernel,
                         PluginKernel::Create(def, Describe(graph, n, *device), device));
  absl::MutexLock lock(&mutex_);
  // Of two threads that created one at a time, the first has inserted its own. The other kernel is
  // destroyed when this call ends, behind the lock.
  const auto [it, inserted] = created_.try_emplace(n);
  if (inserted) it->second.swap(kernel);
  return it->second.get();
}

std::vector<std::pair<NodeId, const KernelDef*>> KernelStore::Computed() {
  std::vector<std::pair<NodeId, const KernelDef*>> computed;
  absl::MutexLock lock(&mutex_);
  for (const auto& [node, kernel] : created_) {
    if (kernel->has_computed()) computed.emplace_back(node, &kernel->def());
  }
  std::sort(computed.begin(), computed.end());
  return computed;
}

}  // namespace tenon
