// A step made of oneDNN primitives that each compute one tile of the output.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "plugin/cpu/base/tiles.h"
#include "plugin/cpu/onednn/onednn.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

class TiledPrimitive {
 public:
  // Where a primitive's argument lies at run time.
  struct Pointer {
    enum class From : uint8_t { kInput, kOutput, kFixed, kPrologue } from;
    int index = 0;                // of the input or output
    const void* fixed = nullptr;  // kFixed
    int64_t offset = 0;           // bytes
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

  // What a run computes before its tiles, into memory that FromPrologue(offset) reaches: weights
  // that are not constant, packed; values derived from them.
  using Prologue = std::function<absl::Status(const StepArgs& args, char* memory)>;
  void SetPrologue(size_t bytes, Prologue prologue);
  // What it does to the output when the tiles are done.
  using Epilogue = std::function<void(const StepArgs& args)>;
  void SetEpilogue(Epilogue epilogue) { epilogue_ = std::move(epilogue); }
  // What it does to a tile of the output when that is done, in the same thread.
  using TileEpilogue = std::function<void(const StepArgs& args, int64_t tile)>;
  void SetTileEpilogue(TileEpilogue epilogue) { tile_epilogue_ = std::move(epilogue); }

  // Inside Guarded(). Returns the runner's number.
  int AddRunner(const dnnl::primitive& primitive, std::vector<OneDnnRunner::Arg> args,
                const MemoryDesc& scratchpad);
  void AddTile(int runner, absl::InlinedVector<Pointer, 6> pointers) {
    tiles_.push_back({runner, std::move(pointers)});
  }
  // Keeps a constant alive that Fixed() pointers refer to.
  const void* Keep(std::shared_ptr<const PackedBytes> constant);
  // Before the tiles run, output 0 gets a copy of input i (unless it is the same memory):
  // primitives that add to their output.
  void StartFrom(int input, size_t bytes) { start_input_ = input, start_bytes_ = bytes; }

  // Hands this object to the preparation as its run state.
  static void Install(Prepare& p, std::shared_ptr<TiledPrimitive> self);

 private:
  struct Tile {
    int runner;
    absl::InlinedVector<Pointer, 6> pointers;
  };
  static absl::Status Run(const void* state, const StepArgs& args);
  absl::Status RunTile(const Tile& tile, const StepArgs& args, const char* prologue,
                       char* scratch) const;

  std::vector<std::unique_ptr<OneDnnRunner>> runners_;
  std::vector<Tile> tiles_;
  std::vector<std::shared_ptr<const PackedBytes>> kept_;
  size_t slot_bytes_ = 0;
  Prologue prologue_;
  size_t prologue_bytes_ = 0;
  Epilogue epilogue_;
  TileEpilogue tile_epilogue_;
  int start_input_ = -1;
  size_t start_bytes_ = 0;
};

}  // namespace tenon::cpu
