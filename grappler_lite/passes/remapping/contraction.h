// Contractions (products and convolutions), and the fusion of the op behind a contraction into the
// contraction. The parts of the pass `remapping` share this code.
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

// A row of the table of contraction ops: the op, its fused form, and the attributes that the fused
// op takes over.
struct Contraction {
  std::string_view op;
  std::string_view fused;
  std::vector<std::string_view> attrs;
};

// The row for `op`, which may be a plain or a fused contraction; null for other ops.
const Contraction* FindContraction(std::string_view op);

// The attribute fused_ops of a contraction; empty if the node has no such attribute.
std::vector<std::string_view> FusedOps(const Graph& g, NodeId n);
// IsNhwc: whether the channels of n's images are last, and not second; true for a node without
// data_format. SameFormat: whether IsNhwc agrees for both nodes.
bool IsNhwc(const Graph& g, NodeId n);
bool SameFormat(const Graph& g, NodeId a, NodeId b);
// The number of channels of a contraction's output; -1: unknown.
int64_t ChannelsOf(const Sweep& s, NodeId contraction);
// Adds a Const with like's device and position, and with a name that begins with like's name, '/'
// and the suffix. Errors are those of ConstAttrs and Graph::AddNode.
absl::StatusOr<NodeId> NewConst(Graph& g, NodeId like, std::string_view suffix,
                                const Tensor& value);
// `constant`, which has the value `value`, if its rank is 1; else a new Const of the same elements
// with one dimension. Errors as of NewConst.
absl::StatusOr<Output> FlatConst(Graph& g, Output constant, const Tensor& value);
// n's attributes with these names, or the OpDef's defaults; a name with neither is left out. The
// result views `names`.
NewAttrs AttrsOf(const Graph& g, NodeId n, absl::Span<const std::string_view> names);
// The control inputs of a and of b, without duplicates.
std::vector<Output> MergedControls(const Graph& g, NodeId a, NodeId b);
// Whether a consumer on n's device that uses `producer` `times` times may take over the work of the
// producer's node: `producer` is an output 0 with no other uses, its node is on n's device and not
// preserved, and no control edge leaves the node.
bool OnlyFor(const Sweep& s, Output producer, NodeId n, int times = 1);
// Whether no output of n but output 0 is used or fetched.
bool OnlyFirstOutputUsed(const Sweep& s, NodeId n);
// Whether `vector`, broadcast to images, gives one value to each of `channels` channels. Shapes:
// [C] or [1, …, 1, C] where channels are last, else [C, 1, 1] or [1, …, 1, C, 1, 1].
bool IsChannelVector(const PartialShape& vector, int64_t channels, bool channels_last);

// A contraction into which a node may be fused. `reshape` is the Reshape or Squeeze between the
// contraction and the node, which keeps the channels; kNoNode: there is none.
struct Fusable {
  NodeId contraction = kNoNode;
  NodeId reshape = kNoNode;
};

// The contraction that computes `producer`, perhaps through a Reshape or Squeeze, if it may be
// fused:
//   * OnlyFor holds for `producer`, n and `times`: the uses by n and by the nodes that n replaces;
//     a Reshape is the only user of the contraction;
//   * the ops that the contraction has fused so far are one of `sequences` ("BiasAdd+Add"; "": no
//     op);
//   * channels are last, unless TensorFlow is to run the graph, there is no Reshape, and the
//     contraction is no Conv3D;
//   * neither node is fed, and a Reshape leaves the last dimension, which is known, as it is.
// Else nullopt.
std::optional<Fusable> FusableOutput(const Sweep& s, Output producer, NodeId n,
                                     std::initializer_list<std::string_view> sequences,
                                     int times = 1);
// The contraction that computes input i of n, with no Reshape between, under the same conditions.
// kNoNode: there is none.
NodeId ContractionInput(const Sweep& s, NodeId n, int i,
                        std::initializer_list<std::string_view> sequences);

// One more op fused into a contraction.
struct Fusion {
  Fusable into;
  std::string_view op;                       // the next entry of fused_ops
  absl::InlinedVector<Output, 4> args = {};  // the further inputs of `op`
  bool replaces_bias = false;         // the fused ops so far go: `args` make up for their bias
  std::optional<NodeId> filter = {};  // a filter in place of the contraction's own
  std::optional<float> leakyrelu_alpha = {};
  std::optional<float> epsilon = {};
};

// Makes a contraction of op `op` compute what n computed. Without a Reshape n becomes the
// contraction. With a Reshape into.contraction becomes the contraction, and n the Reshape. Old
// nodes that nothing reads any more stay in the graph.
void TakeOver(Graph& g, NodeId n, const Fusable& into, std::string_view op,
              std::span<const Output> inputs, NewAttrs attrs);
// Whether n's device and the target have a kernel for the fusion. All of `args` must have the
// contraction's type; but where Tenon is to run a FusedBatchNorm of Conv2D on the CPU they must be
// float. False where an operand of the contraction is known to be empty.
bool CanFuse(const Sweep& s, NodeId n, const Fusion& fusion);
// Carries the fusion out through TakeOver. Calls Allow itself. False, with nothing changed, where
// CanFuse is false or the rewrite is not allowed.
bool Fuse(Sweep& s, NodeId n, const Fusion& fusion);

// Where 1x1 convolutions of one common stride are the only users of a convolution's output, the
// convolution takes over the stride (strides.cc). Not for TensorFlow. Returns whether the graph
// changed.
inline constexpr RewriteInfo kLiftStrides = {"lift_strides", Exactness::kToleranced};
absl::StatusOr<bool> LiftStrides(PassContext& context);

// Makes products of one tensor with several outputs of nodes without inputs (constants), such as an
// attention's query, key and value, one node with an output for each product (projections.cc). Not
// for TensorFlow. Returns whether the graph changed.
inline constexpr RewriteInfo kMergeProjections = {"merge_projections", Exactness::kExact};
absl::StatusOr<bool> MergeProjections(PassContext& context);

}  // namespace tenon
