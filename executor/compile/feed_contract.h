// The dtype and the shape that a graph takes for each feed.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/compile/request.h"
#include "executor/lowering/call_sites.h"
#include "graph/tensor/shape.h"
#include "graph/tensor/tensor.h"

namespace tenon {

struct FeedContract {
  std::string name;  // as the caller wrote it
  DataType dtype;
  PartialShape shape;  // as the placeholder declares it; of unknown rank if it declares none
};

// One contract for each feed of the request, in its order. `calls`: for errors. INVALID_ARGUMENT
// names a placeholder with a malformed shape.
absl::StatusOr<std::vector<FeedContract>> DescribeFeeds(const Graph& graph, const CallSites& calls,
                                                        const Request& request);

// Checks `feeds`, one value for each contract, in order. INVALID_ARGUMENT for a wrong number of
// values, for a value that is uninitialized, and for another dtype or an incompatible shape. Names
// the first wrong feed, with what it has and what the graph takes.
absl::Status CheckFeeds(absl::Span<const FeedContract> contracts, absl::Span<const Tensor> feeds);

}  // namespace tenon
