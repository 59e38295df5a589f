// A Graph to GraphDef bytes. Private to graph/; io.h has what others call.
#pragma once

#include <string>

#include "absl/types/span.h"
#include "graph/graph.h"

namespace tenon {

class GraphWriter {
 public:
  explicit GraphWriter(const Graph& graph) : graph_(graph) {}

  // Live nodes in id order, attributes by name, then library, versions and what the reader kept
  // without understanding it.
  std::string Binary() const;
  // One entry of a NodeDef's map.
  static void AppendAttr(const Attr& attr, std::string* out);

 private:
  size_t EstimateBytes() const;
  void AppendNode(NodeId n, std::string* out) const;
  std::string Library(absl::Span<const FunctionEntry> functions) const;

  const Graph& graph_;
};

}  // namespace tenon
