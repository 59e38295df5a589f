// Merges nodes that compute the same: one forward sweep of hash-consing.
#include <algorithm>
#include <bit>
#include <deque>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "absl/hash/hash.h"
#include "graph/base/status_macros.h"
#include "graph/ir/colocation.h"
#include "graph/op_defs/op_facts.h"
#include "graph/tensor/tensor_proto.h"
#include "grappler_lite/analysis/node_queries.h"
#include "grappler_lite/pipeline/pass.h"

namespace tenon {
namespace {

constexpr RewriteInfo kMerge = {"merge", Exactness::kExact};

// Ops whose effect is their place in the graph, or that answer anew each time: two of them are
// never one.
bool HasIdentityOfItsOwn(const OpDef* op) {
  if (op == nullptr || op->is_stateful) return true;
  const OpFacts& facts = *op->facts;
  return facts.from_outside || IsEnter(facts) || IsExit(facts) || IsNextIteration(facts);
}

// Constants of more elements are the same only if they are written in the same way.
constexpr int64_t kMaxDecodedElements = 256;
// As much of both ends of a longer text goes into its hash.
constexpr size_t kHashedBytes = 512;
// At nodes with the same hash that are others, such as constants that differ in the middle of a
// long text; after so many a node counts as new.
constexpr int kMostLooks = 64;

size_t HashText(std::string_view text) {
  if (text.size() <= 2 * kHashedBytes) return absl::HashOf(text);
  return absl::HashOf(text.size(), text.substr(0, kHashedBytes),
                      text.substr(text.size() - kHashedBytes));
}

// The same text for a small constant's value in whichever way it is written.
std::string CanonicalValue(std::string_view wire) {
  const absl::StatusOr<TensorProtoHeader> header = TensorHeaderFromWire(wire);
  if (!header.ok() || header->shape.num_elements() > kMaxDecodedElements) return std::string();
  const absl::StatusOr<Tensor> value = TensorFromWire(wire);
  if (!value.ok()) return std::string();
  return TensorToWire(*value).value_or("");
}

// Attributes that say something about a node and nothing about its answer. Equal nodes are on one
// device already.
bool IsRemark(std::string_view attr) {
  return attr == kColocationAttr || attr == "_output_shapes" ||
         attr == "_has_manual_control_dependencies";
}

// Op and attributes, with a hash: nodes of one kind share them.
class Kinds {
 public:
  size_t Hash(const NodeKind& kind) { return At(kind).hash; }
  bool MayMerge(const NodeKind& kind) { return At(kind).may_merge; }

  bool Same(const NodeKind& a, const NodeKind& b) {
    if (&a == &b) return true;
    if (a.op != b.op || Hash(a) != Hash(b)) return false;
    return std::ranges::equal(
        a.attrs.all() | std::views::filter(Counts), b.attrs.all() | std::views::filter(Counts),
        [&](const Attr& x, const Attr& y) {
          return x.name == y.name &&
                 (x.value.wire() == y.value.wire() || (x.name == "value" && SameValue(a, b)));
        });
  }

 private:
  static bool Counts(const Attr& a) { return !IsRemark(a.name); }

  struct Entry {
    bool is_known = false;
    bool may_merge = false;
    size_t hash = 0;
    std::string_view value;  // canonical, of a small constant
    std::string decoded;     // which is this one, unless it was written so
  };

  Entry& At(const NodeKind& kind) {
    if (kind.index >= entries_.size()) entries_.resize(kind.index + 1);
    Entry& entry = entries_[kind.index];
    if (!entry.is_known) Fill(kind, entry);
    return entry;
  }

  static void Fill(const NodeKind& kind, Entry& entry) {
    entry.is_known = true;
    entry.may_merge = !HasIdentityOfItsOwn(kind.op);
    if (!entry.may_merge) return;
    const bool is_const = kind.op_name == "Const";
    entry.hash = absl::HashOf(kind.op_name);
    for (const Attr& a : kind.attrs.all() | std::views::filter(Counts)) {
      std::string_view text = a.value.wire();
      if (is_const && a.name == "value") {
        const std::string_view wire = a.value.AsTensorWire().value_or("");
        if (IsAsWritten(wire)) {
          entry.value = wire;
        } else {
          entry.value = entry.decoded = CanonicalValue(wire);
        }
        if (!entry.value.empty()) text = entry.value;
      }
      entry.hash = absl::HashOf(entry.hash, a.name, HashText(text));
    }
  }

  bool SameValue(const NodeKind& a, const NodeKind& b) {
    const Entry& x = At(a);
    const Entry& y = At(b);
    return !x.value.empty() && x.value == y.value;
  }

