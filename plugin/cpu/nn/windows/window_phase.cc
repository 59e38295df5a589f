// Which sources each target of a convolution, or of its input's gradient, sums over. A phase holds
// targets that all use the same places of the window, at the same distances.
#include "plugin/cpu/nn/windows/window_phase.h"

#include <algorithm>
#include <utility>

namespace tenon::cpu {
namespace {

// Forward, all outputs are one phase: output o reads input o * stride + shift.
AxisPhase OutputsOf(const WindowAxis& a) {
  AxisPhase phase = {a.out, 0, 1, a.out, a.stride, a.in, {}, {}};
  for (int64_t i = 0; i < a.size; ++i) {
    phase.places.push_back(i);
    phase.shifts.push_back(i * a.dilation - a.before);
  }
  return phase;
}

// Every stride-th input from `first` on. Only these window places reach them, and all of them are
// reached by the same: a strided convolution's gradient falls apart into stride^dims dense ones (a
// polyphase decomposition).
AxisPhase InputsOf(const WindowAxis& a, int64_t first) {
  AxisPhase phase = {
      (a.in - first + a.stride - 1) / a.stride, first, a.stride, a.in, 1, a.out, {}, {}};
  for (int64_t i = 0; i < a.size; ++i) {
    const int64_t from = first + a.before - i * a.dilation;
    if (from % a.stride != 0) continue;
    phase.places.push_back(i);
    phase.shifts.push_back(from / a.stride);
  }
  return phase;
}

}  // namespace

WindowPhase::WindowPhase(const Windows& w, std::array<AxisPhase, 3> axes) : axes_(std::move(axes)) {
  const auto& [planes, rows, columns] = axes_;
  for (size_t i = 0; i < planes.places.size(); ++i) {
    for (size_t j = 0; j < rows.places.size(); ++j) {
      for (size_t k = 0; k < columns.places.size(); ++k) {
        const int64_t p = planes.shifts[i], r = rows.shifts[j], c = columns.shifts[k];
        places_.push_back((planes.places[i] * w.rows.size + rows.places[j]) * w.columns.size +
                          columns.places[k]);
        // Where a step's source lies from the target's first source, in places.
        moves_.push_back((p * rows.limit + r) * columns.limit + c);
      }
    }
  }
  for (int d = 0; d < 3; ++d) {
    const std::vector<int64_t>& shifts = axes_[d].shifts;
    // A stride longer than the window leaves phases that no window reaches: their sums are 0.
    if (shifts.empty()) continue;
    const auto [least, most] = std::minmax_element(shifts.begin(), shifts.end());
    least_[d] = *least, most_[d] = *most;
  }
}

WindowPhase WindowPhase::OfOutputs(const Windows& w) {
  return WindowPhase(w, {OutputsOf(w.planes), OutputsOf(w.rows), OutputsOf(w.columns)});
}

std::vector<WindowPhase> WindowPhase::OfInputs(const Windows& w) {
  std::vector<WindowPhase> phases;
  for (int64_t p = 0; p < std::min(w.planes.stride, w.planes.in); ++p) {
    for (int64_t r = 0; r < std::min(w.rows.stride, w.rows.in); ++r) {
      for (int64_t c = 0; c < std::min(w.columns.stride, w.columns.in); ++c) {
        phases.push_back(
            WindowPhase(w, {InputsOf(w.planes, p), InputsOf(w.rows, r), InputsOf(w.columns, c)}));
      }
    }
  }
  return phases;
}

void WindowPhase::Place(Target& target) const {
  target.place = target.source = 0;
  for (int d = 0; d < 3; ++d) {
    const AxisPhase& a = axes_[d];
    target.place = target.place * a.targets + a.first + target.at[d] * a.step;
    target.source = target.source * a.limit + target.at[d] * a.stride;
  }
  target.line_inside = IsInside(target, 0) && IsInside(target, 1);
  target.inside = target.line_inside && IsInside(target, 2);
}

WindowPhase::Target WindowPhase::TargetAt(int64_t t) const {
  const int64_t columns = axes_[2].count, rows = axes_[1].count;
  Target target = {{t / columns / rows, t / columns % rows, t % columns}, 0, 0, false, false};
  Place(target);
  return target;
}

void WindowPhase::Advance(Target& target) const {
  if (++target.at[2] < axes_[2].count) {
    target.place += axes_[2].step;
    target.source += axes_[2].stride;
    target.inside = target.line_inside && IsInside(target, 2);
    return;
  }
  target.at[2] = 0;
  if (++target.at[1] == axes_[1].count) {
    target.at[1] = 0;
    // The next target is in the next image.
    if (++target.at[0] == axes_[0].count) target.at[0] = 0;
  }
  Place(target);
}

void WindowPhase::Locate(const Target& target, const float* source, const int64_t* moves,
                         const float* outside, int64_t begin, int64_t end, const float** in,
                         int64_t row) const {
  if (target.inside) {
    for (int64_t s = begin; s < end; ++s, in += row) *in = source + moves[s];
    return;
  }
  const auto is_there = [&](int d, int64_t k) {
    const int64_t at = target.at[d] * axes_[d].stride + axes_[d].shifts[k];
    return at >= 0 && at < axes_[d].limit;
  };
  const auto rows = static_cast<int64_t>(axes_[1].shifts.size()),
             columns = static_cast<int64_t>(axes_[2].shifts.size());
  // A line of the window at a time.
  for (int64_t s = begin; s < end;) {
    const int64_t line = s / columns;
    const bool line_there = is_there(0, line / rows) && is_there(1, line % rows);
    int64_t k = s % columns;
    for (const int64_t stop = std::min(end, s - k + columns); s < stop; ++s, ++k, in += row)
      *in = line_there && is_there(2, k) ? source + moves[s] : outside;
  }
}

}  // namespace tenon::cpu
