// A graph of type slots. Its vertices are the float slots, and behind them two for each handle of a
// list of tensors, since elements flow from writers of the list to readers without an edge of
// floats.

#include "grappler_lite/passes/auto_mixed_precision/flow.h"

#include "graph/op_defs/op_facts.h"
#include "grappler_lite/passes/auto_mixed_precision/tensor_lists.h"

namespace tenon {

Flow::Neighbours::Neighbours(int size, absl::Span<const Edge> edges, int Edge::*at,
                             int Edge::*other)
    : begin_(size + 1, 0), all_(edges.size()) {
  // Compressed rows: the neighbours of v are all_[begin_[v]] up to all_[begin_[v + 1]]. A counting
  // sort fills them.
  for (const Edge& e : edges) ++begin_[e.*at + 1];
  for (int v = 0; v < size; ++v) begin_[v + 1] += begin_[v];
  std::vector<int> next(begin_.begin(), begin_.end() - 1);
  for (const Edge& e : edges) all_[next[e.*at]++] = e.*other;
}

Flow::Edges Flow::EdgesOf(const Graph& g, const TypeSlots& floats, const TypeSlots& handles) {
  Edges edges;
  const auto to_readers = [&](int handle) { return floats.size() + 2 * handle; };
  const auto to_writers = [&](int handle) { return floats.size() + 2 * handle + 1; };
  constexpr int kNone = TypeSlots::kNone;
  for (NodeId n = 0; n < g.num_node_ids(); ++n) {
    if (!g.alive(n)) continue;
    const bool is_list = handles.begin(n) != handles.end(n) && g.facts(n).tensor_list;
    for (int i = 0; i < g.num_inputs(n); ++i) {
      const Output o = g.data_inputs(n)[i];
      const int from = floats.OfOutput(o), to = floats.OfInput(n, i);
      if (from != kNone && to != kNone) {
        edges.in.push_back({from, to});
        edges.out.push_back({from, to});
      }
      const int handle = handles.OfOutput(o), of = handles.OfInput(n, i);
      if (handle != kNone && of != kNone) {
        // A handle carries elements both ways: marks of outputs go from writers to readers on one
        // vertex, marks of inputs from readers to writers on the other.
        edges.out.push_back({to_readers(handle), to_readers(of)});
        edges.in.push_back({to_writers(handle), to_writers(of)});
      }
      if (to != kNone && is_list) {
        for (int h = handles.begin(n); h < handles.end(n); ++h) {
          edges.out.push_back({to, to_readers(h)});
          edges.in.push_back({to, to_writers(h)});
        }
      }
    }
    for (int i = 0; is_list && i < g.num_outputs(n); ++i) {
      const int from = floats.OfOutput({n, i});
      if (from == kNone) continue;
      for (int h = handles.begin(n); h < handles.end(n); ++h) {
        edges.out.push_back({to_readers(h), from});
        edges.in.push_back({to_writers(h), from});
      }
    }
  }
  return edges;
}

Flow::Flow(const Graph& graph, const TypeSlots& floats, const TypeSlots& handles)
    : Flow(floats.size(), floats.size() + 2 * handles.size(), EdgesOf(graph, floats, handles)) {}

Flow::Flow(int floats, int size, const Edges& edges)
    : floats_(floats),
      size_(size),
      in_(size, edges.in, &Edge::to, &Edge::from),
      out_(size, edges.out, &Edge::from, &Edge::to) {}

void Flow::Spread(Marks& marked, Direction direction, absl::FunctionRef<bool(int)> enter) const {
  std::vector<int> open;
  for (int v = 0; v < size_; ++v) {
    if (marked[v]) open.push_back(v);
  }
  const auto visit = [&](int to) {
    if (marked[to] || (to < floats_ && !enter(to))) return;
    marked[to] = true;
    open.push_back(to);
  };
  while (!open.empty()) {
    const int v = open.back();
    open.pop_back();
    if ((direction & kInputs) != 0) {
      for (int from : in_.of(v)) visit(from);
    }
    if ((direction & kOutputs) == 0) continue;
    for (int to : out_.of(v)) visit(to);
  }
}

}  // namespace tenon
