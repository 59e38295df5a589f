// Work in tiles. Each tile that runs has scratch memory of its own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "plugin/kernels/run_fn.h"

namespace tenon::cpu {

// Calls body(tile, scratch) for each tile in [0, tiles), on args.workers. `scratch` is a piece of
// `slot_bytes` bytes of args.scratch, which has TileScratchBytes(). No other running call has the
// same piece. The piece still holds the bytes of an earlier tile. It is aligned to kTensorAlignment
// if args.scratch is aligned so and `slot_bytes` is a multiple of kTensorAlignment.
//
// Returns when all calls have returned. Returns the error of the lowest tile that failed, whatever
// the timing: all tiles below that one have run. Tiles above a failed tile may not have run. Passes
// on what `body` throws. Throws RunEnded as Workers::ParallelFor does, but not for a single tile,
// nor where args.workers has one thread.
absl::Status ForEachTile(const StepArgs& args, int64_t tiles, size_t slot_bytes,
                         absl::FunctionRef<absl::Status(int64_t tile, char* scratch)> body);
// Returns the bytes of args.scratch that ForEachTile needs.
size_t TileScratchBytes(const Workers& workers, int64_t tiles, size_t slot_bytes);

// Returns into how many tiles to split work of `flops` floating-point operations: 1 to 16. If there
// are several tiles, each has 8 million operations or more. The number does not depend on the
// number of threads, because a oneDNN primitive may order its sums by the size of its tile: equal
// tiles give equal bits.
int64_t TilesFor(double flops);
// The same for primitives of which tests have shown that the order of a sum does not depend on the
// tile's size: 1 tile for one thread, else up to 4 for each thread and up to 64 in all, each of
// half a million operations or more.
int64_t TilesFor(const Workers& workers, double flops);

}  // namespace tenon::cpu
