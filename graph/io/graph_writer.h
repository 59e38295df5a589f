// Makes GraphDef bytes of a Graph, which must outlive the writer. io.h has the functions that other
// rooms call.
// Private to graph/io/.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "graph/ir/graph.h"

namespace tenon {

class GraphWriter {
 public:
  // How functions of the library are written: whole, or without the nodes of their bodies, the
  // sources of results (`ret`) and the control outputs (`control_ret`).
  enum class Functions : uint8_t { kWhole, kWithoutBodies };

  // Which attributes a node gets: its own, or also the OpDef's defaults of those that it lacks, and
  // then also the full type that TensorFlow notes, unless it has one.
  enum class Attrs : uint8_t { kOwn, kWithDefaults };

  explicit GraphWriter(const Graph& graph, Functions functions = Functions::kWhole,
                       Attrs attrs = Attrs::kOwn)
      : graph_(graph), functions_(functions), attrs_(attrs) {}

  // Returns the GraphDef: live nodes in id order, attributes by name, the library (FunctionsToWrite
  // says of which functions), the versions, and the fields that the reader kept without
  // understanding them. Holes among the inputs are left out. A library without functions is
  // written with kWithDefaults, as TensorFlow does, and else only if the graph came with a library.
  std::string Binary() const;
  // Returns the NodeDef of a live node.
  std::string Node(NodeId n) const;

 private:
  size_t EstimateBytes() const;
  void AppendHead(NodeId n, std::string* out) const;
  // A node as its NodeDef: name, op, inputs and device, then attributes, then what was kept and the
  // full type.
  struct NodeParts {
    std::string head;
    std::vector<Attr> attrs;
    std::string_view extra;
    std::string full_type;  // the field as it is written
    size_t bytes = 0;       // of the NodeDef
  };
  void FindParts(NodeId n, NodeParts* parts) const;
  static void AppendParts(const NodeParts& parts, std::string* out);
  std::string Library(absl::Span<const FunctionEntry> functions) const;

  const Graph& graph_;
  const Functions functions_;
  const Attrs attrs_;
};

}  // namespace tenon
