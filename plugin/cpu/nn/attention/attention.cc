// _TenonAttention: softmax(query * key^T * scale + mask) * value, some rows of one head at a time,
// so that scores are never in memory as a whole.
#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/arrays/transpose_tile.h"
#include "plugin/cpu/base/isa.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/tiles.h"
#include "plugin/cpu/linalg/products/small_gemm.h"
#include "plugin/cpu/nn/attention/attention_rows.h"
#include "plugin/cpu/nn/attention/softmax_rows.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

enum AttentionInput { kQuery, kKey, kValue, kMask };
enum AttentionDim { kBatch, kHead, kRow, kColumn };
using FourDims = std::array<int64_t, 4>;  // batch, head, row, column, wherever heads are stored

// Where the elements of a tensor lie; 0 where one dimension serves all.
struct View {
  FourDims dims, strides;
  int64_t At(int64_t batch, int64_t head, int64_t row) const {
    return batch * strides[kBatch] + head * strides[kHead] + row * strides[kRow];
  }
};

struct Attention {
  View query, key, value, mask, output;
  bool masked = false;
  float scale = 1;
  int64_t rows = 0;    // of queries that one tile computes
  int64_t blocks = 0;  // of rows in one head
  SmallGemmFn multiply = nullptr;
  TransposeTile transpose = nullptr;
  void (*softmax)(const SoftmaxRows&) = nullptr;
  void (*scale_and_mask)(const MaskedRow&) = nullptr;
  void (*dots)(const DotProducts&) = nullptr;

  int64_t keys() const { return mask.dims[kColumn]; }
  int64_t tiles() const { return output.dims[kBatch] * output.dims[kHead] * blocks; }
  // Too few rows for the keys to be transposed for them.
  bool few_rows() const { return output.dims[kRow] < 8; }
  int64_t key_elements() const { return few_rows() ? 0 : key.dims[kColumn] * keys(); }
};

// The scores of `n` queries of one head; `transposed` has room for the keys.
void ComputeScores(const Attention& s, const float* query, const float* key, int64_t n,
                   float* transposed, float* scores) {
  const int64_t k = s.key.dims[kColumn], keys = s.keys(), key_row = s.key.strides[kRow];
  if (s.few_rows()) {
    for (int64_t r = 0; r < n; ++r)
      s.dots({query + r * s.query.strides[kRow], key, key_row, keys, k, scores + r * keys});
    return;
  }
  const auto bytes = [](int64_t elements) {
    return elements * static_cast<int64_t>(sizeof(float));
  };
  // The product wants b's rows contiguous along the keys: query * key^T reads keys by columns.
  s.transpose(reinterpret_cast<const char*>(key), bytes(key_row),
              reinterpret_cast<char*>(transposed), bytes(keys), keys, k, false);
  SmallGemm g = {};
  g.m = n, g.n = keys, g.k = k;
  g.a = query, g.a_row = s.query.strides[kRow], g.a_col = 1;
  g.b = transposed, g.b_row = keys;
  g.c = scores, g.c_row = keys;
  s.multiply(g);
}

absl::Status ComputeTile(const Attention& s, const StepArgs& args, int64_t tile, float* scratch) {
  const auto in = [&](int i) { return static_cast<const float*>(args.in[i]); };
  const int64_t head = tile / s.blocks % s.output.dims[kHead],
                batch = tile / s.blocks / s.output.dims[kHead], row = tile % s.blocks * s.rows;
  const int64_t n = std::min(s.rows, s.output.dims[kRow] - row), keys = s.keys();
  float* const transposed = scratch;
  float* const scores = scratch + s.key_elements();
  ComputeScores(s, in(kQuery) + s.query.At(batch, head, row), in(kKey) + s.key.At(batch, head, 0),
                n, transposed, scores);
  for (int64_t r = 0; r < n && (s.masked || s.scale != 1); ++r) {
    const float* const mask = s.masked ? in(kMask) + s.mask.At(batch, head, row + r) : nullptr;
    s.scale_and_mask({scores + r * keys, keys, s.scale, mask, s.mask.strides[kColumn] == 0});
  }
  s.softmax({scores, scores, n, keys});
  SmallGemm g = {};
  g.m = n, g.n = s.value.dims[kColumn], g.k = keys;
  g.a = scores, g.a_row = keys, g.a_col = 1;
  g.b = in(kValue) + s.value.At(batch, head, 0), g.b_row = s.value.strides[kRow];
  g.c = static_cast<float*>(args.out[0]) + s.output.At(batch, head, row);
  g.c_row = s.output.strides[kRow];
  s.multiply(g);
  return absl::OkStatus();
}

size_t SlotBytes(const Attention& s) {
  return AlignedBytes((s.key_elements() + s.rows * s.keys()) * sizeof(float));
}

absl::Status RunAttention(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Attention*>(state);
  return ForEachTile(args, s.tiles(), SlotBytes(s), [&](int64_t tile, char* scratch) {
    return ComputeTile(s, args, tile, reinterpret_cast<float*>(scratch));
  });
}

// A tensor of rank 4 or, as the mask may be, less: dimensions that lack are 1.
View ViewOf(const Shape& shape, bool heads_first) {
  FourDims stored = {1, 1, 1, 1}, strides = {};
  std::copy(shape.dims().begin(), shape.dims().end(), stored.end() - shape.rank());
  for (int64_t i = 3, stride = 1; i >= 0; stride *= stored[i--])
    strides[i] = stored[i] == 1 ? 0 : stride;
  if (!heads_first) {
    std::swap(stored[1], stored[2]);
    std::swap(strides[1], strides[2]);
  }
  return {stored, strides};
}

