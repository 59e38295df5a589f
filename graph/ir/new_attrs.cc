// Attributes for nodes that passes make. Names with '_' in front are remarks about one node, so
// OpAttrs leaves them out where another node gets the attributes.

#include "graph/ir/new_attrs.h"

#include <algorithm>
#include <utility>

#include "graph/base/status_macros.h"
#include "graph/tensor/tensor_proto.h"

namespace tenon {
namespace {

bool IsPrivate(const Attr& a) { return a.name.starts_with('_'); }

}  // namespace

NewAttrs CopyOf(absl::Span<const Attr> attrs) {
  NewAttrs copies;
  copies.reserve(attrs.size());
  for (const Attr& a : attrs) copies.push_back({a.name, std::string(a.value.wire())});
  return copies;
}

NewAttrs AllAttrs(const Graph& g, NodeId n) { return CopyOf(g.attrs(n).all()); }

NewAttrs OpAttrs(const Graph& g, NodeId n) {
  std::vector<Attr> attrs = g.attrs(n).all();
  std::erase_if(attrs, IsPrivate);
  return CopyOf(attrs);
}

bool NumbersInputsOrOutputs(std::string_view attr) {
  return attr == kOutputShapesAttr || attr == "_num_original_outputs" ||
         attr == "_read_only_resource_inputs";
}

void PutAttr(NewAttrs& attrs, std::string_view name, std::string wire) {
  const auto it = std::find_if(attrs.begin(), attrs.end(),
                               [&](const Graph::NewAttr& a) { return a.name == name; });
  if (it == attrs.end()) {
    attrs.push_back({name, std::move(wire)});
  } else {
    it->wire = std::move(wire);
  }
}

absl::StatusOr<NewAttrs> ConstAttrs(const Tensor& value) {
  TENON_ASSIGN_OR_RETURN(const std::string wire, TensorToWire(value));
  return NewAttrs{{"dtype", attr::Type(value.dtype())}, {"value", attr::TensorWire(wire)}};
}

}  // namespace tenon
