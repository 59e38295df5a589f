// Boxes of object detectors: two opposite corners in any order.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tenon::cpu {

// A box with its corners in order: top <= bottom, left <= right.
struct Box {
  float top, left, bottom, right;

  float area() const { return (bottom - top) * (right - left); }
};

// Returns the box of the 4 numbers at `corners`: y and x of one corner, y and x of the opposite.
inline Box BoxAt(const float* corners) {
  return {std::min(corners[0], corners[2]), std::min(corners[1], corners[3]),
          std::max(corners[0], corners[2]), std::max(corners[1], corners[3])};
}

// Returns the area of the intersection over the area of the union. 0 if a box has no area. 0 or NaN
// if an area is not finite.
inline float OverlapOf(const Box& a, const Box& b) {
  if (a.area() <= 0 || b.area() <= 0) return 0;
  const float height = std::max(std::min(a.bottom, b.bottom) - std::max(a.top, b.top), 0.0f);
  const float width = std::max(std::min(a.right, b.right) - std::max(a.left, b.left), 0.0f);
  const float shared = height * width;
  return shared / (a.area() + b.area() - shared);
}

}  // namespace tenon::cpu
