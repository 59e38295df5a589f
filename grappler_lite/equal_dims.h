// Dimensions that nobody knows but that are the same in every run, as the batch of a model is.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "graph/graph.h"
#include "graph/shape.h"
#include "graph/tensor.h"

namespace tenon {

// What is known of a graph's tensors; must not change what it says while EqualDims is in use.
struct KnownTensors {
  std::function<const PartialShape&(Output)> shape;
  std::function<std::optional<Tensor>(Output)> constant;  // small vectors of integers
};

class EqualDims {
 public:
  // One sweep, producers first. What is fed has dimensions of its own.
  EqualDims(const Graph& graph, const absl::flat_hash_set<NodeId>& feeds,
            const KnownTensors& known);

  // Whether the outputs, of nodes that the graph had, have one shape in every run.
  bool SameShape(Output a, Output b) const;
  // Of two dimensions that are unknown.
  bool SameDim(Output a, int i, Output b, int j) const {
    return SymbolAt(a, i) != 0 && SymbolAt(a, i) == SymbolAt(b, j);
  }

 private:
  // By dimension, a number for each that is unknown: equal ones are equal in every run. 0: known.
  using Symbols = absl::InlinedVector<int32_t, 6>;

  // A symbol as a multiple of one that is none itself.
  struct Multiple {
    int32_t of = 0;
    int64_t times = 1, over = 1;
    friend bool operator==(const Multiple&, const Multiple&) = default;
    template <typename H>
    friend H AbslHashValue(H h, const Multiple& m) {
      return H::combine(std::move(h), m.of, m.times, m.over);
    }
  };

  Symbols SymbolsOf(NodeId n);
  int32_t Scaled(int32_t symbol, int64_t times, int64_t over);
  int32_t SymbolAt(Output o, int dim) const;
  int32_t BroadcastSymbol(std::span<const Output> inputs, int from_end) const;
  Symbols Broadcast(NodeId n, std::span<const Output> inputs) const;
  Symbols Product(NodeId n) const;
  Symbols Moved(NodeId n) const;
  Symbols Reduced(NodeId n) const;
  Symbols Reshaped(NodeId n);
  Symbols Sliced(NodeId n) const;
  Symbols ByVector(Output vector) const;

  const Graph& g_;
  const absl::flat_hash_set<NodeId>& feeds_;
  const KnownTensors known_;
  absl::flat_hash_map<Output, Symbols> symbols_;
  int32_t last_ = 0;
  absl::flat_hash_map<Multiple, int32_t> multiples_;
  absl::flat_hash_map<int32_t, Multiple> multiple_of_;
};

}  // namespace tenon
