// Work in tiles, each with scratch memory of its own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

// Calls body(tile, scratch) for every tile on the workers, each concurrent call with `slot_bytes`
// of scratch memory of its own. Of failures that of the lowest tile is returned; the tiles behind
// it may be left out.
absl::Status ForEachTile(const StepArgs& args, int64_t tiles, size_t slot_bytes,
                         absl::FunctionRef<absl::Status(int64_t tile, char* scratch)> body);
// Scratch that ForEachTile needs.
size_t TileScratchBytes(const Workers& workers, int64_t tiles, size_t slot_bytes);

// Into how many tiles work of this many floating point operations should be split: as many as are
// worth handing to another core, whatever the number of threads. A primitive may order its sums by
// the size of its tile, so that only those that were seen not to may take one tile where there is
// one thread: the second form.
int64_t TilesFor(double flops);
int64_t TilesFor(const Workers& workers, double flops);

}  // namespace tenon::cpu
