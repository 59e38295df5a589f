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

// Arguments and results of a function count as nodes: "FUNCTION:ARGUMENT",
// "FUNCTION:RESULT/result". Parses each body at its first use and keeps it. Not thread-safe.
class NamedNodes {
 public:
  explicit NamedNodes(const Graph& graph) : graph_(graph) {}  // `graph` must outlive the object

  // "y = AddV2(a, b:1) T=DT_FLOAT"; nothing if there is no such node.
  std::optional<std::string> Text(std::string_view name);
  // "y (AddV2, model.pbtxt:3:1)"; the name alone if there is no such node.
  std::string WithPlace(std::string_view name);
  bool HasFunction(std::string_view name) const { return graph_.FindFunction(name) != nullptr; }
  // The names of all nodes, those in functions included.
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
  // Finds a node, argument or result of a function; nothing if either does not exist.
  std::optional<Entry> Find(std::string_view function, std::string_view node);

  const Graph& graph_;
  absl::flat_hash_map<std::string, std::unique_ptr<Body>> bodies_;
};

}  // namespace tenon::cli
