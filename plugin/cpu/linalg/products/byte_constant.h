// Right sides of products of bytes that are constants of the graph: packed once for a session, not
// in each run.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "plugin/cpu/linalg/products/byte_matmul.h"
#include "plugin/cpu/onednn/onednn.h"

namespace tenon {
class Prepare;  // plugin/kernels/kernel.h
}

namespace tenon::cpu {

// A right side that is packed, or null if it differs from run to run or has no elements.
class ByteConstant {
 public:
  ByteConstant() = default;
  // Packs input i for `side` and drops the input, if it is a constant that has elements; its sums
  // of columns are those of `parts` parts. RESOURCE_EXHAUSTED if there is no memory.
  static absl::StatusOr<ByteConstant> Pack(Prepare& p, int i, const ByteRightSide& side,
                                           int64_t parts = 0);

  bool is_packed() const { return packed_ != nullptr; }
  // `values` is the input, which is read only if it is not packed.
  ByteRight Or(const void* values) const {
    return is_packed() ? ByteRight{nullptr, packed_->data} : ByteRight{values, nullptr};
  }

 private:
  std::shared_ptr<const PackedBytes> packed_;
};

}  // namespace tenon::cpu
