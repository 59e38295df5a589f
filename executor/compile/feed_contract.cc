// Only placeholders declare a shape. A fed output of any other node takes all shapes.

#include "executor/compile/feed_contract.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/base/node_note.h"
#include "graph/base/status_macros.h"
#include "graph/ir/nodes.h"
#include "graph/shapes/old_producers.h"

namespace tenon {
namespace {

absl::StatusOr<PartialShape> DeclaredShape(const Graph& graph, NodeId n) {
  const bool declares = IsPlaceholder(graph, n) || graph.op_name(n) == "PlaceholderWithDefault";
  const AttrValue* attr = declares ? graph.attr(n, "shape") : nullptr;
  if (attr == nullptr) return PartialShape();
  TENON_ASSIGN_OR_RETURN(PartialShape shape, attr->AsShape());
  return StandsForAnyShape(graph, n, shape) ? PartialShape() : std::move(shape);
}

absl::Status CheckFeed(size_t i, const FeedContract& contract, const Tensor& value) {
  if (!value.initialized())
    return absl::InvalidArgumentError(absl::StrCat("feed '", contract.name, "' has no value"));
  if (value.dtype() != contract.dtype) {
    return NoteAnswer(absl::InvalidArgumentError(absl::StrCat(
                          "feed '", contract.name, "' is ", DataTypeName(value.dtype()),
                          ", but the graph takes ", DataTypeName(contract.dtype))),
                      absl::StatusCode::kInvalidArgument,
                      absl::StrCat("Expects arg[", i, "] to be ", DataTypeSpecName(contract.dtype),
                                   " but ", DataTypeSpecName(value.dtype()), " is provided"));
  }
  if (!contract.shape.CompatibleWith(value.shape())) {
    return absl::InvalidArgumentError(
        absl::StrCat("feed '", contract.name, "' has shape ", value.shape().ToString(),
                     ", but the graph takes ", contract.shape.ToString()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<FeedContract>> DescribeFeeds(const Graph& graph, const CallSites& calls,
                                                        const Request& request) {
  std::vector<FeedContract> contracts;
  for (size_t i = 0; i < request.feeds.size(); ++i) {
    const Output feed = request.feeds[i];
    absl::StatusOr<PartialShape> shape = DeclaredShape(graph, feed.node);
    if (!shape.ok()) return NodeError(graph, calls, feed.node, shape.status());
    contracts.push_back(
        {request.feed_names[i], BaseType(graph.output_type(feed)), *std::move(shape)});
  }
  return contracts;
}

absl::Status CheckFeeds(absl::Span<const FeedContract> contracts, absl::Span<const Tensor> feeds) {
  if (feeds.size() != contracts.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("there are ", feeds.size(), " values for ", contracts.size(), " feeds"));
  }
  for (size_t i = 0; i < feeds.size(); ++i)
    TENON_RETURN_IF_ERROR(CheckFeed(i, contracts[i], feeds[i]));
  return absl::OkStatus();
}

}  // namespace tenon
