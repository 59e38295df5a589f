// The functions of a graph as the bodies of its functions see them: one list for all bodies, so
// that a body as a graph costs no more than what it holds, whatever it reaches.
#pragma once

#include <deque>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "graph/graph.h"

namespace tenon {

// Whether nodes of the graph may call functions: its own, or those that it shares.
bool HasFunctions(const Graph& graph);

// Whether a node of this op, which calls no function, may end a run early or run in vain.
bool MayStopARun(std::string_view op_name, const OpDef* op);

// Not thread-safe. Views of what the graphs hold whose functions these are; those must live longer.
class SharedFunctions {
 public:
  // What nodes of `owner` may call now. Costs as much as its own functions are many.
  static std::shared_ptr<SharedFunctions> Of(const Graph& owner);

  // Of a name that is new.
  void Add(const FunctionEntry& function);
  // Null if there is none.
  const FunctionEntry* Find(std::string_view name) const;
  // Those that may be marked with what they implement (`api_implements`), in their order.
  std::vector<const FunctionEntry*> Implementations();

  // What shows when one looks at all functions that a function reaches, itself included; it is
  // found once for each. `graph`: one whose nodes may call them. False if there is no such
  // function.
  bool ReachesItself(const Graph& graph, std::string_view function);
  bool MayStop(const Graph& graph, std::string_view function);

 private:
  struct Facts {
    bool reaches_itself = false;
    bool may_stop = false;
  };
  class Search;

  Facts FactsOf(const Graph& graph, std::string_view function);

  std::shared_ptr<SharedFunctions> beyond_;  // of a body: its owner's, which know none of these
  std::deque<FunctionEntry> functions_;
  absl::flat_hash_map<std::string_view, const FunctionEntry*> by_name_;
  absl::flat_hash_map<std::string_view, Facts> facts_;
  std::vector<const FunctionEntry*> implementations_;
  size_t searched_ = 0;  // for implementations
};

}  // namespace tenon
