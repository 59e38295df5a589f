// Visits functions depth first with a stack of their own, since a file may nest calls as deep as it
// likes. Sums saturate at kMost: counts may grow exponentially with the depth.

#include "executor/lowering/nodes_written.h"

#include <algorithm>
#include <vector>

#include "graph/ir/nodes.h"

namespace tenon {
namespace {

// A function that is being counted.
struct OpenCount {
  std::string_view name;
  std::vector<const FunctionEntry*> calls;
  size_t next = 0;
  int64_t count = 0;
};

}  // namespace

std::vector<const FunctionEntry*> NodesWritten::CalledBy(std::string_view op,
                                                         const std::vector<Attr>& attrs) const {
  std::vector<const FunctionEntry*> called;
  if (!IsFunctional(graph_, op)) return called;
  const auto add = [&](std::string_view name) {
    if (const FunctionEntry* f = graph_.FindFunction(name); f != nullptr) called.push_back(f);
  };
  add(op);
  // The attributes of all functional ops that name functions.
  static constexpr std::string_view kCalled[] = {"f",        "then_branch", "else_branch",
                                                 "branches", "cond",        "body"};
  for (const Attr& attr : attrs) {
    if (std::ranges::find(kCalled, attr.name) == std::end(kCalled)) continue;
    if (const auto function = attr.value.AsFunc(); function.ok()) {
      add(function->name);
    } else if (const auto list = attr.value.AsFuncList(); list.ok()) {
      for (const FuncAttr& each : *list) add(each.name);
    }
  }
  return called;
}

int64_t NodesWritten::Of(std::string_view op, const std::vector<Attr>& attrs) {
  int64_t count = 0;
  for (const FunctionEntry* function : CalledBy(op, attrs))
    count = std::min(count + Of(*function), kMost);
  return count;
}

int64_t NodesWritten::Of(const FunctionEntry& function) {
  std::vector<OpenCount> stack;
  const auto open = [&](const FunctionEntry& f) {
    OpenCount next{f.name, {}};
    const FunctionBody body = ParseFunctionBody(graph_, f);
    next.count = std::ssize(body.nodes);
    for (const BodyNode& node : body.nodes) {
      for (const FunctionEntry* called : CalledBy(node.op_name(), node.attrs().all()))
        next.calls.push_back(called);
    }
    // A function that calls itself finds this 0, so that the count ends. ChainDepth refuses the
    // function.
    counts_.emplace(f.name, 0);
    stack.push_back(std::move(next));
  };
  if (!counts_.contains(function.name)) open(function);
  while (!stack.empty()) {
    OpenCount& top = stack.back();
    if (top.next == top.calls.size()) {
      counts_[top.name] = top.count;
      stack.pop_back();
      continue;
    }
    const FunctionEntry& called = *top.calls[top.next];
    if (const auto it = counts_.find(called.name); it != counts_.end()) {
      top.count = std::min(top.count + it->second, kMost);
      ++top.next;
    } else {
      open(called);
    }
  }
  return counts_.at(function.name);
}

}  // namespace tenon
