// Regions over scalars, applied to many elements at once.
#pragma once

#include <vector>

#include "frame.h"

namespace pjref {

// The region takes and returns scalars. Frame and region must outlive the object.
class ElementFunction {
 public:
  ElementFunction(Frame* frame, const Region& region);
  // Element i of each result is what the region makes of element i of each argument. All have
  // `count` elements, and results have rank 1.
  std::vector<Array> Apply(const std::vector<Array>& arguments, int64_t count) const;
  // The name of the op if the region is that op of its two arguments in order, as "stablehlo.add",
  // and the op computes each element by itself. Else empty, as always with RunOptions::wrong_op.
  std::string_view OnlyOp() const;

 private:
  std::vector<Array> ApplyLifted(const std::vector<Array>& arguments, int64_t count) const;
  std::vector<Array> ApplyEach(const std::vector<Array>& arguments, int64_t count) const;

  Frame* frame_;
  const Region& region_;
  bool lifts_;
};

}  // namespace pjref
