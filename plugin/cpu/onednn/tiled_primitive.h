// A step that executes a oneDNN primitive for each tile of the output. One primitive may serve
// several tiles. The caller chooses the tiles. Results must have the same bits with any number of
// threads: TilesFor (tiles.h) says when the number of tiles may depend on the threads.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "plugin/cpu/base/tiles.h"
#include "plugin/cpu/onednn/onednn.h"
#include "plugin/kernels/run_fn.h"

namespace tenon {
class Prepare;  // plugin/kernels/kernel.h
}

namespace tenon::cpu {

// The run state of such a step. A preparation builds the object in one thread and gives the object
// to Install(). After that the object is immutable, and runs in several threads share it.
//
// A run copies the start value (StartFrom), computes the prologue, runs the tiles on the workers
// and calls the epilogue. An error of the prologue or of a tile ends the run: later stages are not
// called, and the run returns the error (of the lowest tile that failed).
class TiledPrimitive {
 public:
  // Where a primitive's argument lies at run time.
  struct Pointer {
    enum class From : uint8_t {
      kInput,     // the step's input `index`
      kOutput,    // the step's output `index`
      kFixed,     // memory at `fixed`
      kPrologue,  // memory that the prologue has filled
      kStaged     // the tile's own copy of its part of output 0 (Part)
    } from;
    int index = 0;                // kInput, kOutput
    const void* fixed = nullptr;  // kFixed; Keep() keeps the memory alive
    int64_t offset = 0;           // bytes from the begin of the memory that `from` names
  };
  static Pointer Input(int i, int64_t offset = 0) {
    return {Pointer::From::kInput, i, nullptr, offset};
  }
  static Pointer Output(int i, int64_t offset = 0) {
    return {Pointer::From::kOutput, i, nullptr, offset};
  }
  static Pointer Fixed(const void* data, int64_t offset = 0) {
    return {Pointer::From::kFixed, 0, data, offset};
  }

  static Pointer FromPrologue(int64_t offset) {
    return {Pointer::From::kPrologue, 0, nullptr, offset};
  }
  static Pointer Staged() { return {Pointer::From::kStaged, 0, nullptr, 0}; }

  // Rows of output 0 that are not contiguous. The tile works on a dense copy, which after StartFrom
  // begins with output 0's values. The copy goes to output 0 before the tile epilogue.
  struct Part {
    int64_t offset = 0;     // bytes from the begin of the output to the first row
    int64_t rows = 0;       // 0: the tile writes to the output itself
    int64_t row_bytes = 0;  // of the part
    int64_t stride = 0;     // bytes from a row to the next in the output
  };

  // Runs before the tiles, in the thread of the run. It fills `memory`, `bytes` bytes of the step's
  // scratch memory to which FromPrologue(offset) refers, e.g. with packed weights that are not
  // constant.
  using Prologue = std::function<absl::Status(const StepArgs& args, char* memory)>;
  void SetPrologue(size_t bytes, Prologue prologue);
  // Runs when all tiles are done, in the thread of the run, e.g. to change the output in place.
  using Epilogue = std::function<void(const StepArgs& args)>;
  void SetEpilogue(Epilogue epilogue) { epilogue_ = std::move(epilogue); }
  // Runs after each tile that succeeded, in the tile's thread. `tile` counts the calls of AddTile
  // from 0. Calls for different tiles run at the same time.
  using TileEpilogue = std::function<void(const StepArgs& args, int64_t tile)>;
  void SetTileEpilogue(TileEpilogue epilogue) { tile_epilogue_ = std::move(epilogue); }

  // Adds a primitive, and returns its number for AddTile. `args` and `scratchpad` are those of
  // OneDnnRunner's constructor. To be called inside Guarded() (onednn.h) alone.
  int AddRunner(const dnnl::primitive& primitive, std::vector<OneDnnRunner::Arg> args,
                const MemoryDesc& scratchpad);
  // Adds an execution of primitive `runner`. `pointers` has one entry for each argument of
  // AddRunner, in the same order. Tiles must write to disjoint memory. `part` is what a Staged()
  // pointer stands for.
  void AddTile(int runner, absl::InlinedVector<Pointer, 6> pointers, Part part);
  void AddTile(int runner, absl::InlinedVector<Pointer, 6> pointers) {
    AddTile(runner, std::move(pointers), Part());
  }
  // Shares ownership of a constant that Fixed() pointers refer to. Returns the constant's data.
  const void* Keep(std::shared_ptr<const PackedBytes> constant);
  // For primitives that add to their output: before the tiles run, the first `bytes` bytes of input
  // `input` are copied to output 0. Install() permits the plan to use the same memory for both;
  // then a run does not copy.
  void StartFrom(int input, size_t bytes) { start_input_ = input, start_bytes_ = bytes; }

  // Makes `self` the run state of the step, and sets the run function and the scratch size. The
  // caller has set the output's shape.
  static void Install(Prepare& p, std::shared_ptr<TiledPrimitive> self);

 private:
  struct Tile {
    int runner;
    absl::InlinedVector<Pointer, 6> pointers;
    Part part;
  };
  static absl::Status Run(const void* state, const StepArgs& args);
  absl::Status RunTile(const Tile& tile, const StepArgs& args, const char* prologue,
                       char* scratch) const;

  std::vector<std::unique_ptr<OneDnnRunner>> runners_;
  std::vector<Tile> tiles_;
  std::vector<std::shared_ptr<const PackedBytes>> kept_;
  // A slot of scratch memory: the primitive's own, then the tile's part of the output.
  size_t primitive_bytes_ = 0, part_bytes_ = 0;
  size_t slot_bytes() const { return primitive_bytes_ + part_bytes_; }
  Prologue prologue_;
  size_t prologue_bytes_ = 0;
  Epilogue epilogue_;
  TileEpilogue tile_epilogue_;
  int start_input_ = -1;
  size_t start_bytes_ = 0;
};

}  // namespace tenon::cpu
