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

  // The elements of the result whose window has an element of the operand at its place `w`. There
  // are `count` of them: first, first + step, ... They meet the operand's elements in_first,
  // in_first + in_step, ... All other elements of the result meet padding there.
  struct Met {
    int64_t first, step, count, in_first, in_step;
  };
  Met MeetsAt(int64_t w) const;
};

// Sets axis->out from the other members. Refuses the op for sizes that make no sense.
void SetOutput(const Op& op, WindowAxis* axis);

// What each window has at place `place` (by axis): an element of `from` or, in padding, the one
// element of `otherwise`. The result has the axes' `out` as dims.
Array ElementsAt(const Array& from, const Array& otherwise, const std::vector<WindowAxis>& axes,
                 const Dims& place);

}  // namespace pjref
