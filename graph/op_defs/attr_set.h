// The attributes of a node: an immutable list sorted by name. Names and values are views; the owner
// of their bytes must outlive the set (for a graph: its storage, see graph/ir/graph.h).
#pragma once

#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "graph/op_defs/attr_value.h"

namespace tenon {

struct Attr {
  std::string_view name;
  AttrValue value;
};

class AttrSet {
 public:
  AttrSet() = default;
  // `attrs` must be sorted by name and free of duplicates.
  explicit AttrSet(std::vector<Attr> attrs) : attrs_(std::move(attrs)) {}

  // Returns the value of the attribute; null if no attribute has the name. The pointer lives as
  // long as this set. A sweep, not a search: nodes have few attributes.
  const AttrValue* Find(std::string_view name) const {
    for (const Attr& a : attrs_) {
      if (a.name == name) return &a.value;
    }
    return nullptr;
  }
  const std::vector<Attr>& all() const { return attrs_; }

 private:
  std::vector<Attr> attrs_;
};

}  // namespace tenon
