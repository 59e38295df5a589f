#include "grappler_lite/analysis/node_queries.h"

#include <algorithm>

#include "graph/base/within_memory.h"
#include "graph/functions/function_library.h"
#include "graph/functions/shared_functions.h"
#include "graph/ir/device_string.h"
#include "graph/ir/nodes.h"
#include "graph/op_defs/op_facts.h"
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
                             [&](const Output& in) { return IsSwitch(g.facts(in.node)); });
}

// A node that calls functions may stop a run just if one of them may: the op itself, though
// stateful, does not count.
bool MayStopARun(const Graph& g) {
  const std::shared_ptr<SharedFunctions> functions =
      HasFunctions(g) ? SharedFunctions::Of(g) : nullptr;
  for (NodeId n = 0; n < g.num_node_ids(); ++n) {
    if (!g.alive(n)) continue;
    if (functions == nullptr || !IsFunctional(g, n)) {
      if (MayStopARun(g.op(n))) return true;
      continue;
    }
    if (functions->MayStop(g, g.op_name(n))) return true;
    for (const Attr& a : g.attrs(n).all()) {
      for (const std::string_view name : FunctionsNamedBy(a.value)) {
        if (functions->MayStop(g, name)) return true;
      }
    }
  }
  return false;
}

bool IsAwaitedByValueOnly(const Graph& g, NodeId n) {
  return IsSwitch(g.facts(n)) || IsFunctional(g, n);
}

bool ComputesAllResults(const AttrSet& attrs) {
  const AttrValue* mark = attrs.Find(kWrittenOut);
  return mark == nullptr || !mark->AsBool().value_or(false);
}

bool StaysCall(const AttrSet& function) {
  const AttrValue* mark = function.Find("_noinline");
  return mark != nullptr && mark->AsBool().value_or(false);
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

float FloatAttr(const Graph& g, NodeId n, std::string_view name) {
  const AttrValue* value = g.attr(n, name);
  return value == nullptr ? 0 : value->AsFloat().value_or(0);
}

std::string_view TextAttr(const Graph& g, NodeId n, std::string_view name) {
  const AttrValue* value = g.attr(n, name);
  return value == nullptr ? std::string_view() : value->AsString().value_or("");
}

absl::StatusOr<Tensor> ConstValueWithin(const Graph& g, NodeId n, size_t max_bytes) {
  const MemoryBound bound(max_bytes);
  return WithinMemory([&] { return g.ConstValue(n); });
}

}  // namespace tenon
