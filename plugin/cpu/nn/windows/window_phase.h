// Sums over windows, seen from the values that are summed up: which source each takes at which
// place of the window. Of a convolution the sources are inputs; of its input's gradient they are
// outputs, and with strides not all targets take the same places of the window.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "plugin/cpu/base/window.h"

namespace tenon::cpu {

// Along one spatial dimension: target t, at first + t * step, takes at window place places[k] the
// source at t * stride + shifts[k], which counts only in [0, limit).
struct AxisPhase {
  int64_t count, first, step, targets;
  int64_t stride, limit;
  std::vector<int64_t> places, shifts;
};

// Targets that take the same places of the window.
class WindowPhase {
 public:
  // All targets of a convolution.
  static WindowPhase OfOutputs(const Windows& w);
  // Those of its input's gradient; together they are all of them.
  static std::vector<WindowPhase> OfInputs(const Windows& w);

  int64_t targets() const { return axes_[0].count * axes_[1].count * axes_[2].count; }
  // The place in the whole output of target t.
  int64_t TargetAt(int64_t t) const;
  int64_t steps() const { return static_cast<int64_t>(places_.size()); }
  const int64_t* places() const { return places_.data(); }

  // For steps [begin, end): in[(s - begin) * row] becomes where target t's values begin in an image
  // of `channels` at each place, or `outside`.
  void Locate(int64_t t, const float* image, int64_t channels, const float* outside, int64_t begin,
              int64_t end, const float** in, int64_t row) const;

 private:
  WindowPhase(const Windows& w, std::array<AxisPhase, 3> axes);
  std::array<int64_t, 3> Coordinates(int64_t t) const;

  std::array<AxisPhase, 3> axes_;                  // planes, rows, columns
  std::vector<int64_t> places_, moves_;            // of each step: window place, way to the source
  std::vector<std::array<int64_t, 3>> shifts_;     // of each step
  std::array<int64_t, 3> least_ = {}, most_ = {};  // of the shifts of each dimension
};

}  // namespace tenon::cpu
