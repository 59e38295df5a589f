#include "window.h"

#include <algorithm>

namespace opencl {

WindowAttrs::WindowAttrs(const Construction& node, const char* op, Dilations dilations)
    : op_(op), strides_(node.Ints("strides")), padding_(node.String("padding")) {
  if (dilations == Dilations::kUsed && node.Has("dilations")) dilations_ = node.Ints("dilations");
  if (node.Has("explicit_paddings")) explicit_ = node.Ints("explicit_paddings");
  const bool has_ksize = node.Has("ksize");
  if (has_ksize) ksize_ = node.Ints("ksize");
  dilations_.resize(4, 1);
  const std::string format = node.Has("data_format") ? node.String("data_format") : "NHWC";
  if (format != "NHWC")
    NotImplemented(std::string(op) + " with data_format " + format + " on OPENCL");
  for (const std::vector<int64_t>* list : {&strides_, &dilations_, &ksize_}) {
    if (list == &ksize_ && !has_ksize) continue;
    if (list->size() != 4) Refuse(std::string(op) + ": strides and windows must have 4 numbers");
    const bool over_depth =
        (*list)[3] != 1 && (list == &dilations_ || ksize_.size() != 4 || ksize_[3] != strides_[3]);
    if ((*list)[0] != 1 || over_depth)
      NotImplemented(std::string(op) + " with steps over batch or depth on OPENCL");
    if (*std::min_element(list->begin(), list->end()) < 1)
      Refuse(std::string(op) + ": strides, dilations and windows must be positive");
  }
}

WindowSide WindowAttrs::Side(int dimension, int64_t in, int64_t window) const {
  const auto d = static_cast<size_t>(dimension);
  WindowSide side{in, window, strides_[d], dilations_[d]};
  const int64_t reach = (window - 1) * side.dilation + 1;
  int64_t padding = 0;
  if (padding_ == "SAME") {
    side.out = (in + side.stride - 1) / side.stride;
    padding = std::max<int64_t>(0, (side.out - 1) * side.stride + reach - in);
    side.before = padding / 2;
  } else {
    if (padding_ == "EXPLICIT") {
      if (explicit_.size() != 8)
        Refuse(std::string(op_) + ": explicit_paddings must have 8 numbers");
      side.before = explicit_[2 * d];
      padding = explicit_[2 * d] + explicit_[2 * d + 1];
    }
    side.out = (in + padding - reach + side.stride) / side.stride;
  }
  // As in TensorFlow the quotient is truncated: a window that exceeds the image by less than two
  // strides has no output instead of an error.
  if (side.out < 0) {
    Refuse(std::string(op_) + ": Computed output size would be negative: " +
           std::to_string(side.out) + " [input_size: " + std::to_string(in) +
           ", effective_filter_size: " + std::to_string(reach) +
           ", stride: " + std::to_string(side.stride) + "]");
  }
  return side;
}

}  // namespace opencl
