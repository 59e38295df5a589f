// Windows that slide over the axes of an array, with padding, strides and dilation.
#pragma once

#include "../base/array.h"
#include "../text/module.h"

namespace pjref {

struct WindowAxis {
  int64_t in = 1;      // length of the operand's axis
  int64_t window = 1;  // places of the window
  int64_t stride = 1;
  int64_t base_dilation = 1;  // steps between the operand's elements
  int64_t window_dilation = 1;
  int64_t low = 0, high = 0;  // padding; negative cuts off
  int64_t out = 1;            // length of the result's axis

  // Result's elements first, first + step, ..., whose window has an element of the operand at its
  // place `w`: element in_first, in_first + in_step, ...; the others meet padding there.
  struct Met {
    int64_t first, step, count, in_first, in_step;
  };
  Met MeetsAt(int64_t w) const;
};

// Fills in `out`; refuses sizes that make no sense.
void SetOutput(const Op& op, WindowAxis* axis);

// For one place of the window on each axis: `from`'s elements, or `otherwise`, as an array of the
// axes' `out` dims.
Array ElementsAt(const Array& from, const Array& otherwise, const std::vector<WindowAxis>& axes,
                 const Dims& place);

}  // namespace pjref
