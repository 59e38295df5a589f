// Which functions a graph calls, itself and through other functions, and for which device. Private
// to executor/compile/bodies/.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "graph/ir/graph.h"

namespace tenon {

// Thread-compatible. Views are of the graph and of the devices, which outlive it.
class BodyCalls {
 public:
  // `caller_devices`: by name of the nodes that call, the devices that they ask for.
  BodyCalls(const Graph& graph,
            const absl::flat_hash_map<std::string, std::string>& caller_devices);

  // The device that all callers of a function want, "" for any. None: the body must stay as it is,
  // because callers differ, or because it is called for XLA, remotely, or differentiated.
  std::optional<std::string_view> DeviceFor(std::string_view function) const;

 private:
  struct Caller {
    std::string_view device;
    bool stays = false;
  };

  void AddBody(const FunctionEntry& function, Caller caller);
  void Add(std::string_view op, const AttrSet& attrs, Caller caller);
  void Reach(std::string_view name, Caller caller);

  const Graph& graph_;
  absl::flat_hash_map<std::string_view, Caller> callers_;  // by function: what they have in common
  std::vector<std::string_view> work_;
  bool differentiates_ = false;
};

}  // namespace tenon
