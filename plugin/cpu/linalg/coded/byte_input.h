// Floats that become bytes in a run, for the left side of a product of bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "plugin/kernels/run_fn.h"

namespace tenon {
class Prepare;  // plugin/kernels/kernel.h
}

namespace tenon::cpu {

// `groups` groups of `size` floats, such as images or rows. Each value is rounded to a multiple of
// a step: one that attributes give, or one of each group by its extremes. Immutable; thread-safe.
class ByteInput {
 public:
  // Reads attributes step (0: by the extremes), least and most. INVALID_ARGUMENT for a step that is
  // neither 0 nor a positive, finite, normal number, multiples without 0, or more than 256 of them.
  static absl::StatusOr<ByteInput> Read(const Prepare& p, int64_t groups, int64_t size);

  // Bytes of scratch memory; a multiple of kTensorAlignment.
  size_t ScratchBytes() const;
  struct Result {
    const uint8_t* bytes;             // of all groups; byte b stands for (b - zero) * scale
    absl::Span<const float> scales;   // one for each group; NaN if it holds a NaN or, by the
                                      // extremes, an infinity
    absl::Span<const int32_t> zeros;  // one, or one for each group
  };
  // What the result shows lies in `scratch`.
  Result Run(const StepArgs& args, const float* x, void* scratch) const;

 private:
  struct Piece;
  struct Steps {
    float inverse, least, most;
  };
  ByteInput(int64_t groups, int64_t size) : groups_(groups), size_(size) {}
  bool by_extremes() const { return step_ == 0; }
  int64_t pieces_of_group() const;

  int64_t groups_, size_;
  float step_ = 0;
  int32_t least_ = 0, most_ = 0;
};

}  // namespace tenon::cpu
