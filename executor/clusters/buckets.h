// Sizes to which dimensions are padded, so that one program serves many shapes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/tensor/shape.h"

namespace tenon {

class Buckets {
 public:
  Buckets() = default;  // none: every size stays

  // "off", "pow2", or sizes that grow, as "1,8,64". INVALID_ARGUMENT, with the fault, for any other
  // text.
  static absl::StatusOr<Buckets> Parse(std::string_view text);

  bool on() const { return powers_ || !sizes_.empty(); }
  // The least bucket that holds the size; the size itself if it is 0 or no bucket holds it.
  int64_t Of(int64_t size) const;

 private:
  bool powers_ = false;         // of two
  std::vector<int64_t> sizes_;  // growing
};

// Copies a dense tensor into the beginning of a larger one of the same rank: the elements of
// `from`, whose dimensions are not 0, and behind them along each dimension the last one again. So
// what is behind is no other number than what ops expect. `element`: bytes.
void CopyPadded(const void* from, const Shape& exact, void* to, const Shape& padded,
                size_t element);
// Copies the beginning of a dense tensor back.
void CopyLeading(const void* from, const Shape& padded, void* to, const Shape& exact,
                 size_t element);

}  // namespace tenon
