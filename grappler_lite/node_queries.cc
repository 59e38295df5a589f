#include "grappler_lite/node_queries.h"

#include <algorithm>

#include "graph/nodes.h"

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

bool BoolAttr(const Graph& g, NodeId n, std::string_view name) {
  const AttrValue* value = g.attr(n, name);
  return value != nullptr && value->AsBool().value_or(false);
}

int64_t IntAttr(const Graph& g, NodeId n, std::string_view name) {
  const AttrValue* value = g.attr(n, name);
  return value == nullptr ? 0 : value->AsInt().value_or(0);
}

}  // namespace tenon
