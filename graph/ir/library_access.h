// A graph's functions, for those who read and edit them. Private to graph/.
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
};

}  // namespace tenon
