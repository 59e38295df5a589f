#include "grappler_lite/pipeline/pass.h"

#include <algorithm>

namespace tenon {

bool PassContext::HasKernel(NodeId n, std::string_view op, const NewAttrs& attrs,
                            bool grouped) const {
  std::vector<Attr> views;
  views.reserve(attrs.size());
  for (const Graph::NewAttr& a : attrs) views.push_back({a.name, AttrValue(a.wire)});
  // AttrSet wants its attributes sorted by name.
  std::sort(views.begin(), views.end(),
            [](const Attr& a, const Attr& b) { return a.name < b.name; });
  const AttrSet set(std::move(views));
  return kernels.HasKernel(graph.device(n), op, set) && target.Has(op, set, grouped);
}

bool PassContext::HasConstKernel(NodeId n, DataType type) const {
  return HasKernel(n, "Const", {{"dtype", attr::Type(type)}});
}

}  // namespace tenon
