// Sizes of functions with all that would be inlined into them. Functions are visited depth first
// with a stack of their own, since a file may nest calls as deep as it likes.

#include "executor/lowering/inline_budget.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "executor/lowering/lowering.h"
#include "graph/functions/function_library.h"
#include "grappler_lite/analysis/node_queries.h"

namespace tenon {
namespace {

// All calls together may become kLeastNodes nodes, or kNodesPerNode for each node of a function, if
// that is more: a small graph may always grow, and a large library may not become many times its
// size.
constexpr int64_t kLeastNodes = 100'000, kNodesPerNode = 4;

// A function that is being counted.
struct OpenBody {
  const FunctionEntry* function;
  std::vector<const FunctionEntry*> calls;  // in its body, that would be inlined
  size_t next = 0;
};

// The functions that calls in the body call, for each call that would be inlined.
std::vector<const FunctionEntry*> InlinedCalls(const Graph& graph, const FunctionBody& body) {
  absl::flat_hash_map<const BodyKind*, const FunctionEntry*> callees;
  for (const auto& kind : body.kinds) {
    const FunctionEntry* callee = Callee(graph, kind->op_name, kind->attrs.Find("f"));
    if (callee != nullptr && !IsMarkedForXla(kind->attrs)) callees.emplace(kind.get(), callee);
  }
  std::vector<const FunctionEntry*> calls;
  if (callees.empty()) return calls;
  for (const BodyNode& node : body.nodes) {
    if (const auto it = callees.find(node.kind); it != callees.end()) calls.push_back(it->second);
  }
  return calls;
}

}  // namespace

const FunctionEntry* Callee(const Graph& graph, std::string_view op, const AttrValue* f) {
  if (op != "PartitionedCall" && op != "StatefulPartitionedCall") return graph.FindFunction(op);
  const absl::StatusOr<FuncAttr> function =
      f == nullptr ? absl::NotFoundError("") : absl::StatusOr<FuncAttr>(f->AsFunc());
  return function.ok() ? graph.FindFunction(function->name) : nullptr;
}

InlineBudget InlineBudget::Fork() {
  if (!sizes_.empty()) {
    auto sizes = std::make_shared<Sizes>(*shared_sizes_);
    sizes->insert(sizes_.begin(), sizes_.end());
    shared_sizes_ = std::move(sizes);
    sizes_.clear();
  }
  return *this;
}

const InlineBudget::Size* InlineBudget::Find(std::string_view function) const {
  if (const auto it = sizes_.find(function); it != sizes_.end()) return &it->second;
  const auto it = shared_sizes_->find(function);
  return it == shared_sizes_->end() ? nullptr : &it->second;
}

const InlineBudget::Size& InlineBudget::SizeOf(const Graph& graph, const FunctionEntry& function,
                                               BodyOf body_of) {
  std::vector<OpenBody> stack;
  const auto open = [&](const FunctionEntry& f) {
    const FunctionBody& body = body_of(f);
    // The entry exists before the body is done. A call that leads here again finds the depth
    // kEndless, so that no function of a cycle is ever inlined.
    Size& size = sizes_[std::string(f.name)];
    // What an unknown op gives and takes is unknown: the run tells of it, if it needs the call.
    const auto is_unknown = [](const auto& kind) { return kind->op == nullptr; };
    size.stays = StaysCall(AttrSet(body.attrs)) || std::ranges::any_of(body.kinds, is_unknown);
    // The nodes "start", "effects" and "done" of a call.
    constexpr int64_t kEnds = 3;
    size.own = std::ssize(body.nodes) + std::ssize(body.returns) + kEnds;
    if (f.signature != nullptr) size.own += std::ssize(f.signature->inputs);
    counted_ += size.own;
    stack.push_back({&f, InlinedCalls(graph, body)});
  };
  if (Find(function.name) == nullptr) open(function);
  while (!stack.empty()) {
    OpenBody& top = stack.back();
    if (top.next < top.calls.size()) {
      const FunctionEntry& callee = *top.calls[top.next++];
      if (Find(callee.name) == nullptr) open(callee);
      continue;
    }
    Size& size = sizes_.at(top.function->name);
    int depth = 0;
    size.all = size.own;
    for (const FunctionEntry* callee : top.calls) {
      const Size& called = *Find(callee->name);
      // Such a call is not inlined, so it adds no nodes.
      if (called.stays) continue;
      size.all = std::min(size.all + called.all, kMostCounted);
      depth = std::max(depth, called.depth);
    }
    size.depth = std::min(depth + 1, kEndless);
    stack.pop_back();
  }
  return *Find(function.name);
}

bool InlineBudget::Fits(const Graph& graph, const FunctionEntry& function, int max_depth,
                        BodyOf body_of) {
  const Size& size = SizeOf(graph, function, body_of);
  if (size.stays || size.depth > max_depth) return false;
  const int64_t most =
      std::clamp<int64_t>(kNodesPerNode * counted_, kLeastNodes, Lowering::kMaxNodes);
  if (size.all <= most - taken_) return true;
  spent_ = absl::StrCat(most, " nodes of functions");
  return false;
}

}  // namespace tenon
