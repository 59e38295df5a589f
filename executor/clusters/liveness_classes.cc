#include "executor/clusters/liveness_classes.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "graph/op_defs/op_facts.h"

namespace tenon {
namespace {

class LivenessClassifier {
 public:
  LivenessClassifier(const Graph& graph, absl::Span<const NodeId> order)
      : graph_(graph), order_(order), classes_(graph.num_node_ids(), 0) {}

  std::vector<int32_t> Run() {
    for (const NodeId n : order_) classes_[n] = ClassOf(n);
    return std::move(classes_);
  }

 private:
  int32_t New() { return ++last_; }

  // The class of what runs only where both run.
  int32_t Both(int32_t a, int32_t b) {
    if (a == b || b == 0) return a;
    if (a == 0) return b;
    if (a > b) std::swap(a, b);
    const auto [it, is_new] = joined_.try_emplace({a, b}, 0);
    if (is_new) it->second = New();
    return it->second;
  }

  // A switch gives each of its outputs a liveness of its own.
  int32_t ClassOfValue(Output from) {
    if (graph_.facts(from.node).flow != FlowRole::kSwitch || from.is_control())
      return classes_[from.node];
    const auto [it, is_new] = switched_.try_emplace(from, 0);
    if (is_new) it->second = New();
    return it->second;
  }

  int32_t ClassOf(NodeId n) {
    switch (graph_.facts(n).flow) {
      case FlowRole::kMerge:
      case FlowRole::kEnter:
      case FlowRole::kExit:
      case FlowRole::kNextIteration:
        return New();
      default:
        break;
    }
    int32_t all = 0;
    for (const Output& from : graph_.inputs(n)) all = Both(all, ClassOfValue(from));
    return all;
  }

  const Graph& graph_;
  const absl::Span<const NodeId> order_;
  std::vector<int32_t> classes_;
  absl::flat_hash_map<std::pair<int32_t, int32_t>, int32_t> joined_;
  absl::flat_hash_map<Output, int32_t> switched_;
  int32_t last_ = 0;
};

}  // namespace

std::vector<int32_t> LivenessClasses(const Graph& graph, absl::Span<const NodeId> order) {
  return LivenessClassifier(graph, order).Run();
}

}  // namespace tenon
