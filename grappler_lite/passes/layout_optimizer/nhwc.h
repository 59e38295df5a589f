// Moves image ops from NCHW (channels second) to NHWC (channels last). The NHWC version of an NCHW
// tensor holds the same elements with channels last. All these tensors have rank 4.
#pragma once

#include <array>
#include <span>

#include "absl/status/statusor.h"
#include "grappler_lite/pipeline/rewriter.h"

namespace tenon {

// Permutations for Transpose. Dimension i of NHWC is dimension kToNhwc[i] of NCHW; dimension i of
// NCHW is dimension kToNchw[i] of NHWC.
inline constexpr std::array<int64_t, 4> kToNhwc = {0, 2, 3, 1}, kToNchw = {0, 3, 1, 2};

// Whether n has data_format "NCHW", and a device string that is empty or has "CPU" in it.
bool IsNchwOnCpu(const Graph& g, NodeId n);
// The NHWC tensor of which `o` is the Transpose to NCHW, where that Transpose is on n's device.
// Else an Output of kNoNode.
Output NhwcSource(const Sweep& s, Output o, NodeId n);
// The NHWC version of the NCHW tensor `o`, for n to read: the operand of o's Transpose, or a new
// Transpose of `o` on o's device. All users of `o` share one new Transpose. If another node has its
// name, each user gets a Transpose of its own instead. Returns the graph's error if a node cannot
// be added.
absl::StatusOr<Output> InNhwc(Sweep& s, Output o, NodeId n);
// n's attributes with data_format "NHWC". Lists with one number or one pair for each dimension
// (strides, ksize, dilations, explicit_paddings) are permuted.
NewAttrs NhwcAttrs(const Graph& g, NodeId n);

// Adds a node of n's op with `attrs` and `inputs`, on n's device, to which n's control inputs move.
// Then turns n into the Transpose of the new node's output 0 to NCHW. Other outputs of n must not
// be read. Attributes that begin with '_' stay away from the new node (but for _kernel), since they
// belong to n's name. Errors are those of Graph::AddNode and of making the permutation; n is then
// as it was, and the graph may have the constant of the permutation, which nobody reads.
absl::Status BecomeTransposeOf(Sweep& s, NodeId n, NewAttrs attrs, std::span<const Output> inputs);

}  // namespace tenon
