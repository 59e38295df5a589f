// How oneDNN is told about convolutions and poolings; inside Guarded() only.
#pragma once

#include "plugin/cpu/nn/conv/conv.h"
#include "plugin/cpu/onednn/onednn.h"

namespace tenon::cpu {

// One value per spatial dimension.
struct WindowGeometry {
  explicit WindowGeometry(const Windows& w);
  dnnl::memory::dims sizes, strides, dilations, before, after;
};

dnnl::memory::format_tag ChannelsFirstLayout(const Windows& w);
// Of the images or volumes.
dnnl::memory::format_tag ImageLayout(const Windows& w);

// `batch` whole inputs or outputs.
MemoryDesc InputDesc(const Windows& w, int64_t batch, dnnl::memory::data_type type);
MemoryDesc OutputDesc(const Windows& w, int64_t batch, dnnl::memory::data_type type);

// The filter's dimensions in oneDNN's order, and the filter as TensorFlow stores it.
dnnl::memory::dims FilterDims(const ConvProblem& q);
MemoryDesc PlainFilter(const ConvProblem& q, dnnl::memory::data_type type);

}  // namespace tenon::cpu
