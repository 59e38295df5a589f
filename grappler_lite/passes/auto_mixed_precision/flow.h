// The data flow of floats between type slots (type_slots.h): along edges of the graph, and through
// tensor lists, from the node that writes an element to the node that reads one.
#pragma once

#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "grappler_lite/passes/auto_mixed_precision/type_slots.h"

namespace tenon {

// Immutable after construction: the graph may change afterwards. `floats` and `handles` are the
// slots of floats and of variant handles (TypeSlots) of one graph.
class Flow {
 public:
  using Marks = std::vector<bool>;
  enum Direction : uint8_t { kInputs = 1, kOutputs = 2, kBoth = 3 };

  Flow(const Graph& graph, const TypeSlots& floats, const TypeSlots& handles);

  // Returns marks with no slot marked. Marks has one entry for each slot of `floats`; the entries
  // behind them are handles of lists, for Spread alone.
  Marks NoMarks() const { return Marks(size_, false); }
  // Marks every slot that a path reaches from a marked slot, where `enter` holds for each slot of
  // the path after the first. kInputs follows edges to producers, kOutputs to users; with kBoth
  // each step of a path may go either way, but a path never turns at a handle of a list. `enter` is
  // not asked about handles.
  void Spread(Marks& marked, Direction direction, absl::FunctionRef<bool(int slot)> enter) const;
  // The slots from which `slot` gets its floats. A number that is no slot of `floats` stands for
  // the writers of a tensor list.
  absl::Span<const int> sources(int slot) const { return in_.of(slot); }

 private:
  struct Edge {
    int from, to;
  };
  // Neighbours of each vertex, in order of edges.
  class Neighbours {
   public:
    Neighbours(int size, absl::Span<const Edge> edges, int Edge::*at, int Edge::*other);
    absl::Span<const int> of(int v) const {
      return absl::MakeConstSpan(all_).subspan(begin_[v], begin_[v + 1] - begin_[v]);
    }

   private:
    std::vector<int> begin_, all_;
  };
  struct Edges {
    std::vector<Edge> in, out;
  };
  Flow(int floats, int size, const Edges& edges);
  static Edges EdgesOf(const Graph& graph, const TypeSlots& floats, const TypeSlots& handles);

  // A handle of a list is two vertices: one leads from writers to readers, the other from readers
  // to writers. With one vertex, marks would spread from one writer to another.
  int floats_, size_;
  Neighbours in_, out_;
};

}  // namespace tenon
