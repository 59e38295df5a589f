// The functions of a graph as the bodies of its functions see them: one list for all bodies, so
// that a body as a graph costs no more than what it holds, whatever it reaches.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "graph/ir/function_scope.h"
#include "graph/ir/graph.h"

namespace tenon {

// Whether nodes of the graph may call functions: its own, or those that it shares.
bool HasFunctions(const Graph& graph);

// Whether a node of this op, which calls no function, may end a run early or run in vain.
bool MayStopARun(const OpDef* op);

// Not thread-safe. Views of what the graphs hold whose functions these are; those must live longer.
class SharedFunctions final : public FunctionScope {
 public:
  // What nodes of `owner` may call now. Costs as much as its own functions are many.
  static std::shared_ptr<SharedFunctions> Of(const Graph& owner);

  // Of a name that is new.
  void Add(const FunctionEntry& function);
  const FunctionEntry* Find(std::string_view name) const override;

  // Functions may be marked with what they implement, and for which type of device. Whether any is.
  // `graph`: one whose nodes may call them, as below.
  bool HasImplementations(const Graph& graph);
  // The first that does for this type of device what `function` does for another; empty: none.
  std::string_view ImplementationFor(const Graph& graph, std::string_view function,
                                     std::string_view device_type);

  // What shows when one looks at all functions that a function reaches, itself included; it is
  // found once for each. False if there is no such function.
  bool ReachesItself(const Graph& graph, std::string_view function);
  bool MayStop(const Graph& graph, std::string_view function);

 private:
  struct Facts {
    bool reaches_itself = false;
    bool may_stop = false;
  };
  class Search;
  struct Implementation {
    std::string what;         // is implemented, with the types of arguments and results
    std::string_view device;  // type

    static std::optional<Implementation> By(const Graph& graph, const FunctionEntry& function);
  };

  void FindImplementations(const Graph& graph);
  const Implementation* FindImplementation(std::string_view function) const;
  std::string_view FindFunction(const std::string& what, std::string_view device_type) const;
  Facts FactsOf(const Graph& graph, std::string_view function);

  std::shared_ptr<SharedFunctions> beyond_;  // of a body: its owner's, which know none of these
  std::deque<FunctionEntry> functions_;
  absl::flat_hash_map<std::string_view, const FunctionEntry*> by_name_;
  absl::flat_hash_map<std::string_view, Facts> facts_;
  size_t searched_ = 0;                                                    // for implementations
  absl::flat_hash_map<std::string_view, Implementation> implementations_;  // by function
  // By what they implement and device; of several the first.
  absl::flat_hash_map<std::pair<std::string, std::string>, std::string_view> function_for_;
};

}  // namespace tenon
