// Tensors of images with channels second, and their twins with channels last.
#pragma once

#include <array>
#include <span>

#include "absl/status/statusor.h"
#include "grappler_lite/pipeline/rewriter.h"

namespace tenon {

// Dimension i of NHWC is dimension kToNhwc[i] of NCHW, and the other way round.
inline constexpr std::array<int64_t, 4> kToNhwc = {0, 2, 3, 1}, kToNchw = {0, 3, 1, 2};

// Whether n runs on a CPU, and says of itself that its channels are second.
bool IsNchwOnCpu(const Graph& g, NodeId n);
// What `o` is a Transpose of to NCHW, on n's device; kNoNode if it is none.
Output NhwcSource(const Sweep& s, Output o, NodeId n);
// `o`, of NCHW, with channels last for n: what it is a Transpose of, or a new Transpose on its own
// device, one for all.
absl::StatusOr<Output> NhwcTwin(Sweep& s, Output o, NodeId n);
// n's attributes for channels last: data_format, and the lists of one number or pair for each
// dimension.
NewAttrs NhwcAttrs(const Graph& g, NodeId n);

// Makes a node of n's op with these attributes and inputs, on n's device and after n's control
// inputs, and n the Transpose of its output 0 to NCHW.
absl::Status BecomeTransposeOf(Sweep& s, NodeId n, NewAttrs attrs, std::span<const Output> inputs);

}  // namespace tenon
