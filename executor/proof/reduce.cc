#include "executor/proof/reduce.h"

#include <algorithm>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "executor/values/element.h"
#include "graph/functions/function_library.h"
#include "graph/op_defs/op_facts.h"

namespace tenon {
namespace {

bool IsLeaf(const Graph& g, NodeId n) { return g.inputs(n).empty(); }

// Removes the nodes that neither fetches nor inits need, the functions that no node calls, and the
// feeds of removed nodes.
void Prune(FailingCase& s) {
  Graph& g = s.graph;
  std::vector<bool> needed(static_cast<size_t>(g.num_node_ids()), false);
  std::vector<NodeId> stack;
  for (const std::string& fetch : s.fetches) stack.push_back(g.ParseOutput(fetch)->node);
  for (const std::string& init : s.inits) stack.push_back(g.FindNode(init));
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
  RemoveUnreachableFunctions(g, [] { return true; });
  for (InputSet& set : s.inputs) {
    std::erase_if(set.feeds, [&](const Session::NamedTensor& feed) {
      return !g.ParseOutput(feed.first).ok();
    });
  }
}

// Returns the failing case without these parts; nothing where none of them can go.
using Without = std::function<std::optional<FailingCase>(absl::Span<const int32_t> parts)>;

class Reducer {
 public:
  Reducer(const FailingCase& failing, const GraphRunner& runner,
          const std::function<bool(const FailingCase&)>& fails, const ReduceOptions& options)
      : now_(failing), runner_(runner), fails_(fails), options_(options) {}

  absl::StatusOr<Reduction> Run() {
    KeepOneSet();
    KeepFewFetches();
    InlineCalls();
    Prune(now_);
    FindValues();
    // A step that failed may succeed when another has made the case smaller: until nothing changes.
    for (int32_t before = INT32_MAX; now_.graph.num_nodes() < before && !stopped_;) {
      before = now_.graph.num_nodes();
      MoveOutputUp();
      TryInChunks(Inner(), [this](absl::Span<const int32_t> nodes) { return WithCut(nodes); });
      TryInChunks(Inner(), [this](absl::Span<const int32_t> nodes) { return WithBypassed(nodes); });
      TryInChunks(Controlled(),
                  [this](absl::Span<const int32_t> nodes) { return WithoutControl(nodes); });
      KeepFewInits();
    }
    MakeInputsPlain();
    return Reduction{std::move(now_), trials_, stopped_};
  }

 private:
  bool Try(FailingCase smaller) {
    stopped_ |= trials_ >= options_.max_trials;
    if (stopped_) return false;
    ++trials_;
    Prune(smaller);
    if (!fails_(smaller)) return false;
    now_ = std::move(smaller);
    if (options_.on_smaller) options_.on_smaller(now_);
    return true;
  }

  // All parts, then halves of what is left of them, quarters, …, each by itself.
  void TryInChunks(std::vector<int32_t> parts, const Without& without) {
    for (size_t size = parts.size(); size > 0 && !stopped_; size = size == 1 ? 0 : (size + 1) / 2) {
      std::vector<int32_t> left;
      for (size_t begin = 0; begin < parts.size(); begin += size) {
        const auto chunk = absl::MakeConstSpan(parts).subspan(begin, size);
        std::optional<FailingCase> smaller = without(chunk);
        if (smaller && !Try(*std::move(smaller)))
          left.insert(left.end(), chunk.begin(), chunk.end());
      }
      parts = std::move(left);
    }
  }

  void KeepOneSet() {
    for (const InputSet& set : std::vector<InputSet>(now_.inputs)) {
      FailingCase one = now_;
      one.inputs = {set};
      if (now_.inputs.size() > 1 && Try(std::move(one))) return;
    }
    now_.inputs.resize(1);
  }

