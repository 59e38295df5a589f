#include "tiles.h"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace opencl {
namespace {

// The tiles that MakePlan takes, from the largest on.
constexpr Tile kTiles[] = {
    {128, 128, 16, 8, 8}, {128, 64, 16, 8, 4}, {64, 64, 16, 4, 4}, {32, 32, 32, 4, 4}};

// Those for products of whole tiles.
constexpr Tile kWholeTiles[] = {{128, 128, 8, 8, 8}, {128, 64, 16, 8, 4}, {64, 64, 16, 4, 4}};

// What a tuner tries.
struct TriedTile {
  Tile tile;
  bool whole;
};
constexpr TriedTile kTriedTiles[] = {
    {{128, 128, 8, 8, 8}, true},  {{128, 128, 16, 8, 8}, true}, {{128, 64, 16, 8, 4}, true},
    {{64, 128, 16, 4, 8}, true},  {{64, 64, 16, 4, 4}, true},   {{64, 32, 16, 4, 4}, true},
    {{32, 64, 16, 4, 4}, true},   {{32, 32, 16, 4, 4}, true},   {{128, 128, 16, 8, 8}, false},
    {{128, 64, 16, 8, 4}, false}, {{64, 128, 16, 4, 8}, false}, {{64, 64, 16, 4, 4}, false},
    {{64, 32, 16, 4, 4}, false},  {{32, 64, 16, 4, 4}, false},  {{32, 32, 32, 4, 4}, false}};
constexpr int kTriedSplits[] = {1, 2, 4, 8, 16, 32};

// Rows, and vectors of a row, of a CPU's panels.
struct TriedPanel {
  int rows, vectors;
};
constexpr TriedPanel kTriedPanels[] = {{14, 2}, {12, 2}, {8, 3}, {8, 2}, {6, 4},
                                       {6, 2},  {4, 4},  {4, 3}, {4, 2}};

// Each part of a split k has at least so many slices of a tile's bk.
constexpr int64_t kLeastSlices = 4;

int64_t TilesOf(const Tile& tile, const Gemm& gemm) {
  return ((gemm.p.m + tile.bm - 1) / tile.bm) * ((gemm.p.n + tile.bn - 1) / tile.bn) * gemm.batches;
}

int64_t SlicesOf(const Tile& tile, const Gemm& gemm) { return (gemm.p.k + tile.bk - 1) / tile.bk; }

// Into how many parts k is split so that there is work for all compute units.
int SplitOf(const Tile& tile, const Gemm& gemm, int64_t units) {
  constexpr int64_t kMostParts = 32;
  const int64_t split =
      std::min({2 * units / TilesOf(tile, gemm), SlicesOf(tile, gemm) / kLeastSlices, kMostParts});
  return static_cast<int>(std::max<int64_t>(split, 1));
}

// Whether a kernel that loads four elements at once can read the operand.
bool IsWide(const Tensor& x, int64_t step, int64_t outer, int64_t inner) {
  return (reinterpret_cast<uintptr_t>(x.data) % 16 == 0) && step % 4 == 0 && outer % 4 == 0 &&
         inner % 4 == 0;
}

// Whether the kernel of whole tiles can compute the product, if its sides are whole tiles.
bool MayBeWhole(const Gemm& gemm) {
  const ProductNumbers& p = gemm.p;
  return TypeOf(gemm.a.type).bit == kF32 && gemm.window == WindowKind::kNone && p.k != 0 &&
         IsWide(gemm.a, p.a_step, p.a_outer, p.a_inner) &&
         IsWide(gemm.b, p.b_step, p.b_outer, p.b_inner);
}

bool IsOfWhole(const Tile& tile, const Gemm& gemm) {
  return gemm.p.m % tile.bm == 0 && gemm.p.n % tile.bn == 0 && gemm.p.k % tile.bk == 0;
}

// Local memory has 48 KB.
bool HasRoom(const Tile& tile, const Gemm& gemm) {
  return TypeOf(gemm.a.type).bytes <= 4 || std::max(tile.bm, tile.bn) <= 64;
}

// Sums of parts in half would lose bits.
bool MayBeSplit(const Gemm& gemm) { return TypeOf(gemm.a.type).bit == kF32; }

// The plan of a product of whole tiles, or nothing. Measured on an H200: 128 tiles of 128 x 64 for
// 132 compute units are faster than twice as many of 64 x 64.
std::optional<Plan> MakeWholePlan(const Gemm& gemm, int64_t units) {
  if (!MayBeWhole(gemm)) return {};
  for (const Tile& tile : kWholeTiles) {
    if (!IsOfWhole(tile, gemm)) continue;
    const int64_t tiles = TilesOf(tile, gemm);
    if (tile.bm > 64 ? 4 * tiles >= 3 * units : tiles >= 2 * units) return Plan{tile, true};
    if (tile.bm > 64) continue;
    const int split = SplitOf(tile, gemm, units);
    if (split > 1) return Plan{tile, true, split};
  }
  return {};
}

bool HasWideVectors(const Device& device) {
  return FactOf<cl_uint>(device.id(), CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT) >= 16;
}

}  // namespace

