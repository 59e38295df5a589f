// Finds nodes of a graph by name, and nodes in bodies of functions as "FUNCTION:NODE".
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "graph/functions/function_body.h"
#include "graph/ir/graph.h"

namespace tenon::cli {

// Arguments and results of a function count as nodes. Their names are "FUNCTION:ARGUMENT" and
// "FUNCTION:RESULT/result", where "/result" is literal. Parses each body at its first use and keeps
// it. What is malformed in a body has no names. Not thread-safe.
class NamedNodes {
 public:
  // `graph` must outlive the object, and must not change as long as the object is used.
  explicit NamedNodes(const Graph& graph) : graph_(graph) {}

  // "y = AddV2(a, b:1) T=DT_FLOAT"; nullopt if there is no such node. Of a node in a function, the
  // text begins with "NODE", without "FUNCTION:". Of an argument the text is "x, an argument", of a
  // result "r, a result: y:z:0", with the input that fills it.
  std::optional<std::string> Text(std::string_view name);
  // "y (AddV2, model.pbtxt:3:1)"; the name alone if there is no such node. Of a node in a function,
  // the place is that of the function: "F:y (AddV2, function at model.pbtxt:9:1)". In place of the
  // op, an argument has "argument" and a result "result".
  std::string WithPlace(std::string_view name);
  bool HasFunction(std::string_view name) const { return graph_.FindFunction(name) != nullptr; }
  // The names of all nodes: first of the graph, then of each function its nodes, its arguments and
  // its results, in the order of the graph.
  std::vector<std::string> All();

 private:
  struct Entry {
    std::string op;  // the op, or "argument" or "result"
    std::string text;
  };
  struct Body {
    FunctionBody parsed;
    absl::flat_hash_map<std::string, const BodyNode*> nodes;
    absl::flat_hash_map<std::string, Entry> ends;
  };
  // Parses the body at the first call.
  const Body& BodyOf(const FunctionEntry& function);
  // Finds a node, argument or result of a function; nullopt if the function has none of this name,
  // or if there is no such function.
  std::optional<Entry> Find(std::string_view function, std::string_view node);

  const Graph& graph_;
  absl::flat_hash_map<std::string, std::unique_ptr<Body>> bodies_;
};

}  // namespace tenon::cli
