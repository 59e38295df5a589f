#include "graph/shared_functions.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "graph/function_body.h"
#include "graph/function_library.h"
#include "graph/graph_reader.h"
#include "graph/nodes.h"

namespace tenon {

bool HasFunctions(const Graph& graph) {
  return !graph.functions().empty() || GraphReader::Shared(graph) != nullptr;
}

bool MayStopARun(std::string_view op_name, const OpDef* op) {
  return op != nullptr && (op->is_stateful || IsSwitchOp(op_name) || op_name == "CheckNumerics" ||
                           op_name == "CheckNumericsV2");
}

std::shared_ptr<SharedFunctions> SharedFunctions::Of(const Graph& owner) {
  std::shared_ptr<SharedFunctions> beyond = GraphReader::Shared(owner);
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

std::vector<const FunctionEntry*> SharedFunctions::Implementations() {
  for (; searched_ < functions_.size(); ++searched_) {
    const FunctionEntry& function = functions_[searched_];
    if (absl::StrContains(function.wire, "api_implements")) implementations_.push_back(&function);
  }
  std::vector<const FunctionEntry*> all;
  if (beyond_ != nullptr) all = beyond_->Implementations();
  all.insert(all.end(), implementations_.begin(), implementations_.end());
  return all;
}

bool SharedFunctions::ReachesItself(const Graph& graph, std::string_view function) {
  return FactsOf(graph, function).reaches_itself;
}

bool SharedFunctions::MayStop(const Graph& graph, std::string_view function) {
  return FactsOf(graph, function).may_stop;
}

// Tarjan's search for the groups of functions that reach each other, those that they call first.
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
      if (!IsFunctional(graph_, node.op_name))
        step.facts.may_stop |= tenon::MayStopARun(node.op_name, node.op);
      call(node.op_name);
      for (const Attr& attr : node.attrs) {
        for (const std::string_view name : FunctionsNamedBy(attr.value)) call(name);
      }
    }
    path_.push_back(std::move(step));
  }

  void Follow(Step& from, const FunctionEntry& callee) {
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
