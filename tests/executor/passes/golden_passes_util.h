// The golden graphs of the passes, and feeds for them.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "graph/ir/graph.h"
#include "graph/tensor/tensor.h"
#include "grappler_lite/pipeline/pass.h"

namespace tenon {

// tests/golden/passes/<pass>/<case>.in.pbtxt, whose first lines say what is fetched and fed.
struct GoldenPass {
  // A file that cannot be read gives an empty text, without fetches and feeds.
  explicit GoldenPass(const std::string& path);

  // "<pass>_<case>", for the name of a test.
  std::string Name() const;
  // Values for what is fed, of which `make` gives number i. `graph` must have all feeds, as nodes
  // with a `shape`.
  using MakeFn = absl::FunctionRef<Tensor(DataType dtype, const PartialShape& shape, int i)>;
  std::vector<std::pair<std::string, Tensor>> Feeds(const Graph& graph, MakeFn make) const;

  std::filesystem::path path;
  std::string text, pass;
  std::vector<std::string> fetches, feeds;
  bool fast_math;
  Target target;
};
// The paths of all, in order.
std::vector<std::string> GoldenPasses();

// Small numbers of either sign. Unknown dimensions become 3, an unknown rank a scalar. Types:
// float, half, bfloat16, int32, uint8, bool, complex64; for any other the test fails.
Tensor OrdinaryFeed(DataType dtype, const PartialShape& shape);
// NaN, infinities, zeros of both signs, the largest and the smallest numbers, in turns and
// beginning with number `first`; of integers the largest, the smallest and small ones. OrdinaryFeed
// for bool and complex64.
Tensor CornerFeed(DataType dtype, const PartialShape& shape, int first);

}  // namespace tenon