absl::StatusOr<int64_t> CommonDim(const Prepare& p, std::string_view what,
                                  std::initializer_list<int64_t> sizes) {
  int64_t common = 1;
  for (int64_t size : sizes) {
    if (size == 1 || size == common) continue;
    if (common != 1)
      return p.Invalid(absl::StrCat(what, " must be equal or 1, but are ", common, " and ", size));
    common = size;
  }
  return common;
}

// Returns the rows of queries that a tile takes. Their scores, 256 KB of floats, should stay in the
// second cache; at least 32 rows, since each tile transposes all keys. Several threads want some
// tiles each, of which the heads of the batch make one at least. No bit depends on the rows.
int64_t RowsOfTile(int64_t rows, int64_t keys, int64_t heads, int64_t threads) {
  constexpr int64_t kScores = 64 << 10;
  constexpr int64_t kLeast = 32, kMost = 256, kTilesOfThread = 3;
  int64_t most = std::min(rows, std::clamp(kScores / std::max<int64_t>(keys, 1), kLeast, kMost));
  if (threads > 1) {
    const int64_t blocks = (kTilesOfThread * threads + heads - 1) / heads;
    most = std::min(most, std::max((rows + blocks - 1) / blocks, kLeast));
  }
  return most;
}

absl::Status PrepareAttention(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const bool heads_first, p.AttrBool("heads_first"));
  auto s = std::make_shared<Attention>();
  TENON_ASSIGN_OR_RETURN(s->scale, p.AttrFloat("scale"));
  s->masked = p.num_inputs() > kMask;
  for (int i : {kQuery, kKey, kValue}) {
    if (p.input_shape(i).rank() != 4)
      return p.Invalid(
          absl::StrCat("input ", i, " must have rank 4, not ", p.input_shape(i).rank()));
  }
  s->query = ViewOf(p.input_shape(kQuery), heads_first);
  s->key = ViewOf(p.input_shape(kKey), heads_first);
  s->value = ViewOf(p.input_shape(kValue), heads_first);
  if (s->masked && p.input_shape(kMask).rank() > 4)
    return p.Invalid(
        absl::StrCat("the mask ", p.input_shape(kMask).ToString(), " has too high a rank"));
  s->mask = s->masked ? ViewOf(p.input_shape(kMask), true) : View{{1, 1, 1, 1}, {}};
  const auto common = [&](std::string_view what, AttentionDim d) {
    return CommonDim(p, what,
                     {s->query.dims[d], s->key.dims[d], s->value.dims[d], s->mask.dims[d]});
  };
  FourDims out;
  TENON_ASSIGN_OR_RETURN(out[kBatch], common("the batches", kBatch));
  TENON_ASSIGN_OR_RETURN(out[kHead], common("the heads", kHead));
  TENON_ASSIGN_OR_RETURN(out[kRow], CommonDim(p, "the rows of query and mask",
                                              {s->query.dims[kRow], s->mask.dims[kRow]}));
  TENON_ASSIGN_OR_RETURN(const int64_t keys, CommonDim(p, "the keys and columns of the mask",
                                                       {s->key.dims[kRow], s->mask.dims[kColumn]}));
  if (keys != s->value.dims[kRow])
    return p.Invalid(absl::StrCat("there must be as many keys as values, but there are ", keys,
                                  " and ", s->value.dims[kRow]));
  if (s->query.dims[kColumn] != s->key.dims[kColumn])
    return p.Invalid(absl::StrCat("queries and keys must be equally long, but have ",
                                  s->query.dims[kColumn], " and ", s->key.dims[kColumn],
                                  " values"));
  out[kColumn] = s->value.dims[kColumn];
  Dims stored(out.begin(), out.end());
  if (!heads_first) std::swap(stored[1], stored[2]);
  TENON_ASSIGN_OR_RETURN(Shape shape, CheckedShape(p, stored));
  s->output = ViewOf(shape, heads_first);
  // Without a mask, too: keys() reads it here.
  s->mask.dims[kColumn] = keys;
  p.set_output_shape(0, shape);
  if (shape.num_elements() == 0) return absl::OkStatus();
  s->rows = RowsOfTile(out[kRow], keys, out[kBatch] * out[kHead], p.workers().threads());
  s->blocks = (out[kRow] + s->rows - 1) / s->rows;
  s->multiply = ChooseSmallGemm();
  s->transpose = FindTransposeTile(sizeof(float));
  s->softmax =
      SelectIsa<void (*)(const SoftmaxRows&)>(&sse2::Softmax, &avx2::Softmax, &avx512::Softmax);
  s->scale_and_mask = SelectIsa<void (*)(const MaskedRow&)>(
      &sse2::ScaleAndMask, &avx2::ScaleAndMask, &avx512::ScaleAndMask);
  s->dots = SelectIsa<void (*)(const DotProducts&)>(
      &sse2::MultiplyWithKeys, &avx2::MultiplyWithKeys, &avx512::MultiplyWithKeys);
  p.set_scratch_bytes(TileScratchBytes(p.workers(), s->tiles(), SlotBytes(*s)));
  p.set_run(&RunAttention, s);
  return absl::OkStatus();
}

const CpuKernelSpec kAttentionKernels[] = {
    {"_TenonAttention", {{"T", TypeBit(DataType::kFloat)}}, &PrepareAttention},
};

}  // namespace

absl::Span<const CpuKernelSpec> AttentionKernels() { return kAttentionKernels; }

}  // namespace tenon::cpu
