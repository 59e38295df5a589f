// The functions of a graph, shared by the graphs of all bodies, so that the graph of a body holds
// no copy of the library.
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

// Whether nodes of the graph may call functions: the graph has some of its own, or shares some.
bool HasFunctions(const Graph& graph);

// Whether a node of this op, which calls no function, may end a run early (Assert) or let nodes
// behind it not run (Switch): the op is stateful or a Switch. False for an unknown op.
bool MayStopARun(const OpDef* op);

// Not thread-safe, also to ask: answers are cached. Holds views of the graphs that have the
// functions; these graphs must live longer. In all questions `graph` is a graph whose nodes may
// call these functions: it finds ops and attributes.
class SharedFunctions final : public FunctionScope {
 public:
  // Returns the functions that nodes of `owner` may call now. Takes time in proportion to the
  // functions of `owner` itself. For the graph of a body without functions of its own, returns the
  // object that it shares.
  static std::shared_ptr<SharedFunctions> Of(const Graph& owner);

  // Adds a function, of a name that Find does not know.
  void Add(const FunctionEntry& function);
  const FunctionEntry* Find(std::string_view name) const override;

  // Functions may be marked with the interface that they implement (api_implements) and with the
  // type of device for which they do. Whether any function here is so marked.
  bool HasImplementations(const Graph& graph);
  // Returns the first function that implements for device type `device_type` what `function`
  // implements for another type, with the same types of arguments and results. Empty if there is
  // none, or if `function` is not marked or is for this type already.
  std::string_view ImplementationFor(const Graph& graph, std::string_view function,
                                     std::string_view device_type);

  // Two facts about all functions that `function` reaches, itself included. Each function is looked
  // into once. False for an unknown function.
  // ReachesItself: whether `function` calls itself, perhaps through others. MayStop: whether a node
  // of theirs may stop a run, as in MayStopARun.
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

  // Of the functions of a body's graph: the functions of the owner, which call none of these.
  std::shared_ptr<SharedFunctions> beyond_;
  std::deque<FunctionEntry> functions_;
  absl::flat_hash_map<std::string_view, const FunctionEntry*> by_name_;
  absl::flat_hash_map<std::string_view, Facts> facts_;
  size_t searched_ = 0;  // functions_ that FindImplementations has seen
  absl::flat_hash_map<std::string_view, Implementation> implementations_;  // by function
  // The first function, by what it implements and for which device type.
  absl::flat_hash_map<std::pair<std::string, std::string>, std::string_view> function_for_;
};

}  // namespace tenon
