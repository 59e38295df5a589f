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

 private:
  // By dimension, a number for each that is unknown: equal ones are equal in every run. 0: known.
  using Symbols = absl::InlinedVector<int32_t, 6>;

  Symbols SymbolsOf(NodeId n) const;
  int32_t SymbolAt(Output o, int dim) const;
  int32_t BroadcastSymbol(std::span<const Output> inputs, int from_end) const;
  Symbols Broadcast(NodeId n, std::span<const Output> inputs) const;
  Symbols Product(NodeId n) const;
  Symbols Moved(NodeId n) const;
  Symbols Reduced(NodeId n) const;
  Symbols Reshaped(NodeId n) const;

  const Graph& g_;
  const absl::flat_hash_set<NodeId>& feeds_;
  const KnownTensors known_;
  absl::flat_hash_map<Output, Symbols> symbols_;
};

}  // namespace tenon
