// A convolution's filter in floats, in the order in which the loops of window_product.h read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "plugin/cpu/nn/conv/conv.h"
#include "plugin/cpu/nn/windows/window_product.h"
#include "plugin/cpu/onednn/onednn.h"

namespace tenon::cpu {

// Returns the loops for CpuIsa().
WindowLoops ChooseWindowLoops();

// The layout: group after group, block of columns after block of columns, place of the window after
// place, each as WindowLoops wants it. The depth is the channels that are summed over, the columns
// are the channels that are made, both of one group. Immutable once made; several threads share it.
class WindowFilter {
 public:
  // kForward sums over input channels and makes output channels. kBackward, for the input's
  // gradient, sums over output channels and makes input channels.
  enum class Direction : uint8_t { kForward, kBackward };
  WindowFilter(const ConvProblem& q, Direction direction);

  // Numbers of channels of one group.
  int64_t depth() const { return depth_; }
  int64_t columns() const { return columns_; }
  int64_t groups() const { return groups_; }
  // block() is the number of columns that the loops compute at a time.
  const WindowLoops& loops() const { return loops_; }
  int64_t block() const { return narrow_ ? columns_ : loops_.columns; }
  void Multiply(const WindowProduct& g) const {
    (narrow_ ? loops_.multiply_narrow : loops_.multiply)(g);
  }

  // Returns the bytes of the packed filter.
  size_t bytes() const;
  // Returns the place, in floats from the start of the packed filter, of the weights that make the
  // block that begins at column `column` of group `group`.
  int64_t BlockAt(int64_t group, int64_t column) const {
    return group * group_floats() + places_ * depth_ * column;
  }
  // Packs `filter`, which TensorFlow has stored as type `type` (float, half or bfloat16), into the
  // bytes() bytes at `packed`. The work is split over `workers`.
  void Pack(Workers& workers, DataType type, const void* filter, float* packed) const;
  // Returns the packed form of input 1, whose value must be known, and drops the input
  // (Prepare::DropInput). The session packs a filter once per layout. RESOURCE_EXHAUSTED if memory
  // is short.
  absl::StatusOr<std::shared_ptr<const PackedBytes>> PackConstant(Prepare& p) const;

 private:
  int64_t InVectors(int64_t n) const {
    return (n + loops_.width - 1) / loops_.width * loops_.width;
  }
  int64_t group_floats() const {
    return places_ * (narrow_ ? columns_ * InVectors(depth_) : depth_ * InVectors(columns_));
  }
  template <typename Element>
  void PackPlace(Element element, const void* filter, int64_t group, int64_t place,
                 float* packed) const;

  int64_t places_, groups_, depth_, columns_;
  int64_t place_step_, group_step_, depth_step_, column_step_;  // elements of the stored filter
  WindowLoops loops_ = ChooseWindowLoops();
  bool narrow_ = false;
};

}  // namespace tenon::cpu
