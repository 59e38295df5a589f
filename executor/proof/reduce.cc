#include "executor/proof/reduce.h"

#include <algorithm>
#include <map>

#include "executor/cli/element.h"
#include "graph/nodes.h"

namespace tenon {
namespace {

bool IsLeaf(const Graph& g, NodeId n) { return g.inputs(n).empty(); }

// Without the nodes that the output does not need, and values for them.
void Prune(Suspect& s) {
  Graph& g = s.graph;
  std::vector<bool> needed(static_cast<size_t>(g.num_node_ids()), false);
  std::vector<NodeId> stack;
  for (const std::string& fetch : s.fetches) stack.push_back(g.ParseOutput(fetch)->node);
  while (!stack.empty()) {
    const NodeId n = stack.back();
    stack.pop_back();
    if (needed[static_cast<size_t>(n)]) continue;
    needed[static_cast<size_t>(n)] = true;
    for (const Output& in : g.inputs(n)) stack.push_back(in.node);
  }
  for (NodeId n = 0; n < g.num_node_ids(); ++n) {
    if (g.alive(n) && !needed[static_cast<size_t>(n)]) g.RemoveNode(n);
  }
  for (InputSet& set : s.inputs) {
    std::erase_if(set.feeds, [&](const Session::NamedTensor& feed) {
      return !g.ParseOutput(feed.first).ok();
    });
  }
}

class Reducer {
 public:
  Reducer(const Suspect& suspect, const GraphRunner& runner,
          const std::function<bool(const Suspect&)>& fails, const ReduceOptions& options)
      : now_(suspect), runner_(runner), fails_(fails), max_trials_(options.max_trials) {}

  absl::StatusOr<Reduction> Run() {
    KeepOneSet();
    KeepOneFetch();
    Prune(now_);
    FindValues();
    for (int32_t before = INT32_MAX; now_.graph.num_nodes() < before && trials_ < max_trials_;) {
      before = now_.graph.num_nodes();
      MoveOutputUp();
      CutInChunks();
      BypassNodes();
    }
    MakeInputsPlain();
    return Reduction{std::move(now_), trials_};
  }

 private:
  bool Try(Suspect smaller) {
    if (trials_ >= max_trials_) return false;
    ++trials_;
    Prune(smaller);
    if (!fails_(smaller)) return false;
    now_ = std::move(smaller);
    return true;
  }

  void KeepOneSet() {
    for (const InputSet& set : std::vector<InputSet>(now_.inputs)) {
      Suspect one = now_;
      one.inputs = {set};
      if (now_.inputs.size() > 1 && Try(std::move(one))) return;
    }
    now_.inputs.resize(1);
  }

  void KeepOneFetch() {
    for (const std::string& fetch : std::vector<std::string>(now_.fetches)) {
      Suspect one = now_;
      one.fetches = {fetch};
      if (now_.fetches.size() > 1 && Try(std::move(one))) return;
    }
  }

  // Of all nodes of one output that a run can be asked for.
  void FindValues() {
    const Graph& g = now_.graph;
    std::vector<std::string> names;
    for (NodeId n = 0; n < g.num_node_ids(); ++n) {
      if (!g.alive(n) || g.num_outputs(n) != 1 || IsLeaf(g, n) || IsControlFlowOp(g.op_name(n)))
        continue;
      const DataType type = g.output_type({n, 0});
      if (IsMemcpyable(type) || type == DataType::kString) names.emplace_back(g.name(n));
    }
    const auto all = runner_.Run(g, now_.inputs[0].feeds, names);
    for (size_t i = 0; i < names.size(); ++i) {
      // Behind a branch that is not taken there is no value: such nodes are asked one by one.
      if (all.ok()) {
        values_[names[i]] = (*all)[i];
      } else if (auto one = runner_.Run(g, now_.inputs[0].feeds, {names[i]}); one.ok()) {
        values_[names[i]] = (*one)[0];
      }
    }
  }

  std::vector<NodeId> Inner() const {
    const absl::StatusOr<std::vector<NodeId>> order = TopologicalOrder(now_.graph);
    std::vector<NodeId> inner;
    if (!order.ok()) return inner;
    for (NodeId n : *order) {
      if (values_.contains(std::string(now_.graph.name(n))) && !IsLeaf(now_.graph, n))
        inner.push_back(n);
    }
    return inner;
  }

