// What the graph takes for a feed.
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
  PartialShape shape;  // as the placeholder declares it
};

// By feed. INVALID_ARGUMENT names a placeholder that declares no valid shape.
absl::StatusOr<std::vector<FeedContract>> DescribeFeeds(const Graph& graph, const CallSites& calls,
                                                        const Request& request);

// INVALID_ARGUMENT names the feed whose value does not fit, and says what the graph takes.
absl::Status CheckFeeds(absl::Span<const FeedContract> contracts, absl::Span<const Tensor> feeds);

}  // namespace tenon
