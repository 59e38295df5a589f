// The functions that a graph calls, directly and through other functions, with the devices that the
// calling nodes ask for. Private to executor/compile/bodies/.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "graph/ir/graph.h"

namespace tenon {

// Collects all calls when it is made. Const functions may be called from several threads. Keeps
// views of the graph and of `caller_devices`: both must outlive it.
class BodyCalls {
 public:
  // `caller_devices`: the device string that a calling node of the graph asks for, by the node's
  // name; no entry: the node asks for none. A calling node of a body asks for its own device string
  // or, without one, for what the callers of its function ask for.
  BodyCalls(const Graph& graph,
            const absl::flat_hash_map<std::string, std::string>& caller_devices);

  // The device string that all callers of the function ask for; "" if they ask for none. nullopt if
  // the body must stay as it is:
  // * nothing calls the function, or its callers ask for different device strings;
  // * a caller is marked for XLA or calls remotely (RemoteCall);
  // * a caller is in a body that must stay as it is;
  // * the graph or a called function differentiates any function (SymbolicGradient).
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
  absl::flat_hash_map<std::string_view, Caller> callers_;  // by function
  std::vector<std::string_view> work_;
  bool differentiates_ = false;
};

}  // namespace tenon
