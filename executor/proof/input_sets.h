// Makes up values to run a graph on: ordinary ones and corner cases. They are the same on every
// machine.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/session/session.h"
#include "graph/ir/graph.h"

namespace tenon {

struct InputSet {
  std::string name;  // "ordinary", "NaN", "size 0", …
  // All values are finite and, if they are made up, of everyday size: of the made-up sets these are
  // "ordinary", "size 1" and "size 0". Toleranced rewrites promise to keep the answers to such
  // inputs only.
  bool ordinary = true;
  std::vector<Session::NamedTensor> feeds;
  // The limit of a run on these inputs. A made-up number of passes may be huge.
  int64_t max_loop_passes = std::numeric_limits<int64_t>::max();
};
// InputSet::max_loop_passes of made-up inputs.
inline constexpr int64_t kMostLoopPasses = 10'000;

// Makes up feeds for the Placeholders `nodes`, in these sets and this order:
//   ordinary    reals from -3 to 3, integers 0 to 2, any bools, short strings
//   zeros       of both signs, and denormals (none of bfloat16, float8 and float4); bools and
//               strings as in "ordinary"
//   infinities, NaN, extremes   some among ordinary values, of types that have them (float8 and
//               float4 types that lack them get what SmallFloat::Encode makes of them); extremes
//               are the ends of the range (of float and complex64 those of bfloat16, of float8 and
//               float4 1 and -1), and of signed integers -1
//   size 1, size 0   ordinary values; these two only if a shape of `nodes` leaves a size open
// Dimensions that the graph leaves open have `usual_size`, or 1 or 0 in the last two sets; a shape
// of unknown rank gets rank 1. StandsForAnyShape (graph/shapes/old_producers.h) says where a
// scalar shape counts as unknown. Without nodes there is one set, "ordinary", without feeds.
// UNIMPLEMENTED for a name of no node, for a node that is no Placeholder, or whose type CanMakeUp
// refuses; names the node. RESOURCE_EXHAUSTED without memory.
absl::StatusOr<std::vector<InputSet>> MakeInputSets(const Graph& graph,
                                                    const std::vector<std::string>& nodes,
                                                    int64_t usual_size = 3);
// Makes one tensor of ordinary values. CanMakeUp(type) must be true. RESOURCE_EXHAUSTED without
// memory.
absl::StatusOr<Tensor> OrdinaryTensor(DataType type, const Shape& shape, uint64_t seed);
// Whether the type has values to make up: numbers, bool and string.
bool CanMakeUp(DataType type);
// Values of `usual_size` to try, in this order, until the graph has an answer: images must be large
// enough for some poolings.
inline constexpr int64_t kUsualSizes[] = {3, 32};

}  // namespace tenon
