// Follows handles from variables to readers. A fixed point first finds the arguments that each
// function may change. What is not known counts as a change.

#include "executor/state/variable_use.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "executor/state/state_makers.h"
#include "graph/functions/function_body.h"
#include "graph/functions/function_library.h"
#include "graph/op_defs/op_facts.h"
#include "graph/op_defs/op_registry.h"

namespace tenon {
namespace {

bool IsBranch(const OpFacts& op) {
  return op.calls == CallKind::kIf || op.calls == CallKind::kCase;
}

// The number of the argument that input i of the op becomes in the functions that it calls; -1:
// none, or unknown.
int ArgumentOf(const OpFacts& op, int input) {
  const std::optional<int> first = FirstArgument(op.calls);
  return op.calls == CallKind::kNone || !first ? -1 : input - *first;
}

// A graph or the body of a function, in the one form that the search reads.
struct Scope {
  struct Node {
    std::string_view op;
    const OpFacts* facts = nullptr;
    std::vector<std::string_view> called;  // functions
  };
  struct Use {
    int node, input;
  };
  std::vector<Node> nodes;
  // The readers of an output, by node and port.
  absl::flat_hash_map<std::pair<int, int>, std::vector<Use>> uses;
};

// By function: which arguments the function, or a function that it calls, may change. A function
// without an entry may change all of its arguments.
using ChangedArguments = absl::flat_hash_map<std::string_view, std::vector<bool>>;

bool ArgumentMayChange(const ChangedArguments& changed, std::string_view function, int argument) {
  const auto known = changed.find(function);
  if (known == changed.end() || argument < 0) return true;
  return argument >= static_cast<int>(known->second.size()) || known->second[argument];
}

bool IsIdentity(const Scope::Node& node) { return node.op == "Identity" || node.op == "IdentityN"; }

// Whether a node that takes a handle as this input may change the variable.
bool NodeMayChange(const Scope::Node& node, int input, const ChangedArguments& changed) {
  if (node.facts->only_reads || node.facts->metadata || IsIdentity(node)) return false;
  // A node that neither only reads nor calls a known function may do anything.
  return node.called.empty() || std::ranges::any_of(node.called, [&](std::string_view function) {
           return ArgumentMayChange(changed, function, ArgumentOf(*node.facts, input));
         });
}

// Whether any reader may change the variable of the handle that output `from` gives.
bool HandleMayChange(const Scope& scope, std::pair<int, int> from,
                     const ChangedArguments& changed) {
  std::vector<std::pair<int, int>> open = {from};
  absl::flat_hash_set<std::pair<int, int>> seen = {from};
  while (!open.empty()) {
    const auto uses = scope.uses.find(open.back());
    open.pop_back();
    if (uses == scope.uses.end()) continue;
    for (const Scope::Use& use : uses->second) {
      const Scope::Node& node = scope.nodes[use.node];
      if (NodeMayChange(node, use.input, changed)) return true;
      const std::pair<int, int> out(use.node, use.input);
      // A loop returns as output i what its body makes of input i, so the handle goes on there too.
      const bool passes_on = IsIdentity(node) || node.facts->calls == CallKind::kWhile;
      if (passes_on && seen.insert(out).second) open.push_back(out);
    }
  }
  return false;
}

// Whether a call or branch returns handles.
bool ReturnsHandles(const OpFacts& op, const AttrSet& attrs) {
  if (op.calls != CallKind::kFunction && !IsBranch(op)) return false;
  const AttrValue* types = attrs.Find("Tout");
  const auto list = types == nullptr
                        ? absl::StatusOr<std::vector<DataType>>(absl::NotFoundError(""))
                        : types->AsTypeList();
  return !list.ok() || std::ranges::find(*list, DataType::kResource) != list->end();
}

// Splits "node:result:1" into the node and its output 1. Right for ops with one list of results;
// Identity, IdentityN and While, which pass handles on, are such ops.
std::pair<std::string_view, int> Source(std::string_view input) {
  const size_t name_end = input.find(':');
  int port = 0;
  if (const size_t last = input.rfind(':');
      last != input.npos && last != name_end && !absl::SimpleAtoi(input.substr(last + 1), &port))
    port = 0;
  return {input.substr(0, name_end), port};
}

using NodesByName = absl::flat_hash_map<std::string_view, const BodyNode*>;

NodesByName ByName(const FunctionBody& body) {
  NodesByName by_name;
  for (const BodyNode& node : body.nodes) by_name.emplace(node.name, &node);
  return by_name;
}

// Where the handle of a result of a body comes from, through Identity: a node, or else an argument.
struct Origin {
  const BodyNode* node = nullptr;
  std::string_view argument;
};
Origin OriginOf(const NodesByName& by_name, std::string_view source) {
  for (size_t steps = 0; steps <= by_name.size(); ++steps) {
    const auto [name, port] = Source(source);
    const auto found = by_name.find(name);
    if (found == by_name.end()) return {nullptr, name};
    const BodyNode& node = *found->second;
    const bool passes_on = node.op_name() == "Identity" || node.op_name() == "IdentityN";
    if (!passes_on || port < 0 || static_cast<size_t>(port) >= node.inputs.size())
      return {&node, {}};
    source = node.inputs[port];
  }
  return {};
}

// Whether a loop with this body may have a handle at another place after a pass than before it.
// Such a body gives back as result i no argument i.
bool ExchangesHandles(const Graph& graph, const FunctionEntry& function) {
  if (function.signature == nullptr) return true;
  const std::vector<ArgDef>& args = function.signature->inputs;
  const std::vector<ArgDef>& results = function.signature->outputs;
  const FunctionBody body = ParseFunctionBody(graph, function);
  const auto sources = SourcesOfResults(body.returns);
  const NodesByName by_name = ByName(body);
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].type != DataType::kResource) continue;
    const auto source = sources.find(results[i].name);
    if (i >= args.size() || source == sources.end() ||
        OriginOf(by_name, source->second).argument != args[i].name)
      return true;
  }
  return false;
}

