// Sums over windows, seen from the targets. A target is a place of the image that the sums make. A
// source is a place of the image that they read. At each place of the window, a target takes the
// value of one source, or nothing if that source lies outside of its image.
//
// Of a convolution the targets are output places and the sources are input places. Of the input's
// gradient the targets are input places and the sources are output places. With strides, the
// targets of a gradient do not all use the same places of the window. A phase is a set of targets
// that use the same ones.
//
// window.h says what a place is. Numbers of places count row by row within one image, without batch
// and channels.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "plugin/cpu/base/window.h"

namespace tenon::cpu {

// One spatial dimension of a phase. The image with the targets has `targets` coordinates. Target t
// of [0, count) lies there at coordinate first + t * step. The image with the sources has `limit`
// coordinates. `places` are the coordinates of the window that the phase uses. For each k, target t
// takes at window coordinate places[k] the source at coordinate t * stride + shifts[k]. That source
// lies outside of its image if the coordinate is not in [0, limit).
struct AxisPhase {
  int64_t count, first, step, targets;
  int64_t stride, limit;
  std::vector<int64_t> places, shifts;
};

// Targets that use the same places of the window. Each of these places is a step; steps are in
// row-major order. Immutable once made; several threads share it.
class WindowPhase {
 public:
  // Returns the one phase of a convolution, with all output places and all window places.
  static WindowPhase OfOutputs(const Windows& w);
  // Returns the phases of the input's gradient, at most the product of the strides. Each input
  // place is a target of exactly one phase. Each phase has targets. A phase may have no steps: no
  // window covers its targets, so their gradient is 0.
  static std::vector<WindowPhase> OfInputs(const Windows& w);

  // The number of targets in one image.
  int64_t targets() const { return axes_[0].count * axes_[1].count * axes_[2].count; }
  int64_t steps() const { return static_cast<int64_t>(places_.size()); }
  // One entry per step. places() has the number of the step's place in the whole window. moves()
  // has what to add to Target::source to get the number of the step's source place.
  const std::vector<int64_t>& places() const { return places_; }
  const std::vector<int64_t>& moves() const { return moves_; }

  // One target. `at` counts targets of the phase along each dimension: planes, rows, columns.
  // `place` is the number of the target's place in its whole image. `source` is the number of the
  // source place that moves() count from; it need not lie inside its image. Without steps the flags
  // say nothing.
  struct Target {
    std::array<int64_t, 3> at;
    int64_t place, source;
    bool line_inside;  // planes and rows of all sources lie inside the image
    bool inside;       // their columns too: no source lies outside
  };
  // Returns target t of [0, targets()), in row-major order.
  Target TargetAt(int64_t t) const;
  // Makes `target` the next target of the phase in row-major order, and the last one the first.
  void Advance(Target& target) const;
  // Finds where the sources of a target lie, for the steps [begin, end), where 0 <= begin and end
  // <= steps(). The pointer for step s goes to in[(s - begin) * row]. The pointer is source +
  // moves[s] if the step's source lies inside the image, else `outside`. `source` is where the
  // floats of place Target::source would lie, even if that place is outside. No float is read.
  // `moves` has the entries of moves(), each times the number of floats of a place.
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
