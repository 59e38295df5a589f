// The run functions of TopK and NthElement.
#pragma once

#include <cstddef>
#include <cstdint>

#include "graph/tensor/dtype.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/cpu/elementwise/loops/element_copy.h"
#include "plugin/kernels/run_fn.h"

namespace tenon::cpu {

struct TopKState {
  ElementCopy copy;  // TopK's
  DataType type;
  // k, in TopK: how many elements of a row to give, 0 to columns. In NthElement: the place of the
  // element to give among those of the row in ascending order, 0 to columns - 1.
  int64_t rows = 1, columns = 0, k = 0;
  DataType index_type = DataType::kInt32;  // TopKV2's
};

// Returns the run function for elements of type `type`: of TopK, or of NthElement if `nth`. Null
// for types without an order. The state is a TopKState. NaN counts as larger than all numbers, but
// not in TopK with k == 1: as in TensorFlow, the place of a NaN in the row then decides whether
// TopK passes over the NaN or gives another element than the largest number. TopK gives the larger
// element first, and of equal elements the one that stands first in the row.
RunFn FindTopK(DataType type, bool nth);

// Returns the bytes of scratch memory that the run function needs.
size_t TopKScratch(const Workers& workers, const TopKState& s);

}  // namespace tenon::cpu
