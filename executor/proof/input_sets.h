// Values to run a graph on when nobody gives any: ordinary ones and corners.
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
  std::string name;      // "ordinary", "NaN", "size 0", …
  bool ordinary = true;  // finite values of everyday size: what toleranced rewrites promise to keep
  std::vector<Session::NamedTensor> feeds;
  // Of a run on them: a count that is made up may be any.
  int64_t max_loop_passes = std::numeric_limits<int64_t>::max();
};
// Of what is made up.
inline constexpr int64_t kMostLoopPasses = 10'000;

// For these Placeholders: ordinary values; zeros of both signs with denormals; infinities; NaN;
// values near the ends of the range; and, where the graph leaves sizes open, ordinary values in
// tensors of size 1 and of size 0. The same on every machine. UNIMPLEMENTED names a node whose type
// has no values to make up, or that is no Placeholder.
// `usual_size` is that of dimensions that the graph leaves open.
absl::StatusOr<std::vector<InputSet>> MakeInputSets(const Graph& graph,
                                                    const std::vector<std::string>& nodes,
                                                    int64_t usual_size = 3);
// One tensor of ordinary values.
absl::StatusOr<Tensor> OrdinaryTensor(DataType type, const Shape& shape, uint64_t seed);
bool CanMakeUp(DataType type);
// For graphs that answer nothing at the first of these: images have to survive some pooling.
inline constexpr int64_t kUsualSizes[] = {3, 32};

}  // namespace tenon
