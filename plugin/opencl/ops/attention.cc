// _TenonAttention: softmax(query * key^T * scale + mask) * value. The mask broadcasts to [batch,
// heads, rows of the query, rows of the key]; the other tensors are [batch, rows, heads, columns],
// or with heads_first [batch, heads, rows, columns].

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>

#include "../base/gemm.h"
#include "../base/launch.h"
#include "../base/map.h"
#include "../base/registry.h"
#include "../base/strided.h"
#include "../base/text.h"
#include "families.h"
#include "row_ends.h"

namespace opencl {
namespace {

enum Side { kBatch, kHead, kRow, kColumn };

// A tensor by these four sides, however it is stored. The step of a side of 1 is 0.
struct View {
  Tensor tensor;
  std::array<int64_t, 4> dims = {1, 1, 1, 1}, steps = {};
};

// A tensor of rank 4 or, as the mask may be, less: sides that lack are 1.
View ViewOf(const Tensor& tensor, bool heads_first) {
  View view{tensor};
  const Dims strides = RowMajorStrides(tensor.dims);
  const size_t lead = view.dims.size() - tensor.dims.size();
  for (size_t d = 0; d < tensor.dims.size(); ++d) {
    view.dims[lead + d] = tensor.dims[d];
    view.steps[lead + d] = tensor.dims[d] == 1 ? 0 : strides[d];
  }
  if (!heads_first) {
    std::swap(view.dims[kHead], view.dims[kRow]);
    std::swap(view.steps[kHead], view.steps[kRow]);
  }
  return view;
}

int64_t CommonSize(const char* what, std::initializer_list<int64_t> sizes) {
  int64_t common = 1;
  for (const int64_t size : sizes) {
    if (size == 1 || size == common) continue;
    if (common != 1) {
      Refuse(std::string("_TenonAttention: ") + what + " must be equal or 1, but are " +
             std::to_string(common) + " and " + std::to_string(size));
    }
    common = size;
  }
  return common;
}

// One call: what it reads and how large that is.
struct Heads {
  View query, key, value;
  std::optional<View> mask;
  float scale = 1;
  int64_t batch = 1, heads = 1, rows = 1, keys = 1;

  int64_t depth() const { return key.dims[kColumn]; }
  int64_t width() const { return value.dims[kColumn]; }
};

Heads HeadsOf(const Call& call, float scale, bool heads_first) {
  for (int i = 0; i < 3; ++i) {
    if (call.In(i).rank() != 4)
      Refuse("_TenonAttention: input " + std::to_string(i) + " must have rank 4, not " +
             std::to_string(call.In(i).rank()));
  }
  Heads h{ViewOf(call.In(0), heads_first), ViewOf(call.In(1), heads_first),
          ViewOf(call.In(2), heads_first), std::nullopt, scale};
  if (call.inputs() > 3) {
    const Tensor mask = call.In(3);
    if (mask.rank() > 4)
      Refuse("_TenonAttention: the mask " + ShapeText(mask.dims) + " has too high a rank");
    h.mask = ViewOf(mask, true);
  }
  const std::array<int64_t, 4> mask = h.mask ? h.mask->dims : std::array<int64_t, 4>{1, 1, 1, 1};
  const auto common = [&](const char* what, Side side) {
    return CommonSize(what, {h.query.dims[side], h.key.dims[side], h.value.dims[side], mask[side]});
  };
  h.batch = common("the batches", kBatch);
  h.heads = common("the heads", kHead);
  h.rows = CommonSize("the rows of query and mask", {h.query.dims[kRow], mask[kRow]});
  h.keys = CommonSize("the keys and columns of the mask", {h.key.dims[kRow], mask[kColumn]});
  if (h.keys != h.value.dims[kRow]) {
    Refuse("_TenonAttention: there must be as many keys as values, but there are " +
           std::to_string(h.keys) + " and " + std::to_string(h.value.dims[kRow]));
  }
  if (h.query.dims[kColumn] != h.depth()) {
    Refuse("_TenonAttention: queries and keys must be equally long, but have " +
           std::to_string(h.query.dims[kColumn]) + " and " + std::to_string(h.depth()) + " values");
  }
  return h;
}

// --- One kernel, for GPUs ---

// attention.cl, Steps and Attention.
struct StepNumbers {
  cl_long batch, head, row;
};
struct AttentionNumbers {
  StepNumbers query, key, value, mask, out;
  cl_long mask_key;
  cl_int heads, rows, keys;
  cl_float scale;
};

StepNumbers StepsOf(const View& view) {
  return {view.steps[kBatch], view.steps[kHead], view.steps[kRow]};
}

// attention.cl: LINES, and the work-items of a group.
constexpr int kLines = 8, kItems = 128;

// What a work-group takes at a time: `each` rows for a work-item, and a block of keys. Both are in
// local memory, which has 48 KB.
struct Blocks {
  int each, block;

