// Windows that slide over images: sizes, strides, paddings, as the attributes of ops give them.
#pragma once

#include <string>

#include "call.h"

namespace opencl {

// One spatial dimension.
struct WindowSide {
  int64_t in = 0, window = 0, stride = 1, dilation = 1;
  int64_t out = 0, before = 0;  // padding before the first element
};

// Whether an op looks at its attribute `dilations`.
enum class Dilations { kUsed, kIgnored };

// The attributes strides, dilations, padding and explicit_paddings of an op on [n, height, width,
// channels].
class WindowAttrs {
 public:
  // Throws UNIMPLEMENTED for another order of dimensions. Throws it also for a number other than 1:
  // any over the batch, a dilation over channels, and a stride or window over channels, unless a
  // pool has the same window and stride there. Throws INVALID_ARGUMENT for strides or `ksize`, a
  // pool's window, of another length than 4, and for any other number below 1. `dilations` are cut,
  // or filled up with 1, to 4 numbers. `op` is for errors and must outlive the object.
  WindowAttrs(const Construction& node, const char* op, Dilations dilations = Dilations::kUsed);

  // Output size and padding of dimension 1 (height) or 2 (width). Throws INVALID_ARGUMENT if the
  // output size would be negative, and for padding EXPLICIT without 8 explicit_paddings. Any
  // padding but SAME and EXPLICIT counts as VALID. As in TensorFlow the size is 0 for a window that
  // exceeds the padded image by less than two strides.
  WindowSide Side(int dimension, int64_t in, int64_t window) const;
  int64_t depth() const { return ksize_.empty() ? 1 : ksize_[3]; }  // of a pool over channels; or 1
  bool equal_strides() const { return strides_[1] == strides_[2]; }
  // Only of an op with `ksize`.
  int64_t window(int dimension) const { return ksize_[static_cast<size_t>(dimension)]; }

 private:
  const char* op_;
  std::vector<int64_t> strides_, dilations_, explicit_, ksize_;
  std::string padding_;
};

}  // namespace opencl
