// oneDNN's descriptions of convolutions and poolings: geometry, layouts and memory descriptors. Use
// them inside Guarded() only.
#pragma once

#include "plugin/cpu/nn/conv/conv.h"
#include "plugin/cpu/onednn/onednn.h"

namespace tenon::cpu {

// The geometry of windows, one value per spatial dimension, the outermost first. Dilations are in
// oneDNN's form: 0 for neighbouring elements. `before` is the padding of the node; one value or
// more of `before` is negative if w.starts_inside(). `after` is what the last window needs
// (WindowAxis::surplus), at least 0; `after` may differ from the padding of the node.
struct WindowGeometry {
  explicit WindowGeometry(const Windows& w);
  dnnl::memory::dims sizes, strides, dilations, before, after;
};

// Returns the layout with channels first, nchw or ncdhw, whatever the node's data format.
dnnl::memory::format_tag ChannelsFirstLayout(const Windows& w);
// Returns the layout of the images or volumes as the node stores them.
dnnl::memory::format_tag ImageLayout(const Windows& w);

// Returns the descriptor of `batch` whole input or output images or volumes, as the node stores
// them.
MemoryDesc InputDesc(const Windows& w, int64_t batch, dnnl::memory::data_type type);
MemoryDesc OutputDesc(const Windows& w, int64_t batch, dnnl::memory::data_type type);

// Returns the filter's dimensions in oneDNN's order: the groups if there are several, output
// channels and input channels of one group, spatial dimensions.
dnnl::memory::dims FilterDims(const ConvProblem& q);
// Returns the descriptor of a filter of these dimensions in TensorFlow's layout.
MemoryDesc PlainFilter(const ConvProblem& q, dnnl::memory::data_type type);

}  // namespace tenon::cpu
