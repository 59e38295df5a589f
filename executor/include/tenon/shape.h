// Shapes of tensors.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace tenon::inline v0 {

// The lengths of a tensor's dimensions. In a trace a length may be unknown (-1), or the rank. Any
// other negative length counts as unknown too, but stays as it was given, also for ==.
class Shape {
 public:
  Shape() = default;  // of a scalar
  Shape(std::initializer_list<int64_t> dims) : dims_(dims) {}
  explicit Shape(std::vector<int64_t> dims) : dims_(std::move(dims)) {}
  static Shape Unknown() {
    Shape shape;
    shape.known_ = false;
    return shape;
  }

  bool has_rank() const { return known_; }
  // The number of dimensions; -1 if it is unknown.
  int rank() const { return known_ ? static_cast<int>(dims_.size()) : -1; }
  // The length of dimension i, which may count from the end as in Python: -1 is the last.
  // Negative where the length is unknown; -1 where the shape has no such dimension.
  int64_t dim(int i) const {
    if (i < 0) i += static_cast<int>(dims_.size());
    return i >= 0 && i < static_cast<int>(dims_.size()) ? dims_[i] : -1;
  }
  // The lengths; negative where one is unknown. Empty for a scalar, and also if the rank is
  // unknown: ask has_rank() first.
  const std::vector<int64_t>& dims() const { return dims_; }
  // True if the rank and all lengths are known.
  bool IsFullyDefined() const {
    if (!known_) return false;
    for (const int64_t dim : dims_) {
      if (dim < 0) return false;
    }
    return true;
  }
  // The number of elements; -1 unless the shape is fully defined. 2^63 - 1 if there are more.
  int64_t num_elements() const {
    if (!IsFullyDefined()) return -1;
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
    int64_t count = 1;
    for (const int64_t dim : dims_) {
      if (dim == 0) return 0;
      count = count > kMost / dim ? kMost : count * dim;
    }
    return count;
  }
  // True if a tensor of shape `other` may stand where this shape is asked for: unknown lengths and
  // ranks of this shape take any. Where `other` is unknown and this shape is known, false.
  bool Admits(const Shape& other) const {
    if (!known_) return true;
    if (!other.known_ || dims_.size() != other.dims_.size()) return false;
    for (size_t i = 0; i < dims_.size(); ++i) {
      if (dims_[i] >= 0 && dims_[i] != other.dims_[i]) return false;
    }
    return true;
  }

  // "(2, 3)", "(5,)", "()", "(None, 3)", "<unknown>": as Python writes it.
  [[gnu::cold]] std::string ToString() const {
    if (!known_) return "<unknown>";
    std::string text = "(";
    for (size_t i = 0; i < dims_.size(); ++i) {
      if (i != 0) text += ", ";
      text += dims_[i] < 0 ? "None" : std::to_string(dims_[i]);
    }
    return text + (dims_.size() == 1 ? ",)" : ")");
  }
  friend bool operator==(const Shape&, const Shape&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Shape& shape) {
    return out << shape.ToString();
  }

 private:
  bool known_ = true;
  std::vector<int64_t> dims_;
};

// The narrowest shape that admits both: lengths that differ are unknown. The rank is unknown if the
// ranks differ or one of them is unknown.
inline Shape Common(const Shape& a, const Shape& b) {
  if (!a.has_rank() || a.rank() != b.rank()) return Shape::Unknown();
  std::vector<int64_t> dims = a.dims();
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] != b.dims()[i]) dims[i] = -1;
  }
  return Shape(std::move(dims));
}

}  // namespace tenon::inline v0
