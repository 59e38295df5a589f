// The nodes of a graph whose floats could be bfloat16, and the edges over which such floats go.
#pragma once

#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "grappler_lite/pass.h"

namespace tenon {

// Of each node one type attribute is looked at: that of its first argument which has one. An edge
// belongs to the view if both of its ends have the type of that attribute.
class TypeView {
 public:
  explicit TypeView(const Graph& graph);

  // The attribute, if it is float; empty for nodes that are not in the view.
  std::string_view type_attr(NodeId n) const { return type_attr_[n]; }
  bool CarriesInput(NodeId n, int input) const;
  bool CarriesOutput(Output o) const;

  enum Direction : uint8_t { kInputs = 1, kOutputs = 2, kBoth = 3 };
  // Marks every node that can be reached from a marked one over edges of the view, through nodes
  // for which `enter` holds.
  void Spread(std::vector<bool>& marked, Direction direction,
              absl::FunctionRef<bool(NodeId)> enter) const;

 private:
  const Graph& g_;
  const Fanouts fanouts_;
  std::vector<std::string_view> type_attr_;
};

}  // namespace tenon
