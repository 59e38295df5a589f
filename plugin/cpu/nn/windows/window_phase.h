// Sums over windows, seen from the targets: the places of the images that the sums make. A target
// takes, at each place of the window, the value of one source, or nothing if that source lies
// outside of the images.
//
// Of a convolution the targets are outputs and the sources inputs. Of the input's gradient the
// targets are inputs and the sources outputs; with strides not all targets take the same places of
// the window. A phase is a set of targets that do.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "plugin/cpu/base/window.h"

namespace tenon::cpu {

// One spatial dimension of a phase. Target t of [0, count) lies at place first + t * step of
// `targets` places. At window place places[k] the target takes the source at t * stride +
// shifts[k], which is there only in [0, limit).
struct AxisPhase {
  int64_t count, first, step, targets;
  int64_t stride, limit;
  std::vector<int64_t> places, shifts;
};

// Targets that take the same places of the window. Steps are these places, row by row. Immutable
// once made; several threads share it.
class WindowPhase {
 public:
  // Returns the one phase of a convolution.
  static WindowPhase OfOutputs(const Windows& w);
  // Returns the phases of the input's gradient: at most one per combination of the strides. Each
  // input is a target of one phase. A phase may have no steps: no output sees its targets.
  static std::vector<WindowPhase> OfInputs(const Windows& w);

  int64_t targets() const { return axes_[0].count * axes_[1].count * axes_[2].count; }
  int64_t steps() const { return static_cast<int64_t>(places_.size()); }
  // One entry per step: the number of the window place, and the distance in places from
  // Target::source to the source of the step.
  const std::vector<int64_t>& places() const { return places_; }
  const std::vector<int64_t>& moves() const { return moves_; }

  // One target. `place` is its place in the image. `source` is the place that moves() count from;
  // it need not lie inside the image.
  struct Target {
    std::array<int64_t, 3> at;
    int64_t place, source;
    bool line_inside;  // planes and rows of all sources lie inside
    bool inside;       // columns too: all sources are there
  };
  Target TargetAt(int64_t t) const;
  // Moves to the next target in row-major order; from the last target to the first.
  void Advance(Target& target) const;
  // For each step s of [begin, end): in[(s - begin) * row] becomes source + moves[s] if the source
  // of the step is there, else `outside`. `source` points to the values at Target::source. `moves`
  // are moves() in floats.
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
