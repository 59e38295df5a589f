#include "grappler_lite/analysis/node_queries.h"

#include <algorithm>

#include "graph/base/within_memory.h"
#include "graph/ir/device_string.h"
#include "graph/ir/nodes.h"
#include "graph/tensor/memory_bound.h"

namespace tenon {

bool OpIs(const Graph& g, NodeId n, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), g.op_name(n)) != names.end();
}

bool ReadsReference(const Graph& g, NodeId n) {
  return std::ranges::any_of(g.data_inputs(n),
                             [&](const Output& in) { return IsRef(g.output_type(in)); });
}

bool ReadsSwitch(const Graph& g, NodeId n) {
  return std::ranges::any_of(g.data_inputs(n),
                             [&](const Output& in) { return IsSwitchOp(g.op_name(in.node)); });
}

bool IsHostDevice(std::string_view device) {
  const absl::StatusOr<DeviceRequest> request = ParseDeviceRequest(device);
  return request.ok() && (request->type.empty() || request->type == "CPU");
}

bool BoolAttr(const Graph& g, NodeId n, std::string_view name) {
  const AttrValue* value = g.attr(n, name);
  return value != nullptr && value->AsBool().value_or(false);
}

int64_t IntAttr(const Graph& g, NodeId n, std::string_view name) {
  const AttrValue* value = g.attr(n, name);
  return value == nullptr ? 0 : value->AsInt().value_or(0);
}

absl::StatusOr<Tensor> ConstValueWithin(const Graph& g, NodeId n, size_t max_bytes) {
  const MemoryBound bound(max_bytes);
  return WithinMemory([&] { return g.ConstValue(n); });
}

}  // namespace tenon