  std::deque<Entry> entries_;  // by index of kind
};

class CommonSubgraphElimination : public Pass {
 public:
  std::vector<RewriteInfo> rewrites() const override { return {kMerge}; }

  absl::StatusOr<bool> Run(PassContext& context) override {
    Graph& g = context.graph;
    TENON_ASSIGN_OR_RETURN(const std::vector<NodeId> order, TopologicalOrder(g));
    std::vector<NodeId> same_as(g.num_node_ids(), kNoNode);
    // Chains of nodes whose hashes end alike, in a table that large graphs can still keep near.
    std::vector<NodeId> first(std::bit_ceil(2 * order.size() + 1), kNoNode);
    std::vector<NodeId> next(g.num_node_ids(), kNoNode);
    std::vector<uint32_t> hashes(g.num_node_ids());
    std::vector<NodeId> merged;
    Kinds kinds;
    const auto find_equal = [&](NodeId n, NodeId chain) {
      int looks = kMostLooks;
      for (NodeId m = chain; m != kNoNode && looks > 0; m = next[m]) {
        if (hashes[m] != hashes[n]) continue;
        if (Same(g, n, m, kinds)) return m;
        --looks;
      }
      return kNoNode;
    };
    for (NodeId n : order) {
      ForwardInputs(g, n, same_as);
      // Two reads of a variable by reference may see different values.
      if (!kinds.MayMerge(g.kind(n)) || context.feeds.contains(n) || ReadsReference(g, n) ||
          !context.Visit())
        continue;
      // Half of the hash keeps the table small. Same compares the nodes themselves.
      hashes[n] = static_cast<uint32_t>(Hash(g, n, kinds));
      NodeId& chain = first[hashes[n] & (first.size() - 1)];
      const NodeId equal = find_equal(n, chain);
      if (equal == kNoNode) {
        next[n] = std::exchange(chain, n);
      } else if (context.preserve.contains(n)) {
        // It must stay; those that follow may still be merged with the first of them.
      } else if (context.Allow(kMerge.name, n)) {
        same_as[n] = equal;
        merged.push_back(n);
        // The node left now does the work of a node whose device must stay.
        if (context.IsFixed(n) && !IsHostDevice(g.device(n))) context.Fix(equal);
      }
    }
    if (merged.empty()) return false;
    // Back edges of loops were not forwarded by the sweep.
    for (NodeId n : order) ForwardInputs(g, n, same_as);
    for (NodeId n : merged) g.RemoveNode(n);
    return true;
  }

 private:
  static void ForwardInputs(Graph& g, NodeId n, const std::vector<NodeId>& same_as) {
    for (int i = 0; i < static_cast<int>(g.inputs(n).size()); ++i) {
      const Output in = g.inputs(n)[i];
      if (same_as[in.node] != kNoNode) g.SetInput(n, i, {same_as[in.node], in.port});
    }
  }

  // Data inputs in their order, or sorted where the op does not care; control inputs always sorted.
  static std::vector<Output> CanonicalInputs(const Graph& g, NodeId n) {
    std::vector<Output> inputs(g.inputs(n).begin(), g.inputs(n).end());
    const auto less = [](const Output& a, const Output& b) {
      return std::pair(a.node, a.port) < std::pair(b.node, b.port);
    };
    const auto control = inputs.begin() + g.num_inputs(n);
    if (g.op(n)->is_commutative) std::sort(inputs.begin(), control, less);
    std::sort(control, inputs.end(), less);
    return inputs;
  }

  // The order of inputs does not matter to it, where it does not to the op.
  static size_t Hash(const Graph& g, NodeId n, Kinds& kinds) {
    const bool ordered = !g.op(n)->is_commutative;
    size_t hash = kinds.Hash(g.kind(n));
    for (const Output& in : g.data_inputs(n))
      hash = ordered ? absl::HashOf(hash, in) : hash + absl::HashOf(in);
    for (const Output& in : g.control_inputs(n)) hash += absl::HashOf(in.node);
    return hash;
  }

  static bool Same(const Graph& g, NodeId a, NodeId b, Kinds& kinds) {
    if (g.device(a) != g.device(b) || g.num_inputs(a) != g.num_inputs(b) ||
        g.inputs(a).size() != g.inputs(b).size() || !kinds.Same(g.kind(a), g.kind(b)))
      return false;
    return std::ranges::equal(g.inputs(a), g.inputs(b)) ||
           CanonicalInputs(g, a) == CanonicalInputs(g, b);
  }
};

}  // namespace

std::unique_ptr<Pass> MakeCommonSubgraphElimination() {
  return std::make_unique<CommonSubgraphElimination>();
}

}  // namespace tenon