class Search {
 public:
  explicit Search(const Graph& graph) : graph_(graph) {}

  VariableUse Run(absl::Span<const NodeId> roots) {
    VisitFunctions(roots);
    const Scope scope = ScopeOfGraph(roots);
    // Several nodes may stand for one variable, and one that changes it speaks for all.
    absl::flat_hash_set<std::string> changed = in_functions_;
    for (const NodeId n : variables_) {
      if (gives_handles_ || MayChangeInGraph(scope, n)) changed.insert(IdentityInGraph(n));
    }
    VariableUse use;
    for (const NodeId n : variables_)
      (changed.contains(IdentityInGraph(n)) ? use.changed : use.read_only).push_back(n);
    return use;
  }

 private:
  // Finds what each function may change, those that it calls first.
  void VisitFunctions(absl::Span<const NodeId> roots) {
    absl::flat_hash_map<std::string_view, std::vector<ReachedNode>> bodies;
    std::vector<std::string_view> order;
    VisitReached(graph_, roots, [&](const ReachedNode& node) {
      gives_handles_ |= GivesHandles(node) || LoopExchangesHandles(node);
      if (!node.in_function()) return;
      if (node.facts().state == State::kVariable) in_functions_.insert(IdentityOf(node));
      auto [body, fresh] = bodies.try_emplace(node.function);
      if (fresh) order.push_back(node.function);
      body->second.push_back(node);
    });
    // A function is searched when all functions that it calls are known. Functions that call each
    // other stay unknown, and may change all of their arguments.
    for (bool more = true; more;) {
      more = false;
      for (const std::string_view function : order) {
        if (changed_.contains(function) || !AllCalledAreKnown(bodies[function])) continue;
        changed_.emplace(function, ChangedBy(function, bodies[function]));
        more = true;
      }
    }
  }

  // Whether a call or branch may return the handle of a variable. Such handles are not followed,
  // nor those that a loop exchanges, so that each variable then counts as changed.
  bool GivesHandles(const ReachedNode& node) {
    if (!ReturnsHandles(node.facts(), node.attrs)) return false;
    const std::vector<std::string_view> called = CalledFunctions(node.op_name, node.attrs);
    return called.empty() || !std::ranges::all_of(called, [&](std::string_view function) {
             return MakesTables(function);
           });
  }

  // Whether all handles that a function returns are of tables that it makes, or that functions make
  // which it calls.
  bool MakesTables(std::string_view function) {
    // A function that is asked for while it is searched calls itself.
    const auto [known, fresh] = makes_tables_.emplace(function, false);
    if (!fresh) return known->second;
    const bool makes = SearchesTables(function);
    makes_tables_[function] = makes;
    return makes;
  }

  bool SearchesTables(std::string_view function) {
    const FunctionEntry* const entry = graph_.FindFunction(function);
    if (entry == nullptr || entry->signature == nullptr) return false;
    const FunctionBody body = ParseFunctionBody(graph_, *entry);
    const auto sources = SourcesOfResults(body.returns);
    const NodesByName by_name = ByName(body);
    return std::ranges::all_of(entry->signature->outputs, [&](const ArgDef& result) {
      if (result.type != DataType::kResource) return true;
      const auto source = sources.find(result.name);
      const BodyNode* const node =
          source == sources.end() ? nullptr : OriginOf(by_name, source->second).node;
      if (node == nullptr) return false;
      const State state = OpRegistry::Global().Facts(node->op_name()).state;
      if (state != State::kNone) return state != State::kVariable;
      const std::vector<std::string_view> called = CalledFunctions(node->op_name(), node->attrs());
      return !called.empty() &&
             std::ranges::all_of(called, [&](std::string_view f) { return MakesTables(f); });
    });
  }