  // The earliest node that fails too.
  void MoveOutputUp() {
    for (NodeId n : Inner()) {
      Suspect earlier = now_;
      earlier.fetches = {std::string(now_.graph.name(n))};
      if (earlier.fetches == now_.fetches || Try(std::move(earlier))) return;
    }
  }

  // n gives the value that it has, whatever its inputs were.
  void Cut(Suspect& s, NodeId n) const {
    const std::string name(s.graph.name(n));
    const Tensor& value = values_.at(name);
    s.graph.SetKind(n, "Placeholder",
                    {{"dtype", attr::Type(value.dtype())},
                     {"shape", attr::Shape(PartialShape(value.shape()))}});
    s.graph.SetInputs(n, {}, {});
    s.inputs[0].feeds.emplace_back(name, value);
  }

  // Halves, quarters, … single nodes.
  void CutInChunks() {
    for (size_t size = std::max<size_t>(Inner().size() / 2, 1);; size /= 2) {
      for (size_t begin = 0;; begin += size) {
        const std::vector<NodeId> inner = Inner();  // those that earlier cuts left
        if (begin >= inner.size()) break;
        Suspect smaller = now_;
        const std::string output = now_.fetches[0];
        bool any = false;
        for (size_t i = begin; i < std::min(begin + size, inner.size()); ++i) {
          if (now_.graph.ParseOutput(output)->node == inner[i]) continue;
          Cut(smaller, inner[i]);
          any = true;
        }
        if (any) Try(std::move(smaller));
      }
      if (size <= 1) return;
    }
  }

  // Users of n use its first input of the same type and shape.
  void BypassNodes() {
    for (NodeId n : Inner()) {
      const Graph& g = now_.graph;
      if (!g.alive(n) || IsLeaf(g, n)) continue;
      for (const Output& in :
           std::vector<Output>(g.data_inputs(n).begin(), g.data_inputs(n).end())) {
        if (in.port != 0 || !SameType(n, in.node)) continue;
        Suspect smaller = now_;
        for (NodeId user = 0; user < g.num_node_ids(); ++user) {
          if (!g.alive(user)) continue;
          for (int i = 0; i < g.num_inputs(user); ++i) {
            if (g.inputs(user)[i].node == n) smaller.graph.SetInput(user, i, in);
          }
        }
        if (Try(std::move(smaller))) break;
      }
    }
  }

  bool SameType(NodeId a, NodeId b) const {
    const Tensor *x = ValueOf(a), *y = ValueOf(b);
    return x != nullptr && y != nullptr && x->dtype() == y->dtype() && x->shape() == y->shape();
  }

  const Tensor* ValueOf(NodeId n) const {
    const std::string_view name = now_.graph.name(n);
    for (const auto& [feed, value] : now_.inputs[0].feeds) {
      if (feed == name) return &value;
    }
    const auto it = values_.find(std::string(name));
    return it == values_.end() ? nullptr : &it->second;
  }

  void MakeInputsPlain() {
    for (size_t i = 0; i < now_.inputs[0].feeds.size(); ++i) {
      const Tensor& value = now_.inputs[0].feeds[i].second;
      if (!cli::IsFloatLike(value.dtype())) continue;
      absl::StatusOr<Tensor> ones = Tensor::Allocate(value.dtype(), value.shape());
      if (!ones.ok()) continue;
      for (int64_t j = 0; j < ones->num_elements(); ++j) cli::StoreDouble(*ones, j, 1);
      Suspect plain = now_;
      plain.inputs[0].feeds[i].second = *std::move(ones);
      Try(std::move(plain));
    }
  }

  Suspect now_;
  const GraphRunner& runner_;
  const std::function<bool(const Suspect&)>& fails_;
  std::map<std::string, Tensor> values_;
  const int64_t max_trials_;
  int64_t trials_ = 0;
};

}  // namespace

absl::StatusOr<Reduction> Reduce(const Suspect& suspect, const GraphRunner& runner,
                                 const std::function<bool(const Suspect&)>& fails,
                                 const ReduceOptions& options) {
  return Reducer(suspect, runner, fails, options).Run();
}

}  // namespace tenon
