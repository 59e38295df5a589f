#include "executor/compile/bodies/new_functions.h"

#include <vector>

#include "graph/ir/nodes.h"

namespace tenon {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 20;  // of all functions that bodies have brought

}  // namespace

bool NewFunctions::TakeFrom(const Graph& body) {
  std::vector<std::string> wires;
  for (const FunctionEntry& function : body.functions()) {
    const FunctionEntry* there = graph_.FindFunction(function.name);
    if (there != nullptr && there->wire != function.wire) return false;
    if (there == nullptr) wires.emplace_back(function.wire);
  }
  if (wires.empty()) return true;
  for (const std::string& wire : wires) bytes_ += wire.size();
  const size_t before = graph_.functions().size();
  PutFunctions(graph_, wires);
  for (size_t i = before; i < graph_.functions().size(); ++i) all_->Add(graph_.functions()[i]);
  for (NodeId n = 0; n < body.num_node_ids(); ++n) {
    if (!body.alive(n) || !IsFunctional(body, n)) continue;
    for (const std::string_view name : CalledBy(body.op_name(n), body.attrs(n))) {
      const FunctionEntry* function = graph_.FindFunction(name);
      // Functions that were just added lie behind those of before.
      if (function != nullptr && function >= &graph_.functions()[before])
        device_of_.emplace(function->name, body.device(n));
    }
  }
  return true;
}

std::optional<std::string> NewFunctions::DeviceFor(std::string_view function) const {
  const auto it = device_of_.find(function);
  if (it == device_of_.end()) return std::nullopt;
  return it->second;
}

bool NewFunctions::too_many() const { return bytes_ > kMaxBytes; }

}  // namespace tenon
