// A kernel made of oneDNN primitives, one per tile. Scratch memory holds the prologue's bytes, then
// one slot per running tile.
#include "plugin/cpu/onednn/tiled_primitive.h"

#include <algorithm>
#include <cstring>

#include "plugin/cpu/base/kernel_util.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

int TiledPrimitive::AddRunner(const dnnl::primitive& primitive, std::vector<OneDnnRunner::Arg> args,
                              const MemoryDesc& scratchpad) {
  runners_.push_back(std::make_unique<OneDnnRunner>(primitive, std::move(args), scratchpad));
  // A slot serves any tile, so it has the largest scratchpad, rounded up to keep the next slot
  // aligned.
  primitive_bytes_ = std::max(primitive_bytes_, AlignedBytes(runners_.back()->scratch_bytes()));
  return static_cast<int>(runners_.size()) - 1;
}

void TiledPrimitive::AddTile(int runner, absl::InlinedVector<Pointer, 6> pointers, Part part) {
  part_bytes_ = std::max(part_bytes_, AlignedBytes(part.rows * part.row_bytes));
  tiles_.push_back({runner, std::move(pointers), part});
}

const void* TiledPrimitive::Keep(std::shared_ptr<const PackedBytes> constant) {
  kept_.push_back(std::move(constant));
  return kept_.back()->data;
}

void TiledPrimitive::SetPrologue(size_t bytes, Prologue prologue) {
  prologue_bytes_ = AlignedBytes(bytes);
  prologue_ = std::move(prologue);
}

void TiledPrimitive::Install(Prepare& p, std::shared_ptr<TiledPrimitive> self) {
  p.set_scratch_bytes(self->prologue_bytes_ +
                      TileScratchBytes(p.workers(), self->tiles_.size(), self->slot_bytes()));
  // oneDNN's post-op "sum" adds to what lies in the destination. If output and added tensor share a
  // buffer, the copy in Run is not needed.
  if (self->start_input_ >= 0) p.AllowInPlace(0, self->start_input_);
  p.set_run(&Run, std::move(self));
}

absl::Status TiledPrimitive::Run(const void* state, const StepArgs& args) {
  const auto& self = *static_cast<const TiledPrimitive*>(state);
  if (self.start_input_ >= 0 && args.in[self.start_input_] != args.out[0]) {
    memcpy(args.out[0], args.in[self.start_input_], self.start_bytes_);
  }
  char* const prologue = static_cast<char*>(args.scratch);
  if (self.prologue_) {
    absl::Status status = self.prologue_(args, prologue);
    if (!status.ok()) return status;
  }
  // ForEachTile hands out slots from the start of `scratch`, which belongs to the prologue.
  StepArgs rest = args;
  rest.scratch = prologue + self.prologue_bytes_;
  const absl::Status status =
      ForEachTile(rest, self.tiles_.size(), self.slot_bytes(), [&](int64_t t, char* scratch) {
        absl::Status ran = self.RunTile(self.tiles_[t], args, prologue, scratch);
        if (self.tile_epilogue_ && ran.ok()) self.tile_epilogue_(args, t);
        return ran;
      });
  if (self.epilogue_ && status.ok()) self.epilogue_(args);
  return status;
}

absl::Status TiledPrimitive::RunTile(const Tile& tile, const StepArgs& args, const char* prologue,
                                     char* scratch) const {
  absl::InlinedVector<void*, 8> pointers;
  char* const staged = scratch + primitive_bytes_;
  for (const Pointer& p : tile.pointers) {
    const void* base = p.from == Pointer::From::kInput    ? args.in[p.index]
                       : p.from == Pointer::From::kOutput ? args.out[p.index]
                       : p.from == Pointer::From::kFixed  ? p.fixed
                       : p.from == Pointer::From::kStaged ? staged
                                                          : prologue;
    pointers.push_back(const_cast<char*>(static_cast<const char*>(base)) + p.offset);
  }
  const Part& part = tile.part;
  if (part.rows == 0) return runners_[tile.runner]->Run(pointers, scratch);
  char* const out = static_cast<char*>(args.out[0]) + part.offset;
  for (int64_t r = 0; r < part.rows && start_input_ >= 0; ++r)
    memcpy(staged + r * part.row_bytes, out + r * part.stride, part.row_bytes);
  absl::Status status = runners_[tile.runner]->Run(pointers, scratch);
  for (int64_t r = 0; r < part.rows && status.ok(); ++r)
    memcpy(out + r * part.stride, staged + r * part.row_bytes, part.row_bytes);
  return status;
}

}  // namespace tenon::cpu
