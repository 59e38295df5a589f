#include "gemm.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <climits>
#include <cstdint>
#include <functional>
#include <optional>

#include "launch.h"
#include "strided.h"
#include "text.h"
#include "tiles.h"

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

// The seconds of one of some runs in a row, so many that the wait for their end counts little.
double TimeOf(Call& call, const std::function<void()>& run) {
  constexpr double kRowSeconds = 5e-4, kMostSeconds = 5e-3;
  constexpr int kMostRuns = 16, kRows = 3;
  const auto seconds_of = [&](int runs) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < runs; ++i) run();
    call.stream().Finish();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / runs;
  };
  seconds_of(1);  // compiles
  double least = seconds_of(1);
  const int runs = std::clamp(static_cast<int>(kRowSeconds / least), 1, kMostRuns);
  for (int row = 0; row < kRows && least * runs * row < kMostSeconds; ++row)
    least = std::min(least, seconds_of(runs));
  return least;
}

// The key of a choice among ways to compute products of about this size.
KernelKey ChoiceKey(const char* choice, const Gemm& gemm) {
  KernelKey key(choice);
  key.Number(gemm.a.type).Number(gemm.transpose_a).Number(gemm.transpose_b);
  key.Number(static_cast<int>(gemm.window));
  for (const int64_t size : {int64_t{gemm.p.m}, int64_t{gemm.p.n}, int64_t{gemm.p.k}, gemm.batches})
    key.Number(std::bit_width(static_cast<uint64_t>(size)));
  return key;
}

// --- Products of a GPU ---

// Room for the results of the parts of k; none where k is in one.
Tensor PartsOf(Call& call, const Gemm& gemm, int split) {
  return split == 1 ? Tensor() : call.Temp(gemm.c.type, {split, gemm.c.count});
}

