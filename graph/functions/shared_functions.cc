// Scopes of functions, each with a link to the scope beyond. What is asked of a function and of all
// that it reaches is found once and kept in the scope that owns the function.

#include "graph/functions/shared_functions.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/functions/function_body.h"
#include "graph/functions/function_library.h"
#include "graph/ir/library_access.h"
#include "graph/ir/nodes.h"
#include "graph/op_defs/op_facts.h"

namespace tenon {
namespace {

constexpr std::string_view kImplements = "api_implements";
constexpr std::string_view kPreferredDevice = "api_preferred_device";

std::string_view Text(const AttrSet& attrs, std::string_view name) {
  const AttrValue* value = attrs.Find(name);
  return value == nullptr ? std::string_view() : value->AsString().value_or("");
}

void AppendTypes(const std::vector<ArgDef>& args, std::string& text) {
  for (const ArgDef& arg : args)
    absl::StrAppend(&text, " ", DataTypeName(arg.type), arg.is_ref ? "&" : "", arg.number_attr, "*",
                    arg.type_attr, arg.type_list_attr);
}

}  // namespace

bool HasFunctions(const Graph& graph) {
  return !graph.functions().empty() || LibraryAccess::Shared(graph) != nullptr;
}

bool MayStopARun(const OpDef* op) {
  return op != nullptr && (op->is_stateful || IsSwitch(*op->facts));
}

std::shared_ptr<SharedFunctions> SharedFunctions::Of(const Graph& owner) {
  // No other scopes are made.
  auto beyond = std::static_pointer_cast<SharedFunctions>(LibraryAccess::Shared(owner));
  if (beyond != nullptr && owner.functions().empty()) return beyond;
  auto all = std::make_shared<SharedFunctions>();
  all->beyond_ = std::move(beyond);
  for (const FunctionEntry& function : owner.functions()) all->Add(function);
  return all;
}

void SharedFunctions::Add(const FunctionEntry& function) {
  functions_.push_back(function);
  by_name_.try_emplace(function.name, &functions_.back());
}

const FunctionEntry* SharedFunctions::Find(std::string_view name) const {
  for (const SharedFunctions* at = this; at != nullptr; at = at->beyond_.get()) {
    if (const auto it = at->by_name_.find(name); it != at->by_name_.end()) return it->second;
  }
  return nullptr;
}

// nullopt if the function is not marked. Functions of a gradient come in pairs, forward and
// backward, which only go together: exchanging one of them would break the other.
std::optional<SharedFunctions::Implementation> SharedFunctions::Implementation::By(
    const Graph& graph, const FunctionEntry& function) {
  // Few functions are marked: a look for the word in the bytes spares parsing the others.
  if (function.signature == nullptr || !absl::StrContains(function.wire, kImplements))
    return std::nullopt;
  const AttrSet attrs(ParseFunctionBody(graph, function).attrs);
  const std::string_view implements = Text(attrs, kImplements);
  const bool in_pair = !Text(attrs, "forward_function_name").empty() ||
                       !Text(attrs, "backward_function_name").empty();
  if (implements.empty() || in_pair) return std::nullopt;
  Implementation implementation{std::string(implements), Text(attrs, kPreferredDevice)};
  AppendTypes(function.signature->inputs, implementation.what);
  absl::StrAppend(&implementation.what, " ->");
  AppendTypes(function.signature->outputs, implementation.what);
  return implementation;
}

// Looks at the functions that were added since the last call.
void SharedFunctions::FindImplementations(const Graph& graph) {
  if (beyond_ != nullptr) beyond_->FindImplementations(graph);
  for (; searched_ < functions_.size(); ++searched_) {
    const FunctionEntry& function = functions_[searched_];
    std::optional<Implementation> i = Implementation::By(graph, function);
    if (!i.has_value()) continue;
    function_for_.try_emplace({i->what, std::string(i->device)}, function.name);
    implementations_.emplace(function.name, *std::move(i));
  }
}

bool SharedFunctions::HasImplementations(const Graph& graph) {
  FindImplementations(graph);
  return !implementations_.empty() || (beyond_ != nullptr && beyond_->HasImplementations(graph));
}

const SharedFunctions::Implementation* SharedFunctions::FindImplementation(
    std::string_view function) const {
  const auto it = implementations_.find(function);
  if (it != implementations_.end()) return &it->second;
  return beyond_ == nullptr ? nullptr : beyond_->FindImplementation(function);
}

std::string_view SharedFunctions::FindFunction(const std::string& what,
                                               std::string_view device_type) const {
  // The scope beyond comes first, so that the answer does not change when a body gets functions of
  // its own.
  if (beyond_ != nullptr) {
    const std::string_view first = beyond_->FindFunction(what, device_type);
    if (!first.empty()) return first;
  }
  const auto it = function_for_.find({what, std::string(device_type)});
  return it == function_for_.end() ? std::string_view() : it->second;
}

std::string_view SharedFunctions::ImplementationFor(const Graph& graph, std::string_view function,
                                                    std::string_view device_type) {
  FindImplementations(graph);
  const Implementation* now = FindImplementation(function);
  if (now == nullptr || now->device == device_type) return {};
  return FindFunction(now->what, device_type);
}

bool SharedFunctions::ReachesItself(const Graph& graph, std::string_view function) {
  return FactsOf(graph, function).reaches_itself;
}

bool SharedFunctions::MayStop(const Graph& graph, std::string_view function) {
  return FactsOf(graph, function).may_stop;
}

// Tarjan's search for strongly connected components: groups of functions that reach each other,
// called groups first. All functions of a group have the same facts. An explicit stack: chains of
// calls may be long.
class SharedFunctions::Search {
 public:
  Search(SharedFunctions& all, const Graph& graph) : all_(all), graph_(graph) {}

