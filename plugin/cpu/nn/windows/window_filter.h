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

// The loops for this processor.
WindowLoops ChooseWindowLoops();

// For each group, for each block of columns, for each place: what the loops read there.
class WindowFilter {
 public:
  // Channels that are summed over and made: input and output channels, or the other way round.
  enum class Direction : uint8_t { kForward, kBackward };
  WindowFilter(const ConvProblem& q, Direction direction);

  // Of one group.
  int64_t depth() const { return depth_; }
  int64_t columns() const { return columns_; }
  int64_t groups() const { return groups_; }
  // The loops, and the columns of a block: as many as they compute at a time.
  const WindowLoops& loops() const { return loops_; }
  int64_t block() const { return narrow_ ? columns_ : loops_.columns; }
  void Multiply(const WindowProduct& g) const {
    (narrow_ ? loops_.multiply_narrow : loops_.multiply)(g);
  }

  size_t bytes() const;
  // Where the weights of a group begin that make columns from `column` on, the first of a block.
  int64_t BlockAt(int64_t group, int64_t column) const {
    return group * group_floats() + places_ * depth_ * column;
  }
  // `filter` as TensorFlow stores it: float, half or bfloat16.
  void Pack(Workers& workers, DataType type, const void* filter, float* packed) const;
  // The constant filter of input 1, packed once per session, and dropped. RESOURCE_EXHAUSTED if
  // memory is short.
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
