#include "plugin/cpu/nn/windows/window_phase.h"

#include <algorithm>
#include <utility>

namespace tenon::cpu {
namespace {

AxisPhase OutputsOf(const WindowAxis& a) {
  AxisPhase phase = {a.out, 0, 1, a.out, a.stride, a.in, {}, {}};
  for (int64_t i = 0; i < a.size; ++i) {
    phase.places.push_back(i);
    phase.shifts.push_back(i * a.dilation - a.before);
  }
  return phase;
}

// Every stride-th input from `first` on.
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
        shifts_.push_back({p, r, c});
        moves_.push_back((p * rows.limit + r) * columns.limit + c);
      }
    }
  }
  for (int d = 0; d < 3; ++d) {
    const std::vector<int64_t>& shifts = axes_[d].shifts;
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

std::array<int64_t, 3> WindowPhase::Coordinates(int64_t t) const {
  const int64_t columns = axes_[2].count, rows = axes_[1].count;
  return {t / columns / rows, t / columns % rows, t % columns};
}

int64_t WindowPhase::TargetAt(int64_t t) const {
  const std::array<int64_t, 3> at = Coordinates(t);
  const auto along = [&](int d) { return axes_[d].first + at[d] * axes_[d].step; };
  return (along(0) * axes_[1].targets + along(1)) * axes_[2].targets + along(2);
}

void WindowPhase::Locate(int64_t t, const float* image, int64_t channels, const float* outside,
                         int64_t begin, int64_t end, const float** in, int64_t row) const {
  std::array<int64_t, 3> from = Coordinates(t);
  bool inside = true;
  for (int d = 0; d < 3; ++d) {
    from[d] *= axes_[d].stride;
    inside &= from[d] + least_[d] >= 0 && from[d] + most_[d] < axes_[d].limit;
  }
  const int64_t place = (from[0] * axes_[1].limit + from[1]) * axes_[2].limit + from[2];
  const auto is_there = [&](int64_t s, int d) {
    const int64_t source = from[d] + shifts_[s][d];
    return source >= 0 && source < axes_[d].limit;
  };
  for (int64_t s = begin; s < end; ++s, in += row) {
    const bool there = inside || (is_there(s, 0) && is_there(s, 1) && is_there(s, 2));
    *in = there ? image + (place + moves_[s]) * channels : outside;
  }
}

}  // namespace tenon::cpu
