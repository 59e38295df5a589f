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
  DataType dtype;    // of the fed output; for a reference, of the value that it refers to
  // As the Placeholder, PlaceholderV2 or PlaceholderWithDefault declares it. Of unknown rank if it
  // declares none, where StandsForAnyShape (graph/shapes/old_producers.h), and for any other node.
  PartialShape shape;
};

// One contract for each feed of the request, in the request's order. `calls`: the calls that nodes
// of `graph` come from, for error messages. Errors are those of AttrValue::AsShape and name the
// placeholder.
absl::StatusOr<std::vector<FeedContract>> DescribeFeeds(const Graph& graph, const CallSites& calls,
                                                        const Request& request);

// Checks `feeds`, one value for each contract, in the order of the contracts. INVALID_ARGUMENT for
// a wrong number of values; and for a value that is uninitialized, of another dtype or of an
// incompatible shape: then the message names the first such feed and, for a dtype or a shape, the
// one that the graph takes.
absl::Status CheckFeeds(absl::Span<const FeedContract> contracts, absl::Span<const Tensor> feeds);

}  // namespace tenon
