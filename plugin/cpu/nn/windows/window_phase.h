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
  int64_t steps() const { return static_cast<int64_t>(places_.size()); }
  // Of each step, the place of the window, and how many places its source is from a target's first.
  const std::vector<int64_t>& places() const { return places_; }
  const std::vector<int64_t>& moves() const { return moves_; }

  // A target, and the source of a step without a move, which need not be there.
  struct Target {
    std::array<int64_t, 3> at;
    int64_t place, source;
    bool line_inside;  // whether the sources of all steps are there but for their columns
    bool inside;       // and those too
  };
  Target TargetAt(int64_t t) const;
  // The target after that; after the last the first.
  void Advance(Target& target) const;
  // For steps [begin, end): in[(s - begin) * row] = source + moves[s] where that source is there,
  // else `outside`. `moves` are those of all steps, in floats.
  void Locate(const Target& target, const float* source, const int64_t* moves, const float* outside,
              int64_t begin, int64_t end, const float** in, int64_t row) const;

 private:
  WindowPhase(const Windows& w, std::array<AxisPhase, 3> axes);
  void Place(Target& target) const;
  bool IsInside(const Target& target, int d) const {
    const int64_t from = target.at[d] * axes_[d].stride;
    return from + least_[d] >= 0 && from + most_[d] < axes_[d].limit;
  }

  std::array<AxisPhase, 3> axes_;                  // planes, rows, columns
  std::vector<int64_t> places_, moves_;            // of each step: window place, way to the source
  std::array<int64_t, 3> least_ = {}, most_ = {};  // of the shifts of each dimension
};

}  // namespace tenon::cpu