  // One, unless it takes several that fail together.
  void KeepFewFetches() {
    for (bool fewer = true; fewer && now_.fetches.size() > 1;) {
      const auto middle = now_.fetches.begin() + static_cast<ptrdiff_t>(now_.fetches.size() / 2);
      FailingCase first = now_, second = now_;
      first.fetches.assign(now_.fetches.begin(), middle);
      second.fetches.assign(middle, now_.fetches.end());
      fewer = Try(std::move(first)) || Try(std::move(second));
    }
  }

  void KeepFewInits() {
    for (size_t i = now_.inits.size(); i-- > 0;) {
      FailingCase fewer = now_;
      fewer.inits.erase(fewer.inits.begin() + static_cast<ptrdiff_t>(i));
      Try(std::move(fewer));
    }
  }

  // What is wrong in a function can be made smaller where it is called.
  void InlineCalls() {
    if (now_.graph.functions().empty()) return;
    std::vector<std::string> wanted = now_.fetches;
    for (const std::string& init : now_.inits) wanted.push_back(absl::StrCat("^", init));
    absl::StatusOr<Graph> graph = runner_.WithCallsInlined(now_.graph, now_.inputs[0], wanted);
    if (!graph.ok()) return;
    FailingCase inlined = now_;
    inlined.graph = *std::move(graph);
    Try(std::move(inlined));
  }

  // Finds the values with which WithCut may replace nodes: those of all nodes with one output that
  // can be fetched.
  void FindValues() {
    const Graph& g = now_.graph;
    std::vector<std::string> names;
    for (NodeId n = 0; n < g.num_node_ids(); ++n) {
      if (!g.alive(n) || g.num_outputs(n) != 1 || IsLeaf(g, n) || IsControlFlow(g.facts(n)))
        continue;
      const DataType type = g.output_type({n, 0});
      if (IsMemcpyable(type) || type == DataType::kString) names.emplace_back(g.name(n));
    }
    // Behind a branch that is not taken there is no value.
    const Answer values = runner_.RunApart(g, now_.inputs[0], names);
    for (size_t i = 0; i < names.size(); ++i) {
      if (values[i].ok()) values_[names[i]] = *values[i];
    }
  }

  bool IsFetched(NodeId n) const {
    return std::any_of(now_.fetches.begin(), now_.fetches.end(), [&](const std::string& fetch) {
      return now_.graph.ParseOutput(fetch)->node == n;
    });
  }

  // Nodes between inputs and outputs whose values are known, in topological order.
  std::vector<int32_t> Inner() const {
    const absl::StatusOr<std::vector<NodeId>> order = TopologicalOrder(now_.graph);
    std::vector<int32_t> inner;
    if (!order.ok()) return inner;
    for (NodeId n : *order) {
      if (IsInner(n) && !IsFetched(n)) inner.push_back(n);
    }
    return inner;
  }

  bool IsInner(NodeId n) const {
    const Graph& g = now_.graph;
    return g.alive(n) && !IsLeaf(g, n) && values_.contains(std::string(g.name(n)));
  }

  std::vector<int32_t> Controlled() const {
    std::vector<int32_t> nodes;
    for (NodeId n = 0; n < now_.graph.num_node_ids(); ++n) {
      if (now_.graph.alive(n) && !now_.graph.control_inputs(n).empty()) nodes.push_back(n);
    }
    return nodes;
  }

  // Takes an earlier node as the output, as long as one fails too. By halves over the topological
  // order: behind the node at fault mostly all nodes are wrong, before it none is.
  void MoveOutputUp() {
    std::vector<int32_t> nodes = Inner();
    for (size_t first = 0; first < nodes.size() && !stopped_;) {
      const size_t middle = first + (nodes.size() - first) / 2;
      FailingCase earlier = now_;
      earlier.fetches = {std::string(now_.graph.name(nodes[middle]))};
      if (!Try(std::move(earlier))) {
        first = middle + 1;
        continue;
      }
      nodes.resize(middle);  // and of these what it needs
      nodes.erase(std::remove_if(nodes.begin() + static_cast<ptrdiff_t>(first), nodes.end(),
                                 [this](NodeId n) { return !now_.graph.alive(n); }),
                  nodes.end());
    }
  }

