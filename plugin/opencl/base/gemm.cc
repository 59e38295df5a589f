#include "gemm.h"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <optional>

#include "launch.h"
#include "strided.h"
#include "text.h"

namespace opencl {
namespace {

std::string N(int64_t number) { return std::to_string(number); }

// --- Epilogues ---

struct Activation {
  const char* name;
  const char* code;  // ALPHA stands for the attribute
};

constexpr Activation kActivations[] = {
    {"Relu", "v = v < 0 ? 0 : v;"},
    {"Relu6", "v = v < 0 ? 0 : v > 6 ? 6 : v;"},
    {"Elu", "v = v < 0 ? expm1(v) : v;"},
    {"LeakyRelu", "v = v > 0 ? v : v * ALPHA;"},
    {"Tanh", "v = tanh(v);"},
    {"Sigmoid", "v = 1 / (1 + exp(-v));"},
    {"Softplus", "v = v > 20 ? v : log1p(exp(v));"},
    {"Swish", "v = v / (1 + exp(-v));"},
    {"Mish", "v = v * tanh(v > 20 ? v : log1p(exp(v)));"},
    {"GeluExact", "v = (X_C)0.5 * v * (1 + erf(v * (X_C)0.70710678118654752440));"},
    {"GeluApproximate",
     "v = (X_C)0.5 * v * (1 + tanh((X_C)0.79788456080286535588 * (v + (X_C)0.044715 * v * v * "
     "v)));"},
};

// --- Kernels ---

// The parts of a GPU's kernel, from the largest on.
struct Tile {
  int bm, bn, bk, tm, tn;
  int items() const { return bm / tm * (bn / tn); }
};
constexpr Tile kTiles[] = {
    {128, 128, 16, 8, 8}, {128, 64, 16, 8, 4}, {64, 64, 16, 4, 4}, {32, 32, 32, 4, 4}};

// Those for products of whole tiles (gemm.cl, WHOLE).
constexpr Tile kWholeTiles[] = {{128, 128, 8, 8, 8}, {128, 64, 16, 8, 4}, {64, 64, 16, 4, 4}};

// How a GPU computes a product: the kernel's part of a work-group, and into how many parts k is
// split.
struct Plan {
  Tile tile;
  bool whole = false;
  int split = 1;
};

int64_t TilesOf(const Tile& tile, const Gemm& gemm) {
  return ((gemm.p.m + tile.bm - 1) / tile.bm) * ((gemm.p.n + tile.bn - 1) / tile.bn) * gemm.batches;
}

// Into how many parts k is split so that there is work for all compute units; each part has at
// least kLeastSlices.
int SplitOf(const Tile& tile, const Gemm& gemm, int64_t units) {
  constexpr int64_t kLeastSlices = 4, kMostParts = 32;
  const int64_t slices = (gemm.p.k + tile.bk - 1) / tile.bk;
  const int64_t split =
      std::min({2 * units / TilesOf(tile, gemm), slices / kLeastSlices, kMostParts});
  return static_cast<int>(std::max<int64_t>(split, 1));
}

// Whether a kernel that loads four elements at once can read the operand.
bool IsWide(const Tensor& x, int64_t step, int64_t outer, int64_t inner) {
  return (reinterpret_cast<uintptr_t>(x.data) % 16 == 0) && step % 4 == 0 && outer % 4 == 0 &&
         inner % 4 == 0;
}

// The plan of a product of whole tiles, or nothing. Measured on an H200: 128 tiles of 128 x 64 for
// 132 compute units are faster than twice as many of 64 x 64.
std::optional<Plan> MakeWholePlan(const Gemm& gemm, int64_t units) {
  const ProductNumbers& p = gemm.p;
  if (TypeOf(gemm.a.type).bit != kF32 || gemm.window != WindowKind::kNone || p.k == 0) return {};
  if (!IsWide(gemm.a, p.a_step, p.a_outer, p.a_inner) ||
      !IsWide(gemm.b, p.b_step, p.b_outer, p.b_inner)) {
    return {};
  }
  for (const Tile& tile : kWholeTiles) {
    if (p.m % tile.bm != 0 || p.n % tile.bn != 0 || p.k % tile.bk != 0) continue;
    const int64_t tiles = TilesOf(tile, gemm);
    if (tile.bm > 64 ? 4 * tiles >= 3 * units : tiles >= 2 * units) return Plan{tile, true};
    if (tile.bm > 64) continue;
    const int split = SplitOf(tile, gemm, units);
    if (split > 1) return Plan{tile, true, split};
  }
  return {};
}

// Large tiles reuse more of what they load; there must be enough of them for all compute units.
// Where there are not, work-groups share a tile: each has some slices of k.
Plan MakePlan(const Device& device, const Gemm& gemm) {
  const ElementType& type = TypeOf(gemm.a.type);
  const int64_t units = device.compute_units();
  if (const auto whole = MakeWholePlan(gemm, units)) return *whole;
  for (const Tile& tile : kTiles) {
    if (type.bytes > 4 && tile.bm > 64) continue;  // local memory has 48 KB
    const int64_t tiles = TilesOf(tile, gemm);
    if (tiles >= (tile.bm > 64 ? units : 2 * units)) return {tile};
    if (tile.bm != 64 || type.bit != kF32) continue;
    const int split = SplitOf(tile, gemm, units);
    if (split > 1) return {tile, false, split};
  }
  return {kTiles[std::size(kTiles) - 1]};
}

std::string Common(const Gemm& gemm) {
  std::string arguments, opens;
  for (size_t i = 0; i < gemm.epilogue.tensors.size(); ++i) {
    const std::string e = "e" + N(static_cast<int64_t>(i));
    arguments += ", TENSOR(const X_S, " + e + ")";
    opens += "OPEN(" + e + "); ";
  }
  return DefineType("X", TypeOf(gemm.a.type)) + "#define TRANSPOSE_A " + N(gemm.transpose_a) +
         "\n#define TRANSPOSE_B " + N(gemm.transpose_b) + "\n#define WINDOW " +
         N(static_cast<int>(gemm.window)) + "\n#define EPILOGUE_ARGUMENTS " + arguments +
         "\n#define EPILOGUE_OPEN " + opens + "\n#define EPILOGUE " + gemm.epilogue.code + "\n";
}

// The key of what Common writes.
KernelKey CommonKey(const char* entry, const Gemm& gemm) {
  KernelKey key(entry);
  key.Number(gemm.a.type).Number(gemm.transpose_a).Number(gemm.transpose_b);
  key.Number(static_cast<int>(gemm.window));
  key.Number(static_cast<int64_t>(gemm.epilogue.tensors.size())).Text(gemm.epilogue.code);
  return key;
}

std::string TileText(const Plan& plan) {
  const Tile& tile = plan.tile;
  return "#define BM " + N(tile.bm) + "\n#define BN " + N(tile.bn) + "\n#define BK " + N(tile.bk) +
         "\n#define TM " + N(tile.tm) + "\n#define TN " + N(tile.tn) + "\n" +
         (plan.split > 1 ? "#define SPLIT " + N(plan.split) + "\n" : "") +
         // One k ahead pays where eight are unrolled, and costs registers where sixteen are.
         (plan.whole ? "#define WHOLE\n#define AHEAD " + N(tile.bk == 8) + "\n" : "");
}

size_t Groups(int64_t n, int64_t size) { return static_cast<size_t>((n + size - 1) / size); }

void RunTiles(Call& call, const Gemm& gemm) {
  const Plan plan = MakePlan(call.device(), gemm);
  const Tile& tile = plan.tile;
  const int split = plan.split;
  const char* const entry = plan.whole ? "gemm_whole" : "gemm_tiles";
  Gemm product = gemm;
  if (split > 1) {
    product.epilogue = {};
    product.c = call.Temp(gemm.c.type, {split, gemm.c.count});
  }
  {
    const KernelKey key =
        CommonKey(entry, product).Number(tile.bm).Number(tile.bn).Number(tile.bk).Number(split);
    Launch launch(call, key, [&] {
      return Source{"gemm.cl", Common(product) + TileText(plan), entry};
    });
    launch.Memory(gemm.a).Memory(gemm.b).Memory(product.c).Value(gemm.p);
    if (!plan.whole) launch.Value(gemm.w);
    for (const Tensor& tensor : product.epilogue.tensors) launch.Memory(tensor);
    const auto items = static_cast<size_t>(tile.items());
    launch.Run({Groups(gemm.p.n, tile.bn) * items, Groups(gemm.p.m, tile.bm),
                static_cast<size_t>(gemm.batches * split)},
               {items, 1, 1});
  }
  if (split == 1) return;
  Launch join(call, CommonKey("gemm_join", gemm).Number(split), [&] {
    return Source{"gemm.cl", Common(gemm) + "#define JOIN\n#define SPLIT " + N(split) + "\n",
                  "gemm_join"};
  });
  join.Memory(product.c).Memory(gemm.c).Value(static_cast<cl_ulong>(gemm.c.count)).Int(gemm.p.n);
  for (const Tensor& tensor : gemm.epilogue.tensors) join.Memory(tensor);
  join.Run(gemm.c.count);
}

// The rows, columns and vector of a CPU's kernel: accumulators, a row of b and one element of a
// fill the vector registers, 32 of 64 bytes or 16 of 32.
struct Panel {
  int rows, columns, vector;
};

Panel ChoosePanel(Device& device, const Gemm& gemm) {
  const bool wide = FactOf<cl_uint>(device.id(), CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT) >= 16;
  const int vector = (wide ? 16 : 8) / (TypeOf(gemm.a.type).bytes > 4 ? 2 : 1);
  const int most = wide ? 12 : 6;
  const int rows = gemm.p.m >= most ? most : std::max(1, gemm.p.m);
  return {rows, 2 * vector, vector};
}

void RunPanels(Call& call, const Gemm& gemm) {
  const Panel panel = ChoosePanel(call.device(), gemm);
  const ElementType& type = TypeOf(gemm.a.type);
  const size_t computed = type.bytes > 4 ? 8 : 4;
  const bool shared = gemm.p.b_outer == 0 && gemm.p.b_inner == 0;
  // Each element of b is used once: packing would only add work.
  const bool direct = gemm.p.m <= panel.rows && !gemm.transpose_b &&
                      gemm.p.n % panel.columns == 0 && type.bytes == computed;
  const auto source = [&](const char* entry) {
    return [&, entry] {
      return Source{"gemm.cl",
                    Common(gemm) + "#define MR " + N(panel.rows) + "\n#define NR " +
                        N(panel.columns) + "\n#define VECTOR " + N(panel.vector) + "\n" +
                        (direct   ? "#define DIRECT_B\n"
                         : shared ? "#define SHARED_B\n"
                                  : ""),
                    entry};
    };
  };
  const auto key = [&](const char* entry) {
    return CommonKey(entry, gemm)
        .Number(panel.rows)
        .Number(panel.columns)
        .Number(panel.vector)
        .Number(direct ? 2 : shared);
  };
  const size_t wide = Groups(gemm.p.n, panel.columns);
  const auto batches = static_cast<size_t>(gemm.batches);
  Tensor panels = gemm.b;
  size_t panel_bytes = gemm.b.bytes();
  if (!direct) {
    const size_t packed = shared ? 1 : batches;
    panel_bytes = packed * wide * static_cast<size_t>(gemm.p.k) *
                  static_cast<size_t>(panel.columns) * computed;
    panels.data = call.TempBytes(panel_bytes);
    Launch pack(call, key("pack_b"), source("pack_b"));
    pack.Memory(gemm.b).Memory(panels.data, panel_bytes, computed).Value(gemm.p);
    pack.Run({Groups(gemm.p.k, 64), wide, packed}, {1, 1, 1});
  }
  // What a window reads outside of the image.
  Tensor zeros = gemm.a;
  if (gemm.window != WindowKind::kNone) {
    zeros = call.Temp(gemm.a.type, {gemm.w.channels});
    Clear(call, zeros);
  }
  Launch launch(call, key("gemm_panels"), source("gemm_panels"));
  launch.Memory(gemm.a).Memory(panels.data, panel_bytes, computed).Memory(gemm.c);
  launch.Value(gemm.p).Value(gemm.w).Memory(zeros);
  for (const Tensor& tensor : gemm.epilogue.tensors) launch.Memory(tensor);
  launch.Run({Groups(gemm.p.m, panel.rows), wide, batches}, {1, 1, 1});
}

void RunPlain(Call& call, const Gemm& gemm) {
  Launch launch(call, {"gemm.cl", Common(gemm) + "#define PLAIN\n", "gemm_plain"});
  launch.Memory(gemm.a).Memory(gemm.b).Memory(gemm.c).Value(gemm.p);
  launch.Run({static_cast<size_t>(gemm.p.n), static_cast<size_t>(gemm.p.m),
              static_cast<size_t>(gemm.batches)},
             {64, 1, 1});
}

// The kernel of panels reads a along k: other orders are copied first.
void Straighten(Call& call, Gemm* gemm) {
  Tensor straight = gemm->a;
  const int64_t m = gemm->p.m, k = gemm->p.k, inner = gemm->p.batches_inner;
  const int64_t outer = gemm->batches / inner;
  straight.dims = {outer, inner, m, k};
  straight.count = Count(straight.dims);
  straight.data = call.Temp(gemm->a.type, straight.dims).data;
  CopyStrided(
      call, gemm->a, 0, straight, 0,
      {straight.dims,
       {{gemm->p.a_outer, gemm->p.a_inner, 1, gemm->p.a_step}, RowMajorStrides(straight.dims)}});
  gemm->a = straight;
  gemm->transpose_a = false;
  gemm->p.a_step = static_cast<cl_int>(k);
  gemm->p.a_inner = m * k;
  gemm->p.a_outer = inner * m * k;
}

}  // namespace

Epilogue MakeEpilogue(const std::vector<std::string>& steps, const std::vector<Tensor>& operands,
                      float epsilon, float alpha) {
  Epilogue epilogue;
  const auto next = [&](const std::string& step) {
    if (epilogue.tensors.size() == operands.size())
      Refuse("fused op " + step + " lacks an operand");
    epilogue.tensors.push_back(operands[epilogue.tensors.size()]);
    return "e" + N(static_cast<int64_t>(epilogue.tensors.size()) - 1);
  };
  for (const std::string& step : steps) {
    if (step == "BiasAdd") {
      epilogue.code += "v += X_GET(" + next(step) + ", column); ";
    } else if (step == "Add") {
      epilogue.code += "v += X_GET(" + next(step) + ", at); ";
    } else if (step == "FusedBatchNorm") {
      const std::string scale = next(step), offset = next(step), mean = next(step),
                        variance = next(step);
      epilogue.code += Joined({"v = (v - X_GET(", mean, ", column)) * (X_GET(", scale,
                               ", column) / sqrt(X_GET(", variance, ", column) + ",
                               FloatText("X_C", epsilon), ")) + X_GET(", offset, ", column); "});
    } else {
      const auto* row = std::find_if(std::begin(kActivations), std::end(kActivations),
                                     [&](const Activation& a) { return step == a.name; });
      if (row == std::end(kActivations)) NotImplemented("OpenCL: fused op " + step);
      std::string code = row->code;
      const size_t at = code.find("ALPHA");
      if (at != code.npos) code.replace(at, 5, FloatText("X_C", alpha));
      epilogue.code += code + " ";
    }
  }
  return epilogue;
}

cl_int ProductSize(int64_t size) {
  if (size > INT_MAX)
    NotImplemented("OpenCL: a product with a dimension of " + std::to_string(size));
  return static_cast<cl_int>(size);
}

void RunGemm(Call& call, const Gemm& gemm) {
  if (gemm.c.count == 0) return;
  if (gemm.p.k == 0 && gemm.epilogue.code.empty()) return Clear(call, gemm.c);
  if (TypeOf(gemm.a.type).kind != Kind::kFloat) return RunPlain(call, gemm);
  if (call.device().is_gpu()) return RunTiles(call, gemm);
  Gemm own = gemm;
  if (own.transpose_a) Straighten(call, &own);
  RunPanels(call, own);
}

}  // namespace opencl