  bool LoopExchangesHandles(const ReachedNode& node) const {
    if (node.facts().calls != CallKind::kWhile) return false;
    const AttrValue* const attr = node.attrs.Find("body");
    if (attr == nullptr) return true;
    const absl::StatusOr<FuncAttr> name = attr->AsFunc();
    const FunctionEntry* const body = name.ok() ? graph_.FindFunction(name->name) : nullptr;
    return body == nullptr || ExchangesHandles(graph_, *body);
  }

  // The functions of the library that a node calls; the op itself may be the name of one.
  std::vector<std::string_view> CalledFunctions(std::string_view op, const AttrSet& attrs) const {
    std::vector<std::string_view> called = CalledBy(op, attrs);
    std::erase_if(called,
                  [&](std::string_view name) { return graph_.FindFunction(name) == nullptr; });
    return called;
  }

  bool AllCalledAreKnown(const std::vector<ReachedNode>& body) const {
    return std::ranges::all_of(body, [&](const ReachedNode& node) {
      return std::ranges::all_of(CalledFunctions(node.op_name, node.attrs),
                                 [&](std::string_view f) { return changed_.contains(f); });
    });
  }

  std::vector<bool> ChangedBy(std::string_view function,
                              const std::vector<ReachedNode>& body) const {
    const FunctionEntry* entry = graph_.FindFunction(function);
    if (entry == nullptr || entry->signature == nullptr) return {};
    const std::vector<ArgDef>& args = entry->signature->inputs;
    Scope scope;
    absl::flat_hash_map<std::string_view, int> by_name;
    for (const ArgDef& arg : args) {
      by_name.emplace(arg.name, static_cast<int>(scope.nodes.size()));
      scope.nodes.push_back({"", nullptr, {}});
    }
    for (const ReachedNode& node : body) {
      by_name.emplace(node.name, static_cast<int>(scope.nodes.size()));
      scope.nodes.push_back(
          {node.op_name, &node.facts(), CalledFunctions(node.op_name, node.attrs)});
    }
    for (size_t i = 0; i < body.size(); ++i) {
      int number = 0;
      for (const std::string_view input : body[i].body_inputs) {
        if (input.starts_with('^')) continue;
        const auto [name, port] = Source(input);
        const auto from = by_name.find(name);
        if (from != by_name.end())
          scope.uses[{from->second, port}].push_back({static_cast<int>(args.size() + i), number});
        ++number;
      }
    }
    std::vector<bool> changed;
    for (size_t i = 0; i < args.size(); ++i)
      changed.push_back(HandleMayChange(scope, {static_cast<int>(i), 0}, changed_));
    return changed;
  }

  Scope ScopeOfGraph(absl::Span<const NodeId> roots) {
    const std::vector<bool> needed = NeededBy(graph_, roots);
    Scope scope;
    scope.nodes.resize(graph_.num_node_ids());
    for (NodeId n = 0; n < graph_.num_node_ids(); ++n) {
      if (!needed[n] || !graph_.alive(n)) continue;
      if (graph_.facts(n).state == State::kVariable) variables_.push_back(n);
      scope.nodes[n] = {graph_.op_name(n), &graph_.facts(n),
                        CalledFunctions(graph_.op_name(n), graph_.attrs(n))};
      for (int i = 0; i < graph_.num_inputs(n); ++i) {
        const Output from = graph_.inputs(n)[i];
        if (from.node != kNoNode) scope.uses[{from.node, from.port}].push_back({n, i});
      }
    }
    return scope;
  }

  std::string IdentityInGraph(NodeId n) const { return IdentityOf(ReachedInGraph(graph_, n)); }

  // A variable of version 1 is changed by a node that takes it by reference.
  bool MayChangeInGraph(const Scope& scope, NodeId variable) const {
    if (graph_.op_name(variable) == "VarHandleOp")
      return HandleMayChange(scope, {variable, 0}, changed_);
    const auto uses = scope.uses.find(std::pair<int, int>(variable, 0));
    if (uses == scope.uses.end()) return false;
    return std::ranges::any_of(uses->second, [&](const Scope::Use& use) {
      return graph_.op(use.node) == nullptr || IsRef(graph_.input_type(use.node, use.input));
    });
  }

  const Graph& graph_;
  ChangedArguments changed_;
  absl::flat_hash_set<std::string> in_functions_;  // identities of variables that functions make
  std::vector<NodeId> variables_;
  bool gives_handles_ = false;
  absl::flat_hash_map<std::string_view, bool> makes_tables_;  // by function
};

}  // namespace

VariableUse UseOfVariables(const Graph& graph, absl::Span<const NodeId> roots) {
  return Search(graph).Run(roots);
}

}  // namespace tenon
