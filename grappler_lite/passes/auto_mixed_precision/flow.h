// Where floats go: from node to node, and from what is written to a tensor list to what is read.
#pragma once

#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "grappler_lite/passes/auto_mixed_precision/type_slots.h"

namespace tenon {

class Flow {
 public:
  using Marks = std::vector<bool>;
  enum Direction : uint8_t { kInputs = 1, kOutputs = 2, kBoth = 3 };

  Flow(const Graph& graph, const TypeSlots& floats, const TypeSlots& handles);

  // One for each slot of floats; what comes behind is for Spread alone.
  Marks NoMarks() const { return Marks(size_, false); }
  // Marks every slot that can be reached from a marked one through slots for which `enter` holds.
  void Spread(Marks& marked, Direction direction, absl::FunctionRef<bool(int slot)> enter) const;
  // Slots whose floats this one takes; what is no slot stands for what was written to a list.
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

  // A handle is two vertices: one to be reached from writers, that leads to readers, and one the
  // other way, so that nothing spreads from writer to writer.
  int floats_, size_;
  Neighbours in_, out_;
};

}  // namespace tenon
