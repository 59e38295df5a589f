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

// Describes the packed filter of a convolution; the packed data lie outside of the object. `depth`
// is the number of channels that are summed over, `columns` the number of channels that are made,
// both of one group. The packed filter is a list of blocks of weights as WindowLoops wants them:
// for each group, for each block of columns, for each window place. Immutable once made; several
// threads share it.
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
  // Multiply() calls the loop for which the filter is packed. block() is the number of columns that
  // one call computes at most: all of a group, or WindowLoops::columns.
  const WindowLoops& loops() const { return loops_; }
  int64_t block() const { return narrow_ ? columns_ : loops_.columns; }
  void Multiply(const WindowProduct& g) const {
    (narrow_ ? loops_.multiply_narrow : loops_.multiply)(g);
  }

  // Returns the bytes of the packed filter.
  size_t bytes() const;
  // Returns the offset, in floats from the start of the packed filter, of the weights of the block
  // of columns that begins at column `column`, a multiple of block(), of group `group`. The blocks
  // of weights of all window places begin there, one after the other.
  int64_t BlockAt(int64_t group, int64_t column) const {
    return group * group_floats() + places_ * depth_ * column;
  }
  // Packs `filter`, of type `type` (float, half or bfloat16) in TensorFlow's layout, into the
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