  int64_t Groups(int64_t rows) const { return (rows + kLines * each - 1) / (kLines * each); }
};

// Whether the kernel can load four elements at once.
bool IsOfFours(const View& view) {
  return reinterpret_cast<uintptr_t>(view.tensor.data) % 16 == 0 && view.dims[kColumn] % 4 == 0;
}

// Nothing where the chain of kernels is faster, or the only way. More rows for a work-item reuse
// more of what it loads; there must be enough of them for all compute units. Where rows are few
// and keys many, groups that walk over the keys alone leave most units without work.
std::optional<Blocks> BlocksOf(const Device& device, const Heads& h) {
  constexpr int kMostColumns = 128, kFewKeys = 256;
  if (!device.is_gpu() || device.most_work_items() < kItems || h.keys == 0 || h.depth() == 0)
    return {};
  if (!IsOfFours(h.query) || !IsOfFours(h.key) || !IsOfFours(h.value)) return {};
  if (h.depth() > kMostColumns || h.width() > kMostColumns) return {};
  const bool small = h.depth() <= 64 && h.width() <= 64;
  const Blocks most{4, small ? 32 : 16}, some{2, small ? 64 : 32}, least{1, some.block};
  const auto groups = [&](const Blocks& blocks) {
    return h.batch * h.heads * blocks.Groups(h.rows);
  };
  const int units = device.compute_units();
  if (4 * groups(least) < units && h.keys > kFewKeys) return {};
  return groups(most) >= 2 * units ? most : groups(some) >= 2 * units ? some : least;
}

void RunAtOnce(Call& call, const Heads& h, const Blocks& blocks, const View& out) {
  const KernelKey key = KernelKey("attention")
                            .Number(h.depth())
                            .Number(h.width())
                            .Number(blocks.each)
                            .Number(h.mask.has_value());
  Launch launch(call, key, [&] {
    const auto define = [](const char* name, int64_t value) {
      return Joined({"#define ", name, " ", std::to_string(value), "\n"});
    };
    return Source{"attention.cl",
                  define("DEPTH", h.depth()) + define("WIDTH", h.width()) +
                      define("EACH", blocks.each) + define("BLOCK", blocks.block) +
                      (h.mask ? "#define MASKED\n" : ""),
                  "attention"};
  });
  AttentionNumbers numbers{StepsOf(h.query), StepsOf(h.key), StepsOf(h.value), {}, StepsOf(out)};
  launch.Memory(h.query.tensor).Memory(h.key.tensor).Memory(h.value.tensor);
  if (h.mask) {
    numbers.mask = StepsOf(*h.mask);
    numbers.mask_key = h.mask->steps[kColumn];
    launch.Memory(h.mask->tensor);
  }
  numbers.heads = static_cast<cl_int>(h.heads);
  numbers.rows = ProductSize(h.rows);
  numbers.keys = ProductSize(h.keys);
  numbers.scale = h.scale;
  launch.Memory(out.tensor).Value(numbers);
  launch.Run({static_cast<size_t>(blocks.Groups(h.rows) * kItems),
              static_cast<size_t>(h.batch * h.heads), 1},
             {kItems, 1, 1});
}

// --- A product, a softmax, a product ---

// The product of each head's matrix in `a` by that in `b`.
void RunProduct(Call& call, const Heads& h, const View& a, const View& b, bool transpose_b,
                int64_t m, int64_t n, int64_t k, const Tensor& c) {
  Gemm gemm;
  gemm.a = a.tensor;
  gemm.b = b.tensor;
  gemm.c = c;
  gemm.transpose_b = transpose_b;
  gemm.batches = h.batch * h.heads;
  gemm.p = {ProductSize(m),
            ProductSize(n),
            ProductSize(k),
            ProductSize(a.steps[kRow]),
            ProductSize(b.steps[kRow]),
            ProductSize(n),
            ProductSize(h.heads),
            0,
            a.steps[kBatch],
            a.steps[kHead],
            b.steps[kBatch],
            b.steps[kHead]};
  RunGemm(call, gemm);
}

// scores = softmax(scores * scale + mask), rounded where a chain of ops rounds.
void RunWeights(Call& call, const Heads& h, const Tensor& scores) {
  const std::string scaled =
      h.scale == 1 ? "r = x0;" : "r = x0 * " + FloatText("X0_C", h.scale) + ";";
  if (!h.mask && h.scale == 1) return RunSoftmax(call, {scores}, false, scores);
  const MapBody body{scaled + (h.mask ? " r += x1;" : "")};
  std::vector<Tensor> inputs = {scores};
  if (h.mask) inputs.push_back(h.mask->tensor);
  const MapRows map(call.device(), body, inputs, scores, 1);
  if (map.fits()) return RunSoftmax(call, {scores, &map}, false, scores);
  RunBroadcastMap(call, body, inputs, scores);
  RunSoftmax(call, {scores}, false, scores);
}

void RunChain(Call& call, const Heads& h, const View& out, bool heads_first) {
  const Tensor scores = call.Temp(TF_FLOAT, {h.batch, h.heads, h.rows, h.keys});
  RunProduct(call, h, h.query, h.key, true, h.rows, h.keys, h.depth(), scores);
  if (scores.count != 0) RunWeights(call, h, scores);
  const Tensor result =
      heads_first ? out.tensor : call.Temp(TF_FLOAT, {h.batch, h.heads, h.rows, h.width()});
  RunProduct(call, h, ViewOf(scores, true), h.value, false, h.rows, h.width(), h.keys, result);
  if (!heads_first) Permute(call, result, {0, 2, 1, 3}, out.tensor);
}

class Attention {
 public:
  Attention(const Construction& node, const PlainRow&)
      : scale_(node.Float("scale")), heads_first_(node.Bool("heads_first")) {}
  void Compute(Call& call) const {
    const Heads h = HeadsOf(call, scale_, heads_first_);
    const Dims dims = heads_first_ ? Dims{h.batch, h.heads, h.rows, h.width()}
                                   : Dims{h.batch, h.rows, h.heads, h.width()};
    const View out = ViewOf(call.Out(0, dims), heads_first_);
    if (out.tensor.count == 0) return;
    if (const std::optional<Blocks> blocks = BlocksOf(call.device(), h))
      return RunAtOnce(call, h, *blocks, out);
    RunChain(call, h, out, heads_first_);
  }

 private:
  const float scale_;
  const bool heads_first_;
};

constexpr PlainRow kAttention[] = {{{"_TenonAttention", kF32}}};

}  // namespace

void RegisterAttention() { RegisterTable<Attention, kAttention>(); }

}  // namespace opencl
