// Matching by names. A body fits a call if each of its nodes is found under the call's name, or is
// itself a call that was inlined. A node of the graph is claimed by one body at most, since two
// calls may have made names that differ by their number only.

#include "grappler_lite/provenance/inlined_nodes.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/functions/function_body.h"
#include "graph/functions/function_library.h"
#include "graph/ir/nodes.h"

namespace tenon {
namespace {

class Finder {
 public:
  Finder(const Graph& before, const Graph& after,
         absl::FunctionRef<bool(std::string_view)> was_rewritten, size_t changes)
      : before_(before),
        after_(after),
        was_rewritten_(was_rewritten),
        visits_left_(kVisits * (changes + 1)) {}

  InlinedNodes Run(const std::vector<NodeChange>& changes) && {
    for (const NodeChange& change : changes) {
      const NodeId was = change.before;
      if (was == kNoNode || !IsFunctional(before_, was)) continue;
      if (change.after != kNoNode && IsFunctional(after_, change.after)) continue;
      const std::string_view name = before_.name(was);
      const std::unique_ptr<Fit> fit =
          FitOfCall(before_.op_name(was), before_.attrs(was), std::string(name), 0);
      if (fit == nullptr) continue;
      found_.roots.insert(was);
      Take(*fit, {-1, was, {}, {}, std::string(name)});
    }
    return std::move(found_);
  }

 private:
  // What became of a body: its nodes, and what its calls called that are there no more.
  struct Fit {
    std::string_view function;
    std::vector<std::pair<NodeId, const BodyNode*>> nodes;
    std::vector<std::pair<const BodyNode*, std::unique_ptr<Fit>>> calls;
    size_t size = 0;  // nodes, those of calls too
  };

  // Of the functions that a call could mean the one that fits best; null if that is none, or two.
  std::unique_ptr<Fit> FitOfCall(std::string_view op, const AttrSet& attrs, const std::string& call,
                                 int depth) {
    std::vector<const FunctionEntry*> callees;
    for (const std::string_view name : CalledBy(op, attrs)) {
      const FunctionEntry* function = before_.FindFunction(name);
      if (function != nullptr && std::ranges::find(callees, function) == callees.end())
        callees.push_back(function);
    }
    if (depth > kMostNested || callees.empty()) return nullptr;
    if (callees.size() == 1) return FitOf(*callees[0], call, depth);
    std::unique_ptr<Fit> best;
    bool is_one = true;
    for (const FunctionEntry* function : callees) {
      std::unique_ptr<Fit> fit = FitOf(*function, call, depth);
      if (fit == nullptr) continue;
      // Alternatives of one call may have nodes of the same names: each is tried with all nodes
      // free.
      Free(*fit);
      if (best != nullptr && fit->size == best->size) is_one = false;
      if (best != nullptr && fit->size <= best->size) continue;
      is_one = true;
      best = std::move(fit);
    }
    if (best == nullptr || !is_one) return nullptr;
    Claim(*best);
    return best;
  }

  std::unique_ptr<Fit> FitOf(const FunctionEntry& function, const std::string& call, int depth) {
    auto fit = std::make_unique<Fit>();
    fit->function = function.name;
    std::vector<const BodyNode*> calls;
    for (const BodyNode& node : BodyOf(function).nodes) {
      const NodeId n = Find(call, node);
      if (n != kNoNode) {
        claimed_.insert(n);
        fit->nodes.emplace_back(n, &node);
      } else if (visits_left_ > 0 && IsFunctional(before_, node.op_name())) {
        calls.push_back(&node);
      } else {
        Free(*fit);
        return nullptr;
      }
    }
    fit->size = fit->nodes.size();
    for (const BodyNode* node : calls) {
      std::unique_ptr<Fit> inner =
          FitOfCall(node->op_name(), node->attrs(), absl::StrCat(call, "/", node->name), depth + 1);
      if (inner == nullptr) continue;
      fit->size += inner->size;
      fit->calls.emplace_back(node, std::move(inner));
    }
    return fit;
  }

  void Claim(const Fit& fit) {
    for (const auto& [n, node] : fit.nodes) claimed_.insert(n);
    for (const auto& [node, inner] : fit.calls) Claim(*inner);
  }
  void Free(const Fit& fit) {
    for (const auto& [n, node] : fit.nodes) claimed_.erase(n);
    for (const auto& [node, inner] : fit.calls) Free(*inner);
  }

  void Take(const Fit& fit, InlinedNodes::Call call) {
    // The call comes before the calls in its body, which refer to its index.
    const auto c = static_cast<int32_t>(found_.calls.size());
    found_.calls.push_back(std::move(call));
    found_.inlined.insert(fit.function);
    for (const auto& [n, node] : fit.nodes)
      found_.origins.emplace(n, InlinedNodes::Origin{c, fit.function, node->name});
    for (const auto& [node, inner] : fit.calls) {
      Take(*inner, {c, kNoNode, fit.function, node->name,
                    absl::StrCat(found_.calls[c].name, "/", node->name)});
    }
  }

  // "call/node", or where another node had that name "call/node_1" and so on.
  NodeId Find(const std::string& call, const BodyNode& node) {
    const std::string base = absl::StrCat(call, "/", node.name);
    std::string name = base;
    for (int number = 1; visits_left_ > 0; ++number) {
      --visits_left_;
      const NodeId n = after_.FindNode(name);
      if (n == kNoNode) return kNoNode;
      if (before_.FindNode(name) == kNoNode && !claimed_.contains(n) &&
          (IsOf(node, n) || was_rewritten_(name)))
        return n;
      name = absl::StrCat(base, "_", number);
    }
    return kNoNode;
  }

  bool IsOf(const BodyNode& node, NodeId n) const {
    if (after_.op_name(n) != node.op_name()) return false;
    if (node.op_name() != "Const") return true;
    const AttrValue* is = after_.attrs(n).Find("value");
    const AttrValue* was = node.attrs().Find("value");
    return is != nullptr && was != nullptr && is->wire() == was->wire();
  }

  const FunctionBody& BodyOf(const FunctionEntry& function) {
    const auto [it, is_new] = bodies_.try_emplace(&function);
    if (is_new) it->second = std::make_unique<FunctionBody>(ParseFunctionBody(before_, function));
    return *it->second;
  }

  static constexpr size_t kVisits = 16;  // for each change; an inlined node takes one or two
  static constexpr int kMostNested = 256;

  const Graph& before_;
  const Graph& after_;
  const absl::FunctionRef<bool(std::string_view)> was_rewritten_;
  size_t visits_left_;
  InlinedNodes found_;
  absl::flat_hash_set<NodeId> claimed_;
  absl::flat_hash_map<const FunctionEntry*, std::unique_ptr<FunctionBody>> bodies_;
};

}  // namespace

InlinedNodes FindInlinedNodes(const Graph& before, const Graph& after,
                              const std::vector<NodeChange>& changes,
                              absl::FunctionRef<bool(std::string_view)> was_rewritten) {
  return Finder(before, after, was_rewritten, changes.size()).Run(changes);
}

}  // namespace tenon
