// What the parts of the pass `remapping` share.
#pragma once

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "grappler_lite/pass.h"

namespace tenon {

// The fused_ops of a contraction; none if it has no such attribute.
std::vector<std::string_view> FusedOps(const Graph& g, NodeId n);
// Whether a convolution's channels are last.
bool IsNhwc(const Graph& g, NodeId n);
// A new constant next to `like`: its device and position, its name with a suffix.
absl::StatusOr<NodeId> NewConst(Graph& g, NodeId like, std::string_view suffix,
                                const Tensor& value);

// Where only 1x1 convolutions with one stride use what a convolution computes, that one takes the
// stride over (remapping_strides.cc). Whether the graph changed.
inline constexpr RewriteInfo kLiftStrides = {"lift_strides", Exactness::kToleranced};
absl::StatusOr<bool> LiftStrides(PassContext& context);

}  // namespace tenon