// Large tiles reuse more of what they load; there must be enough of them for all compute units.
// Where there are not, work-groups share a tile: each has some slices of k.
Plan MakePlan(const Device& device, const Gemm& gemm) {
  const int64_t units = device.compute_units();
  if (const auto whole = MakeWholePlan(gemm, units)) return *whole;
  for (const Tile& tile : kTiles) {
    if (!HasRoom(tile, gemm)) continue;
    const int64_t tiles = TilesOf(tile, gemm);
    if (tiles >= (tile.bm > 64 ? units : 2 * units)) return {tile};
    if (tile.bm != 64 || !MayBeSplit(gemm)) continue;
    const int split = SplitOf(tile, gemm, units);
    if (split > 1) return {tile, false, split};
  }
  return {kTiles[std::size(kTiles) - 1]};
}

std::vector<Plan> PlansToTry(const Device& device, const Gemm& gemm) {
  const int64_t units = device.compute_units();
  const Plan usual = MakePlan(device, gemm);
  std::vector<Plan> plans = {usual};
  const bool whole = MayBeWhole(gemm);
  for (const TriedTile& tried : kTriedTiles) {
    const Tile& tile = tried.tile;
    if (tried.whole ? !whole || !IsOfWhole(tile, gemm) : !HasRoom(tile, gemm)) continue;
    // Where the tile is a whole one, the kernel that looks for bounds is slower.
    if (!tried.whole && whole && IsOfWhole(tile, gemm)) continue;
    for (const int split : kTriedSplits) {
      const int64_t groups = TilesOf(tile, gemm) * split;
      if (split > 1 &&
          (!MayBeSplit(gemm) || SlicesOf(tile, gemm) / split < kLeastSlices || groups > 4 * units))
        break;
      // Most compute units would have no work.
      if (3 * groups < units) continue;
      const bool same = tried.whole == usual.whole && split == usual.split &&
                        tile.bm == usual.tile.bm && tile.bn == usual.tile.bn &&
                        tile.bk == usual.tile.bk;
      if (!same) plans.push_back({tile, tried.whole, split});
    }
  }
  return plans;
}

// Accumulators, a row of b and one element of a fill the vector registers, 32 of 64 bytes or 16 of
// 32.
Panel MakePanel(const Device& device, const Gemm& gemm) {
  const bool wide = HasWideVectors(device);
  const int vector = (wide ? 16 : 8) / (TypeOf(gemm.a.type).bytes > 4 ? 2 : 1);
  const int most = wide ? 12 : 6;
  const int rows = gemm.p.m >= most ? most : std::max(1, gemm.p.m);
  return {rows, 2 * vector, vector};
}

std::vector<Panel> PanelsToTry(const Device& device, const Gemm& gemm) {
  const int registers = HasWideVectors(device) ? 32 : 16;
  const Panel usual = MakePanel(device, gemm);
  std::vector<Panel> panels = {usual};
  for (const TriedPanel& tried : kTriedPanels) {
    const Panel panel{tried.rows, tried.vectors * usual.vector, usual.vector};
    const bool fits = (tried.rows + 1) * tried.vectors + 1 <= registers && tried.rows <= gemm.p.m;
    const bool same = panel.rows == usual.rows && panel.columns == usual.columns;
    if (fits && !same) panels.push_back(panel);
  }
  return panels;
}

}  // namespace opencl
