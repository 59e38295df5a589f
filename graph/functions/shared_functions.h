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

// Whether a node of this op may end a run early (Assert) or let nodes behind it not run (Switch):
// the op is stateful or a Switch. False for null (an unknown op). Ask only for ops that call no
// function: for the others ask SharedFunctions::MayStop of the function.
bool MayStopARun(const OpDef* op);

// Several threads may call Find at once while none calls Add. The other functions are not
// thread-safe, not even those that only ask: answers are cached. Holds views of the graphs that
// have the functions; these graphs must live longer. The parameter `graph` of a question is any
// graph whose nodes may call these functions; the question looks ops up there.
class SharedFunctions final : public FunctionScope {
 public:
  // Returns the functions that nodes of `owner` may call now; functions that `owner` gets later are
  // not in it. Takes time in proportion to the functions of `owner` itself. For the graph of a body
  // without functions of its own, returns the object that this graph shares, not a copy.
  static std::shared_ptr<SharedFunctions> Of(const Graph& owner);

  // Adds a function, of a name that Find does not know. Answers that ReachesItself and MayStop have
  // given for other functions stay, even if these call the new function.
  void Add(const FunctionEntry& function);
  const FunctionEntry* Find(std::string_view name) const override;

  // A function may be marked with the interface that it implements (api_implements) and with the
  // type of device for which it does (api_preferred_device, which may be missing). Malformed
  // functions, and the forward and backward functions of a gradient, count as not marked.
  // HasImplementations: whether any function here is marked with an interface.
  bool HasImplementations(const Graph& graph);
  // Returns the first function that implements for device type `device_type` the interface that
  // `function` implements for another type, with the same types of arguments and results. The
  // functions that the owner shares come first, then the owner's own and those of Add, in order.
  // Empty if there is none, or if `function` is unknown, is not marked or is for this type already.
  // The text belongs to the graph that has the function.
  std::string_view ImplementationFor(const Graph& graph, std::string_view function,
                                     std::string_view device_type);

  // Two facts that follow from the bodies of `function` and of the functions that it reaches. Each
  // body is looked into once. False for an unknown function.
  // ReachesItself: whether `function` calls itself, perhaps through others. MayStop: whether one of
  // these bodies has a node that calls no function and of which MayStopARun is true.
  bool ReachesItself(const Graph& graph, std::string_view function);
  bool MayStop(const Graph& graph, std::string_view function);

 private:
  struct Facts {
    bool reaches_itself = false;
    bool may_stop = false;
  };
  class Search;
  struct Implementation {
    std::string what;         // the interface, with the types of arguments and results
    std::string_view device;  // the type of device; empty: none is given

    static std::optional<Implementation> By(const Graph& graph, const FunctionEntry& function);
  };

  void FindImplementations(const Graph& graph);
  const Implementation* FindImplementation(std::string_view function) const;
  std::string_view FindFunction(const std::string& what, std::string_view device_type) const;
  Facts FactsOf(const Graph& graph, std::string_view function);

  // For a body's graph that has functions of its own: the functions of the owner, which call none
  // of these. Else null.
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
