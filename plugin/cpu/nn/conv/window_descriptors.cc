// Windows in oneDNN's terms: memory descriptors of images and filters, strides, dilations and
// paddings.
#include "plugin/cpu/nn/conv/window_descriptors.h"

namespace tenon::cpu {
namespace {

using Memory = dnnl::memory;

MemoryDesc ImagesDesc(const Windows& w, int64_t batch, int64_t channels, int64_t WindowAxis::*size,
                      Memory::data_type type) {
  Memory::dims dims = {batch, channels};
  for (const WindowAxis& axis : w.axes()) dims.push_back(axis.*size);
  return MemoryDesc(dims, type, ImageLayout(w));
}

}  // namespace

WindowGeometry::WindowGeometry(const Windows& w) {
  for (const WindowAxis& axis : w.axes()) {
    sizes.push_back(axis.size);
    strides.push_back(axis.stride);
    // oneDNN counts the places that a dilation leaves out.
    dilations.push_back(axis.dilation - 1);
    before.push_back(axis.before);
    after.push_back(axis.surplus());
  }
}

Memory::format_tag ChannelsFirstLayout(const Windows& w) {
  return w.volume ? Memory::format_tag::ncdhw : Memory::format_tag::nchw;
}

Memory::format_tag ImageLayout(const Windows& w) {
  if (w.channels_first) return ChannelsFirstLayout(w);
  return w.volume ? Memory::format_tag::ndhwc : Memory::format_tag::nhwc;
}

MemoryDesc InputDesc(const Windows& w, int64_t batch, Memory::data_type type) {
  return ImagesDesc(w, batch, w.in_channels, &WindowAxis::in, type);
}

MemoryDesc OutputDesc(const Windows& w, int64_t batch, Memory::data_type type) {
  return ImagesDesc(w, batch, w.out_channels, &WindowAxis::out, type);
}

Memory::dims FilterDims(const ConvProblem& q) {
  Memory::dims dims = {q.out_per_group(), q.in_per_group()};
  if (q.groups > 1) dims.insert(dims.begin(), q.groups);
  for (const WindowAxis& axis : q.axes()) dims.push_back(axis.size);
  return dims;
}

MemoryDesc PlainFilter(const ConvProblem& q, Memory::data_type type) {
  // TensorFlow's filter is [places..., in, out]: output channels lie next to each other, input
  // channels out_channels apart.
  Memory::dims strides = {1, q.out_channels};
  if (q.groups > 1) strides.insert(strides.begin(), q.out_per_group());
  int64_t step = q.window_places() * q.place_elements();
  for (const WindowAxis& axis : q.axes()) strides.push_back(step /= axis.size);
  return MemoryDesc(FilterDims(q), type, strides);
}

}  // namespace tenon::cpu