  // Makes nodes Placeholders that are fed with the values that the nodes had in the whole graph.
  std::optional<FailingCase> WithCut(absl::Span<const int32_t> nodes) const {
    std::optional<FailingCase> smaller;
    for (NodeId n : nodes) {
      if (!IsInner(n)) continue;
      if (!smaller) smaller = now_;
      const std::string name(now_.graph.name(n));
      const Tensor& value = values_.at(name);
      smaller->graph.SetKind(n, "Placeholder",
                             {{"dtype", attr::Type(value.dtype())},
                              {"shape", attr::Shape(PartialShape(value.shape()))}});
      smaller->graph.SetInputs(n, {}, {});
      smaller->inputs[0].feeds.emplace_back(name, value);
    }
    return smaller;
  }

  // Lets users of a node use its first input of the same type and shape. A run of nodes that are
  // bypassed together becomes one step, so inputs are followed to where the chain begins.
  std::optional<FailingCase> WithBypassed(absl::Span<const int32_t> nodes) const {
    const Graph& g = now_.graph;
    absl::flat_hash_map<NodeId, Output> instead;
    for (NodeId n : nodes) {  // in topological order
      if (!IsInner(n)) continue;
      for (const Output& in : g.data_inputs(n)) {
        if (in.port != 0 || !SameType(n, in.node)) continue;
        const auto further = instead.find(in.node);
        const Output by = further == instead.end() ? in : further->second;
        instead[n] = by;  // which may move what `further` refers to
        break;
      }
    }
    if (instead.empty()) return std::nullopt;
    FailingCase smaller = now_;
    for (NodeId user = 0; user < g.num_node_ids(); ++user) {
      if (!g.alive(user)) continue;
      for (int i = 0; i < g.num_inputs(user); ++i) {
        const auto it = instead.find(g.inputs(user)[i].node);
        if (it != instead.end()) smaller.graph.SetInput(user, i, it->second);
      }
    }
    return smaller;
  }

  std::optional<FailingCase> WithoutControl(absl::Span<const int32_t> nodes) const {
    std::optional<FailingCase> smaller;
    for (NodeId n : nodes) {
      if (!now_.graph.alive(n)) continue;
      if (!smaller) smaller = now_;
      smaller->graph.SetInputs(n, now_.graph.data_inputs(n), {});
    }
    return smaller;
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

  // Feeds ones where the fault does not need other values: a reader then sees which values matter.
  void MakeInputsPlain() {
    std::vector<int32_t> feeds;
    for (size_t i = 0; i < now_.inputs[0].feeds.size(); ++i) {
      if (cli::IsFloatLike(now_.inputs[0].feeds[i].second.dtype()))
        feeds.push_back(static_cast<int32_t>(i));
    }
    TryInChunks(feeds, [this](absl::Span<const int32_t> some) -> std::optional<FailingCase> {
      FailingCase plain = now_;
      for (int32_t i : some) {
        Tensor& value = plain.inputs[0].feeds[static_cast<size_t>(i)].second;
        absl::StatusOr<Tensor> ones = Tensor::Allocate(value.dtype(), value.shape());
        if (!ones.ok()) return std::nullopt;
        for (int64_t j = 0; j < ones->num_elements(); ++j) cli::StoreDouble(*ones, j, 1);
        value = *std::move(ones);
      }
      return plain;
    });
  }

  FailingCase now_;
  const GraphRunner& runner_;
  const std::function<bool(const FailingCase&)>& fails_;
  const ReduceOptions& options_;
  absl::flat_hash_map<std::string, Tensor> values_;
  int64_t trials_ = 0;
  bool stopped_ = false;
};

}  // namespace

absl::StatusOr<Reduction> Reduce(const FailingCase& failing, const GraphRunner& runner,
                                 const std::function<bool(const FailingCase&)>& fails,
                                 const ReduceOptions& options) {
  return Reducer(failing, runner, fails, options).Run();
}

}  // namespace tenon
