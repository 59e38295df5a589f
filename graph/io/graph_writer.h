// A Graph to GraphDef bytes. Private to graph/io/; io.h has what others call.
#pragma once

#include <cstdint>
#include <string>

#include "absl/types/span.h"
#include "graph/ir/graph.h"

namespace tenon {

class GraphWriter {
 public:
  enum class Functions : uint8_t { kWhole, kWithoutBodies };

  explicit GraphWriter(const Graph& graph, Functions functions = Functions::kWhole)
      : graph_(graph), functions_(functions) {}

  // Live nodes in id order, attributes by name, then library, versions and what the reader kept
  // without understanding it.
  std::string Binary() const;

 private:
  size_t EstimateBytes() const;
  void AppendHead(NodeId n, std::string* out) const;
  void AppendNode(NodeId n, std::string& head, std::string* out) const;
  std::string Library(absl::Span<const FunctionEntry> functions) const;

  const Graph& graph_;
  const Functions functions_;
};

}  // namespace tenon
