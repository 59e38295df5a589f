// Finds dimensions that are unknown but equal in every run, as the batch dimension of all tensors
// of a model is.
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

// What is known of a graph's tensors. Both functions must give the same answers for as long as the
// EqualDims that holds them is in use. A reference that `shape` returns must stay valid until the
// function of EqualDims that asked for it returns.
struct KnownTensors {
  std::function<const PartialShape&(Output)> shape;
  // The value of a small scalar or vector of integers, if it is the same in every run; else
  // nullopt. Outputs of other types are not asked for. ReshapeFits also relies on this: a value is
  // that of a node that is not fed and has no control inputs.
  std::function<std::optional<Tensor>(Output)> constant;
};

// Immutable after construction; asking is thread-safe if the functions of KnownTensors are. False,
// nullopt and kNoNode also mean "not known". In a graph for which TopologicalOrder fails, no
// unknown dimensions count as equal.
class EqualDims {
 public:
  // Gives every unknown dimension a number (a symbol) in one sweep, producers first. Equal symbols
  // mean equal sizes in every run. A fed tensor gets new symbols, since a caller may feed any
  // shape. `graph` and `feeds` must outlive the object. SameShape and SameDim do not read the
  // graph again. ReshapeFits and ShapeSource read the graph as it is when they are called.
  EqualDims(const Graph& graph, const absl::flat_hash_set<NodeId>& feeds,
            const KnownTensors& known);

  // Whether both outputs have the same shape in every run. Both nodes must have been in the graph
  // when the object was made.
  bool SameShape(Output a, Output b) const;
  // Whether dimension i of a equals dimension j of b in every run. False if the size of either is
  // known, even where both sizes are equal. Dimensions count from 0; false if there is none.
  bool SameDim(Output a, int i, Output b, int j) const {
    return SymbolAt(a, i) != 0 && SymbolAt(a, i) == SymbolAt(b, j);
  }
  // Proves that n, a Reshape, succeeds in every run: the sizes that n is given multiply to the
  // number of elements that n reads. Understands sizes from Shape, ShapeN, or a Pack of constants
  // and parts of Shapes. Returns the tensors from whose shapes the sizes come; a tensor may be
  // there more than once. The result is empty for a Pack of constants only. nullopt where n may
  // fail, and where this is not known: for sizes from a Const of a vector, for a size of -1, and
  // where a node that computes the sizes is fed or has control inputs.
  std::optional<std::vector<Output>> ReshapeFits(NodeId n) const;
  // The tensor whose whole shape the values of `vector` are, where a Shape or ShapeN computes
  // `vector`. Else an Output of kNoNode.
  Output ShapeSource(Output vector) const;

 private:
  // By dimension of one tensor: its symbol, or 0 where the size is known.
  using Symbols = absl::InlinedVector<int32_t, 6>;

  // Dimension `index` of tensor `of`.
  struct Dim {
    Output of;
    int index;
  };

  // A number of elements: known / over times the product of the symbols. None of these symbols
  // stands for a product itself, so that equal volumes compare equal.
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