  void Run(const FunctionEntry& start) {
    Open(start);
    while (!path_.empty()) {
      Step& top = path_.back();
      if (top.next < top.calls.size()) {
        Follow(top, *top.calls[top.next++]);
      } else {
        Close();
      }
    }
  }

 private:
  struct Step {
    std::string_view name;
    std::vector<const FunctionEntry*> calls;
    size_t next = 0;
    size_t number = 0, lowest = 0;  // in the order in which functions were come to
    Facts facts;
  };

  void Open(const FunctionEntry& function) {
    Step step;
    step.name = function.name;
    step.number = step.lowest = numbers_.size();
    numbers_.emplace(function.name, step.number);
    group_.push_back(function.name);
    const auto call = [&](std::string_view name) {
      if (const FunctionEntry* callee = all_.Find(name); callee != nullptr)
        step.calls.push_back(callee);
    };
    for (const BodyNode& node : ParseFunctionBody(graph_, function).nodes) {
      if (!IsFunctional(graph_, node.op_name()))
        step.facts.may_stop |= tenon::MayStopARun(node.op());
      call(node.op_name());
      for (const Attr& attr : node.attrs().all()) {
        for (const std::string_view name : FunctionsNamedBy(attr.value)) call(name);
      }
    }
    path_.push_back(std::move(step));
  }

  void Follow(Step& from, const FunctionEntry& callee) {
    // Functions beyond never call one of this scope, so they can be part of no group here.
    if (!all_.by_name_.contains(callee.name)) {
      from.facts.may_stop |= all_.beyond_->FactsOf(graph_, callee.name).may_stop;
    } else if (const auto known = all_.facts_.find(callee.name); known != all_.facts_.end()) {
      from.facts.may_stop |= known->second.may_stop;
    } else if (const auto open = numbers_.find(callee.name); open != numbers_.end()) {
      from.lowest = std::min(from.lowest, open->second);
      from.facts.reaches_itself |= callee.name == from.name;
    } else {
      Open(callee);
    }
  }

  void Close() {
    const Step step = std::move(path_.back());
    path_.pop_back();
    if (step.lowest == step.number) {
      Facts facts = step.facts;
      // A group of several functions: each reaches itself through the others.
      facts.reaches_itself |= group_.back() != step.name;
      for (bool more = true; more;) {
        more = group_.back() != step.name;
        all_.facts_.emplace(group_.back(), facts);
        group_.pop_back();
      }
    }
    if (path_.empty()) return;
    Step& caller = path_.back();
    caller.lowest = std::min(caller.lowest, step.lowest);
    caller.facts.may_stop |= step.facts.may_stop;
  }

  SharedFunctions& all_;
  const Graph& graph_;
  std::vector<Step> path_;
  std::vector<std::string_view> group_;  // functions whose group is not complete
  absl::flat_hash_map<std::string_view, size_t> numbers_;
};

SharedFunctions::Facts SharedFunctions::FactsOf(const Graph& graph, std::string_view function) {
  const auto own = by_name_.find(function);
  if (own == by_name_.end())
    return beyond_ == nullptr ? Facts() : beyond_->FactsOf(graph, function);
  if (!facts_.contains(function)) Search(*this, graph).Run(*own->second);
  return facts_.at(function);
}

}  // namespace tenon
