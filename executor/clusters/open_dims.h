// Which dimensions of a cluster's arguments are open: other runs may have them in another size.
#pragma once

#include <compare>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "executor/clusters/buckets.h"
#include "executor/stablehlo/lower.h"
#include "graph/tensor/shape.h"

namespace tenon {

struct InputDim {
  size_t input = 0;  // of the cluster's node
  int axis = 0;
  friend auto operator<=>(const InputDim&, const InputDim&) = default;
};

// A dimension is open if the graph leaves it open, or if it has changed between two looks. What an
// argument is of which the graph does not even know the rank shows in runs alone. Not thread-safe.
class OpenDims {
 public:
  // `known`: what the graph knows of the arguments, which follow `num_constants` other inputs.
  OpenDims(size_t num_constants, std::vector<PartialShape> known)
      : num_constants_(num_constants), known_(std::move(known)) {}

  // `inputs`: those of one run, always as many.
  void Note(absl::Span<const stablehlo::Argument> inputs);
  // The open dimensions of these inputs, which were noted, that a bucket makes larger. Dimensions
  // of one size stand together, as they may have to be the same. Empty if any argument has no
  // elements.
  std::vector<std::vector<InputDim>> Groups(absl::Span<const stablehlo::Argument> inputs,
                                            const Buckets& buckets) const;

 private:
  const size_t num_constants_;
  const std::vector<PartialShape> known_;
  std::vector<Shape> last_;              // by argument
  std::vector<std::vector<bool>> open_;  // by argument and axis
};

}  // namespace tenon
