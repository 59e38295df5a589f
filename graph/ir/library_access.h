// Reads and edits the functions of a graph, and kinds of nodes that Graph itself does not let in.
// Edits follow the rules of Graph on threads. Private to graph/.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "graph/ir/function_scope.h"
#include "graph/ir/graph.h"

namespace tenon {

class LibraryAccess {
 public:
  // Returns a graph without nodes and functions of its own, for a part of `owner`, such as the body
  // of a function. Its nodes may call `functions`. `owner` must outlive the graph, which views
  // bytes of it.
  static Graph Beside(const Graph& owner, std::shared_ptr<FunctionScope> functions);
  static std::shared_ptr<FunctionScope> Shared(const Graph& graph);  // null if it shares none

  // Keep copies `bytes` into the graph's storage. ReadFunction makes an entry, a view of `wire`,
  // which the storage must keep; the signature is null if its bytes are malformed. SetFunctions
  // replaces all functions; of equal names the first is found. LibraryExtra is the bytes of the
  // library besides functions (gradients, unknown fields); SetLibraryExtra copies them unless they
  // are the same.
  static std::string_view Keep(Graph& graph, std::string_view bytes);
  static FunctionEntry ReadFunction(std::string_view wire, SourcePos pos, Graph& graph);
  static void SetFunctions(Graph& graph, std::vector<FunctionEntry> functions);
  // Adds a function, or puts it in the place of the function with its name, whose position it takes
  // over.
  static void PutFunction(Graph& graph, FunctionEntry function);
  // Nodes that come from now on do not share the kinds of present nodes of this op: another
  // function has the name now, or none.
  static void ForgetKinds(Graph& graph, std::string_view op);
  static std::string_view LibraryExtra(const Graph& graph) { return graph.library_extra_; }
  static void SetLibraryExtra(Graph& graph, std::string_view wire);

  static GraphStorage& Storage(const Graph& graph) { return *graph.storage_; }
  // n, which has no inputs, becomes a node of this op with these attributes alone, sorted by name.
  // Their bytes must live as long as the graph's storage.
  static void SetKind(Graph& graph, NodeId n, std::string_view op, std::vector<Attr> attrs) {
    graph.nodes_[n].kind = graph.Intern(op, std::move(attrs));
  }
  // n, which has no inputs, becomes a node of `kind`, which the graph's storage must own.
  static void ShareKind(Graph& graph, NodeId n, const NodeKind& kind);
};

}  // namespace tenon
