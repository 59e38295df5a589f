// oneDNN's descriptions of convolutions and poolings: geometry, layouts and memory descriptors. Use
// them inside Guarded() only.
#pragma once

#include "plugin/cpu/nn/conv/conv.h"
#include "plugin/cpu/onednn/onednn.h"

namespace tenon::cpu {

// The geometry of windows, one value per spatial dimension, the outermost first. Dilations are in
// oneDNN's form.
struct WindowGeometry {
  explicit WindowGeometry(const Windows& w);
  dnnl::memory::dims sizes, strides, dilations, before, after;
};

dnnl::memory::format_tag ChannelsFirstLayout(const Windows& w);
// Returns the layout of the images or volumes as the node stores them.
dnnl::memory::format_tag ImageLayout(const Windows& w);

// Returns the descriptor of `batch` whole inputs or outputs, as the node stores them.
MemoryDesc InputDesc(const Windows& w, int64_t batch, dnnl::memory::data_type type);
MemoryDesc OutputDesc(const Windows& w, int64_t batch, dnnl::memory::data_type type);

// Returns the filter's dimensions in oneDNN's order, and the descriptor of the filter in
// TensorFlow's layout.
dnnl::memory::dims FilterDims(const ConvProblem& q);
MemoryDesc PlainFilter(const ConvProblem& q, dnnl::memory::data_type type);

}  // namespace tenon::cpu