void RunPlan(Call& call, const Gemm& gemm, const Plan& plan, const Tensor& parts) {
  const Tile& tile = plan.tile;
  const int split = plan.split;
  const char* const entry = plan.whole ? "gemm_whole" : "gemm_tiles";
  Gemm product = gemm;
  if (split > 1) {
    product.epilogue = {};
    product.c = parts;
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

Plan ChoosePlan(Call& call, const Gemm& gemm) {
  Tuner& tuner = call.device().tuner();
  if (!tuner.on()) return MakePlan(call.device(), gemm);
  const std::vector<Plan> plans = PlansToTry(call.device(), gemm);
  KernelKey key = ChoiceKey("plan", gemm);
  int most = 1;
  for (const Plan& plan : plans) {
    key.Number(plan.tile.bm).Number(plan.tile.bn).Number(plan.tile.bk);
    key.Number(plan.whole).Number(plan.split);
    most = std::max(most, plan.split);
  }
  Tensor parts;
  return plans[tuner.Choose(key, plans.size(), [&](size_t way) {
    if (parts.data == nullptr) parts = PartsOf(call, gemm, most);
    return TimeOf(call, [&] { RunPlan(call, gemm, plans[way], parts); });
  })];
}

void RunTiles(Call& call, const Gemm& gemm) {
  const Plan plan = ChoosePlan(call, gemm);
  RunPlan(call, gemm, plan, PartsOf(call, gemm, plan.split));
}

// --- Products of a CPU ---

// How the kernel of panels reads b.
enum class Packing { kEach, kShared, kDirect };

Packing PackingOf(const Gemm& gemm, const Panel& panel) {
  // Each element of b is used once: packing would only add work.
  if (gemm.p.m <= panel.rows && !gemm.transpose_b && gemm.p.n % panel.columns == 0 &&
      TypeOf(gemm.a.type).bytes >= 4)
    return Packing::kDirect;
  return gemm.p.b_outer == 0 && gemm.p.b_inner == 0 ? Packing::kShared : Packing::kEach;
}

size_t ComputedBytes(const Gemm& gemm) { return TypeOf(gemm.a.type).bytes > 4 ? 8 : 4; }

size_t PackedBytes(const Gemm& gemm, const Panel& panel) {
  const Packing packing = PackingOf(gemm, panel);
  if (packing == Packing::kDirect) return 0;
  const auto matrices = packing == Packing::kShared ? 1 : static_cast<size_t>(gemm.batches);
  return matrices * Groups(gemm.p.n, panel.columns) * static_cast<size_t>(gemm.p.k) *
         static_cast<size_t>(panel.columns) * ComputedBytes(gemm);
}

// What the kernel of panels needs beside operands and result: b in panels, and what a window reads
// outside of the image.
struct PanelRoom {
  void* packed = nullptr;
  Tensor zeros;
};

PanelRoom MakeRoom(Call& call, const Gemm& gemm, size_t packed_bytes) {
  PanelRoom room{nullptr, gemm.a};
  if (packed_bytes != 0) room.packed = call.TempBytes(packed_bytes);
  if (gemm.window == WindowKind::kNone) return room;
  room.zeros = call.Temp(gemm.a.type, {gemm.w.channels});
  Clear(call, room.zeros);
  return room;
}

void RunPanel(Call& call, const Gemm& gemm, const Panel& panel, const PanelRoom& room) {
  const Packing packing = PackingOf(gemm, panel);
  const auto source = [&](const char* entry) {
    return [&, entry] {
      return Source{"gemm.cl",
                    Common(gemm) + "#define MR " + N(panel.rows) + "\n#define NR " +
                        N(panel.columns) + "\n#define VECTOR " + N(panel.vector) + "\n" +
                        (packing == Packing::kDirect   ? "#define DIRECT_B\n"
                         : packing == Packing::kShared ? "#define SHARED_B\n"
                                                       : ""),
                    entry};
    };
  };
  const auto key = [&](const char* entry) {
    return CommonKey(entry, gemm)
        .Number(panel.rows)
        .Number(panel.columns)
        .Number(panel.vector)
        .Number(static_cast<int64_t>(packing));
  };
  const size_t wide = Groups(gemm.p.n, panel.columns), computed = ComputedBytes(gemm);
  const auto batches = static_cast<size_t>(gemm.batches);
  const bool direct = packing == Packing::kDirect;
  const void* const panels = direct ? gemm.b.data : room.packed;
  const size_t panel_bytes = direct ? gemm.b.bytes() : PackedBytes(gemm, panel);
  if (!direct) {
    Launch pack(call, key("pack_b"), source("pack_b"));
    pack.Memory(gemm.b).Memory(panels, panel_bytes, computed).Value(gemm.p);
    pack.Run({Groups(gemm.p.k, 64), wide, packing == Packing::kShared ? 1 : batches}, {1, 1, 1});
  }
  Launch launch(call, key("gemm_panels"), source("gemm_panels"));
  launch.Memory(gemm.a).Memory(panels, panel_bytes, computed).Memory(gemm.c);
  launch.Value(gemm.p).Value(gemm.w).Memory(room.zeros);
  for (const Tensor& tensor : gemm.epilogue.tensors) launch.Memory(tensor);
  launch.Run({Groups(gemm.p.m, panel.rows), wide, batches}, {1, 1, 1});
}

Panel ChoosePanel(Call& call, const Gemm& gemm) {
  Tuner& tuner = call.device().tuner();
  if (!tuner.on()) return MakePanel(call.device(), gemm);
  const std::vector<Panel> panels = PanelsToTry(call.device(), gemm);
  KernelKey key = ChoiceKey("panel", gemm);
  size_t most = 0;
  for (const Panel& panel : panels) {
    key.Number(panel.rows).Number(panel.columns).Number(panel.vector);
    most = std::max(most, PackedBytes(gemm, panel));
  }
  std::optional<PanelRoom> room;
  return panels[tuner.Choose(key, panels.size(), [&](size_t way) {
    if (!room) room = MakeRoom(call, gemm, most);
    return TimeOf(call, [&] { RunPanel(call, gemm, panels[way], *room); });
  })];
}

void RunPanels(Call& call, const Gemm& gemm) {
  const Panel panel = ChoosePanel(call, gemm);
  RunPanel(call, gemm, panel, MakeRoom(call, gemm, PackedBytes(gemm, panel)));
}

void RunPlain(Call& call, const Gemm& gemm) {
  Launch launch(call, CommonKey("gemm_plain", gemm), [&] {
    return Source{"gemm.cl", Common(gemm) + "#define PLAIN\n", "gemm_plain"};
  });
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
