// Dimensions that nobody knows but that are the same in every run, as the batch of a model is.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "graph/ir/graph.h"
#include "graph/tensor/shape.h"
#include "graph/tensor/tensor.h"

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
  // Whether Reshape n asks in every run, size by size, for as many elements as there are: what
  // tells it the sizes, beside constants, are the shapes of these tensors. nullopt where it may
  // fail.
  std::optional<std::vector<Output>> ReshapeFits(NodeId n) const;
  // The tensor of which `vector` is the whole shape; kNoNode where it is none's.
  Output ShapeSource(Output vector) const;

 private:
  // By dimension, a number for each that is unknown: equal ones are equal in every run. 0: known.
  using Symbols = absl::InlinedVector<int32_t, 6>;

  struct Dim {
    Output of;
    int index;
  };

  // known / over times these symbols, none of which is a product itself.
  struct Volume {
    int64_t known = 1, over = 1;
    absl::InlinedVector<int32_t, 6> symbols;  // sorted
    friend bool operator==(const Volume&, const Volume&) = default;
    template <typename H>
    friend H AbslHashValue(H h, const Volume& v) {
      return H::combine(std::move(h), v.known, v.over, v.symbols);
    }
  };

  Symbols SymbolsOf(NodeId n);
  int32_t SymbolFor(Volume volume);
  int32_t SymbolAt(Output o, int dim) const;
  int32_t BroadcastSymbol(std::span<const Output> inputs, int from_end) const;
  Symbols Broadcast(NodeId n, std::span<const Output> inputs) const;
  Symbols Product(NodeId n) const;
  Symbols Moved(NodeId n) const;
  Symbols Split(NodeId n) const;
  Symbols Reduced(NodeId n) const;
  Symbols Reshaped(NodeId n);
  Symbols Unsqueezed(NodeId n) const;
  Symbols Sliced(NodeId n) const;
  Symbols Gathered(NodeId n) const;
  Symbols Summed(NodeId n) const;
  Symbols ByVector(Output vector) const;
  Dim DimOf(Output size) const;
  bool Multiply(Volume& volume, int64_t size, int32_t symbol) const;
  static void Normalize(Volume& volume);
  std::optional<Volume> VolumeOf(Output x) const;
  std::optional<Volume> VolumeAsked(Output vector, std::vector<Output>& told_by) const;

  const Graph& g_;
  const absl::flat_hash_set<NodeId>& feeds_;
  const KnownTensors known_;
  absl::flat_hash_map<Output, Symbols> symbols_;
  int32_t last_ = 0;
  absl::flat_hash_map<Volume, int32_t> products_;
  absl::flat_hash_map<int32_t, Volume> product_of_;
};

}  // namespace tenon
