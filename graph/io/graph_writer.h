// Makes GraphDef bytes of a Graph, which must outlive the writer. io.h has the functions that other
// rooms call.
// Private to graph/io/.
#pragma once

#include <cstdint>
#include <string>

#include "absl/types/span.h"
#include "graph/ir/graph.h"

namespace tenon {

class GraphWriter {
 public:
  // How functions of the library are written: whole, or without the nodes of their bodies, the
  // sources of results (`ret`) and the control outputs (`control_ret`).
  enum class Functions : uint8_t { kWhole, kWithoutBodies };

  explicit GraphWriter(const Graph& graph, Functions functions = Functions::kWhole)
      : graph_(graph), functions_(functions) {}

  // Returns the GraphDef: live nodes in id order, attributes by name, the library (FunctionsToWrite
  // says of which functions), the versions, and the fields that the reader kept without
  // understanding them. Holes among the inputs are left out.
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
