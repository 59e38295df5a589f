// What the parts of the pass `remapping` share: products and convolutions, and how an op that
// follows one is fused into it.
#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "grappler_lite/pipeline/pass.h"
#include "grappler_lite/pipeline/rewriter.h"

namespace tenon {

// A contraction op, what it is called when fused, and which attributes the fused op takes over.
struct Contraction {
  std::string_view op;
  std::string_view fused;
  std::vector<std::string_view> attrs;
};

// The contraction that `op` is, fused or not; null for other ops.
const Contraction* FindContraction(std::string_view op);

// The fused_ops of a contraction; none if it has no such attribute.
std::vector<std::string_view> FusedOps(const Graph& g, NodeId n);
// Whether the channels of what a node takes and gives are last, and not second. Of two nodes: both
// or neither.
bool IsNhwc(const Graph& g, NodeId n);
bool SameFormat(const Graph& g, NodeId a, NodeId b);
// The number of channels of what a contraction gives; -1: unknown.
int64_t ChannelsOf(const Sweep& s, NodeId contraction);
// A new constant next to `like`: its device and position, its name with a suffix.
absl::StatusOr<NodeId> NewConst(Graph& g, NodeId like, std::string_view suffix,
                                const Tensor& value);
// `constant`, whose value is `value`, or a copy of it under the shape [C].
absl::StatusOr<Output> FlatConst(Graph& g, Output constant, const Tensor& value);
// Those of n's attributes that have these names, which outlive them.
NewAttrs AttrsOf(const Graph& g, NodeId n, absl::Span<const std::string_view> names);
// The control inputs of both.
std::vector<Output> MergedControls(const Graph& g, NodeId a, NodeId b);
// Whether `producer` may be merged into a consumer on n's device that uses it `times` times:
// nothing else sees it.
bool OnlyFor(const Sweep& s, Output producer, NodeId n, int times = 1);
// Whether only output 0 of n is used or fetched.
bool OnlyFirstOutputUsed(const Sweep& s, NodeId n);
// Whether `vector`, broadcast to images, is one value for each of these channels: [C] or
// [1, …, 1, C] where they are last, else [C, 1, 1] or [1, C, 1, 1].
bool IsChannelVector(const PartialShape& vector, int64_t channels, bool channels_last);

// A contraction whose output 0 a node may take over, and the Reshape or Squeeze between them, if
// there is one, which leaves the channels alone.
struct Fusable {
  NodeId contraction = kNoNode;
  NodeId reshape = kNoNode;
};

// What `producer`, used `times` times by n and what goes with it, is the result of, if that
// contraction has fused one of `sequences` ("BiasAdd+Add"; "": none) so far.
std::optional<Fusable> FusableOutput(const Sweep& s, Output producer, NodeId n,
                                     std::initializer_list<std::string_view> sequences,
                                     int times = 1);
// The same of input i of n, with nothing between.
NodeId ContractionInput(const Sweep& s, NodeId n, int i,
                        std::initializer_list<std::string_view> sequences);

// One more op fused into a contraction.
struct Fusion {
  Fusable into;
  std::string_view op;                       // the next entry of fused_ops
  absl::InlinedVector<Output, 4> args = {};  // its further inputs
  bool replaces_bias = false;                // `args` hold what was fused before, a bias
  std::optional<NodeId> filter = {};         // a filter in place of the contraction's own
  std::optional<float> leakyrelu_alpha = {};
  std::optional<float> epsilon = {};
};

// What n did is done by a contraction of this op now: n becomes it, or, behind a Reshape, `into`
// does and n becomes the Reshape.
void TakeOver(Graph& g, NodeId n, const Fusable& into, std::string_view op,
              std::span<const Output> inputs, NewAttrs attrs);
// Whether there is a kernel for the fusion, on the device and wherever else the result is to run.
bool CanFuse(const Sweep& s, NodeId n, const Fusion& fusion);
// As TakeOver, with the fusion. False where there is no kernel for it, or the rewrite is switched
// off.
bool Fuse(Sweep& s, NodeId n, const Fusion& fusion);

// Where only 1x1 convolutions with one stride use what a convolution computes, that one takes the
// stride over (strides.cc). Whether the graph changed.
inline constexpr RewriteInfo kLiftStrides = {"lift_strides", Exactness::kToleranced};
absl::StatusOr<bool> LiftStrides(PassContext& context);

// Products of one tensor with several constants, such as an attention's query, key and value,
// become one node with an output for each (projections.cc). Whether the graph changed.
inline constexpr RewriteInfo kMergeProjections = {"merge_projections", Exactness::kExact};
absl::StatusOr<bool> MergeProjections(PassContext& context);

}  // namespace tenon
