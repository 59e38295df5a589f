// Convolutions of bytes with zero points, summed in 32 bits: the windows of some places become
// packed rows, which are multiplied by the filter as a matrix (byte_matmul.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "plugin/cpu/base/window.h"
#include "plugin/cpu/linalg/products/byte_matmul.h"
#include "plugin/kernels/run_fn.h"

namespace tenon::cpu {

// Window places outside of the input add nothing, whatever the zero points are. Channels are last,
// in one group; the filter is [window places, in_channels, out_channels]. Immutable; several runs
// share it.
class ByteConv {
 public:
  // `by_parts`: for RunParts instead of Run.
  ByteConv(const Windows& windows, bool left_signed, bool right_signed, bool by_parts = false);

  const Windows& windows() const { return w_; }
  // The filter as a right side, of which ByteRight::packed is what PackWhole wrote for
  // windows().window_places() parts.
  const ByteRightSide& filter() const { return filter_; }
  // Returns the bytes of scratch memory for Run, with a place for the sums if they go nowhere else;
  // `packed`: Run gets ByteRight::packed.
  size_t ScratchBytes(const Workers& workers, bool own_sums, bool packed = false) const;
  // Calls finish(image, first, count, sums) for `count` places of the output of an image, from
  // `first` on, from any thread, once for each place that has channels: the sums of their channels,
  // one place after the other, in scratch memory or, if `sums` is not null, in that tensor of the
  // output's shape. `scratch` takes the place of args.scratch. finish may be null if sums is not.
  // zeros.left has a number for all images or one for each; zeros.right one for all channels or, if
  // the filter is signed, one for each.
  absl::Status Run(const StepArgs& args, void* scratch, const void* images, ByteRight filter,
                   const ByteZeros& zeros, int32_t* sums,
                   const absl::FunctionRef<void(int64_t image, int64_t first, int64_t count,
                                                const int32_t* sums)>* finish) const;

  // Channels [begin, end) of `count` places of an image's output, from place `first` on.
  struct Part {
    int64_t image, first, count, begin, end;
    const int32_t* sums;  // one place after the other, `row` numbers apart
    int64_t row;
    const int32_t* offsets;  // numbers to subtract from the sums of each channel; null for zeros
  };
  // The same in parts that stay in the first cache. Calls finish once for each sum.
  absl::Status RunParts(const StepArgs& args, void* scratch, const void* images, ByteRight filter,
                        const ByteZeros& zeros, absl::FunctionRef<void(const Part&)> finish) const;

 private:
  struct Operands;
  struct Rows;
  int64_t tiles() const;
  int64_t tile_places() const;
  size_t SlotBytes(bool own_sums) const;
  size_t SharedBytes() const;
  // Whether the windows of places in sequence are rows as they lie.
  bool in_place() const;
  // Returns the number of window places inside of the image.
  int64_t PackWindow(const Operands& o, int64_t image, int64_t place, char* to) const;
  // Packs the windows of a part's places into `memory`, unless they are rows as they lie.
  void PackRows(const Operands& o, const Part& part, char* memory, Rows& rows) const;
  // Takes off the sums of the i-th place of a part what its zero points add. `total` is memory for
  // a sum of each channel.
  void Correct(const Operands& o, const Part& part, const Rows& rows, int64_t i, int32_t* total,
               int32_t* sums) const;
  absl::Status RunTiles(const StepArgs& args, void* scratch, const void* images, ByteRight filter,
                        const ByteZeros& zeros, int32_t* sums,
                        absl::FunctionRef<void(const Part&)> finish) const;
  // Of a part, and the numbers from a place's sums to the next one's in scratch memory.
  int64_t panels_together() const;
  int64_t part_row() const;

  Windows w_;
  bool left_signed_;
  ByteRightSide filter_;
  bool by_parts_;
};

}  // namespace tenon::cpu
