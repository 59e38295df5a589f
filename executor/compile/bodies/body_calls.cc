// Follows calls through functions with a list of work. A function has a device as long as all of
// its callers ask for the same one; else its body stays as it is.

#include "executor/compile/bodies/body_calls.h"

#include "graph/functions/function_body.h"
#include "graph/functions/function_library.h"
#include "graph/ir/nodes.h"

namespace tenon {

BodyCalls::BodyCalls(const Graph& graph,
                     const absl::flat_hash_map<std::string, std::string>& caller_devices)
    : graph_(graph) {
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    if (!graph.alive(n)) continue;
    const auto it = caller_devices.find(graph.name(n));
    const std::string_view device = it == caller_devices.end() ? std::string_view() : it->second;
    Add(graph.op_name(n), graph.attrs(n), {device});
  }
  while (!work_.empty()) {
    const std::string_view name = work_.back();
    work_.pop_back();
    AddBody(*graph.FindFunction(name), callers_[name]);
  }
}

std::optional<std::string_view> BodyCalls::DeviceFor(std::string_view function) const {
  const auto it = callers_.find(function);
  if (it == callers_.end() || it->second.stays || differentiates_) return std::nullopt;
  return it->second.device;
}

void BodyCalls::AddBody(const FunctionEntry& function, Caller caller) {
  const FunctionBody body = ParseFunctionBody(graph_, function);
  for (const BodyNode& node : body.nodes) {
    const std::string_view device = node.device.empty() ? caller.device : node.device;
    Add(node.op_name(), node.attrs(), {device, caller.stays});
  }
}

void BodyCalls::Add(std::string_view op, const AttrSet& attrs, Caller caller) {
  if (!IsFunctional(graph_, op)) return;
  differentiates_ |= op == "SymbolicGradient";
  caller.stays |= op == "RemoteCall" || IsMarkedForXla(attrs);
  for (const std::string_view name : CalledBy(op, attrs)) Reach(name, caller);
}

void BodyCalls::Reach(std::string_view name, Caller caller) {
  const FunctionEntry* function = graph_.FindFunction(name);
  if (function == nullptr) return;
  const auto [it, is_new] = callers_.try_emplace(function->name, caller);
  Caller& known = it->second;
  if (!is_new && (known.stays || (!caller.stays && known.device == caller.device))) return;
  // A second caller that differs from the first one makes the body stay. The functions that it
  // calls are then visited again, since they stay, too: each function at most twice.
  known.stays |= caller.stays || !is_new;
  work_.push_back(function->name);
}

}  // namespace tenon
