// A graph's functions, for those who read and edit them, and its kinds of nodes. Private to graph/.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "graph/ir/function_scope.h"
#include "graph/ir/graph.h"

namespace tenon {

class LibraryAccess {
 public:
  // A graph without nodes and functions of its own, for a part of `owner`, which must outlive it.
  static Graph Beside(const Graph& owner, std::shared_ptr<FunctionScope> functions);
  static std::shared_ptr<FunctionScope> Shared(const Graph& graph);  // null if it shares none

  // The functions, and what the library holds besides them.
  static std::string_view Keep(Graph& graph, std::string_view bytes);
  static FunctionEntry ReadFunction(std::string_view wire, SourcePos pos, Graph& graph);
  static void SetFunctions(Graph& graph, std::vector<FunctionEntry> functions);
  // In the place of the one of its name if there is one.
  static void PutFunction(Graph& graph, FunctionEntry function);
  static std::string_view LibraryExtra(const Graph& graph) { return graph.library_extra_; }
  static void SetLibraryExtra(Graph& graph, std::string_view wire);

  static GraphStorage& Storage(const Graph& graph) { return *graph.storage_; }
  // n, which has no inputs, becomes a node of this op and of attributes that the storage holds,
  // sorted by name.
  static void SetKind(Graph& graph, NodeId n, std::string_view op, std::vector<Attr> attrs) {
    graph.nodes_[n].kind = graph.Intern(op, std::move(attrs));
  }
  // n, which has no inputs, becomes a node of this kind, which the graph's storage holds.
  static void ShareKind(Graph& graph, NodeId n, const NodeKind& kind);
};

}  // namespace tenon
