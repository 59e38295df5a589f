// _TenonCodedMatMul: products of floats with constant weights that are kept in 8 or 4 bits. They
// are expanded in registers or in a cache's worth of memory, or multiplied as bytes by rows that
// become bytes in the run.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/op_defs/byte_sums.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/tiles.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/cpu/linalg/coded/coded_loops.h"
#include "plugin/cpu/linalg/coded/coded_problem.h"
#include "plugin/cpu/linalg/coded/coded_weights.h"
#include "plugin/cpu/linalg/coded/following.h"
#include "plugin/cpu/linalg/products/byte_matmul.h"
#include "plugin/cpu/linalg/products/packed_gemm.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

// Blocks of rows of weights that are expanded at a time: 64 kB of floats for a panel.
constexpr int64_t kBlocksTogether = 8;
constexpr int64_t kRowsTogether = kBlocksTogether * kCodedRows;

// --- Weights in codes, rows in floats.

struct CodedMatMul {
  CodedProblem q;
  int bits = 8;
  std::shared_ptr<const CodedPanels> panels;
  Following following;

  int64_t blocks() const { return CodedBlocks(q.k); }
  int64_t whole_k() const { return blocks() * kCodedRows; }
  int64_t panel_count() const { return (q.n + kCodedColumns - 1) / kCodedColumns; }
  int64_t panel_bytes() const { return blocks() * CodedBlockBytes(bits); }
  const char* panel(int64_t i) const {
    return static_cast<const char*>(panels->memory.data) + i * panel_bytes();
  }
  // Of few rows, which are multiplied where they lie if they end with a block.
  size_t RowBytes() const {
    return q.k == whole_k() ? 0 : AlignedBytes(static_cast<size_t>(q.m * whole_k()) * 4);
  }
};

absl::Status RunFewRows(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const CodedMatMul*>(state);
  const CodedLoops& loops = ChooseCodedLoops();
  const auto* rows = static_cast<const float*>(args.in[0]);
  const int64_t row = s.whole_k();
  if (s.RowBytes() > 0) {
    auto* const copies = static_cast<float*>(args.scratch);
    for (int64_t i = 0; i < s.q.m; ++i) {
      std::copy(rows + i * s.q.k, rows + (i + 1) * s.q.k, copies + i * row);
      std::fill(copies + i * row + s.q.k, copies + (i + 1) * row, 0.0f);
    }
    rows = copies;
  }
  auto* const out = static_cast<float*>(args.out[0]);
  args.workers->ParallelFor(
      s.panel_count(), GrainFor(s.panel_bytes() * s.q.m), [&](int64_t begin, int64_t end) {
        alignas(64) float sums[kMostCodedRows * kCodedColumns];
        for (int64_t i = begin; i < end; ++i) {
          const int64_t j = i * kCodedColumns, count = std::min<int64_t>(kCodedColumns, s.q.n - j);
          const CodedProduct product{s.blocks(), s.panel(i), rows, row, static_cast<int>(s.q.m),
                                     sums};
          (s.bits == 4 ? loops.multiply4 : loops.multiply8)(product);
          for (int64_t r = 0; r < s.q.m; ++r) {
            float* const y = out + r * s.q.n + j;
            std::memcpy(y, sums + r * kCodedColumns, static_cast<size_t>(count) * sizeof(float));
            s.following.Run(args, y, count, j, r * s.q.n + j);
          }
        }
      });
  return absl::OkStatus();
}

// The packed rows of many: blocks of gemm.rows rows, each [k, rows].
size_t PackedRowBytes(const CodedMatMul& s) {
  const int rows = ChoosePackedGemm<float>().rows;
  return AlignedBytes(static_cast<size_t>((s.q.m + rows - 1) / rows * rows * s.whole_k()) * 4);
}

void PackCodedRows(const CodedMatMul& s, const float* a, int rows, int64_t block, float* to) {
  const int64_t first = block * rows, k = s.q.k;
  const int count = static_cast<int>(std::min<int64_t>(rows, s.q.m - first));
  for (int64_t p = 0; p < s.whole_k(); ++p, to += rows) {
    for (int r = 0; r < rows; ++r) to[r] = r < count && p < k ? a[(first + r) * k + p] : 0;
  }
}

// Expands a part of a panel, and multiplies all rows by it.
void MultiplyPanel(const CodedMatMul& s, const float* packed, int64_t panel, float* expanded,
                   float* out) {
  const PackedGemm<float>& gemm = ChoosePackedGemm<float>();
  const CodedLoops& loops = ChooseCodedLoops();
  const int64_t first = panel * kCodedColumns, n = s.q.n;
  for (int64_t i = 0; s.q.k == 0 && i < s.q.m; ++i)
    std::fill(out + i * n + first, out + i * n + std::min(n, first + kCodedColumns), 0.0f);
  for (int64_t b = 0; b < s.blocks(); b += kBlocksTogether) {
    const int64_t blocks = std::min(kBlocksTogether, s.blocks() - b);
    const int64_t depth = blocks * kCodedRows;
    (s.bits == 4 ? loops.expand4 : loops.expand8)(s.panel(panel) + b * CodedBlockBytes(s.bits),
                                                  blocks, gemm.columns, expanded);
    for (int64_t i = 0; i < s.q.m; i += gemm.rows) {
      const float* const rows = packed + i * s.whole_k() + b * kCodedRows * gemm.rows;
      for (int64_t j = first; j < std::min(n, first + kCodedColumns); j += gemm.columns) {
        gemm.multiply(depth, rows, expanded + (j - first) * depth,
                      static_cast<int>(std::min<int64_t>(gemm.rows, s.q.m - i)),
                      static_cast<int>(std::min<int64_t>(gemm.columns, n - j)), out + i * n + j, n,
                      b == 0 ? SumInto::kSet : SumInto::kAdd);
      }
    }
  }
}

absl::Status RunManyRows(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const CodedMatMul*>(state);
  const int rows = ChoosePackedGemm<float>().rows;
  auto* const packed = static_cast<float*>(args.scratch);
  auto* const out = static_cast<float*>(args.out[0]);
  args.workers->ParallelFor((s.q.m + rows - 1) / rows, GrainFor(s.whole_k() * rows * 4),
                            [&](int64_t begin, int64_t end) {
                              for (int64_t i = begin; i < end; ++i) {
                                PackCodedRows(s, static_cast<const float*>(args.in[0]), rows, i,
                                              packed + i * rows * s.whole_k());
                              }
                            });
  StepArgs rest = args;
  rest.scratch = static_cast<char*>(args.scratch) + PackedRowBytes(s);
  constexpr size_t kSlot = kRowsTogether * kCodedColumns * sizeof(float);
  return ForEachTile(rest, s.panel_count(), kSlot, [&](int64_t panel, char* scratch) {
    MultiplyPanel(s, packed, panel, reinterpret_cast<float*>(scratch), out);
    const int64_t j = panel * kCodedColumns, count = std::min<int64_t>(kCodedColumns, s.q.n - j);
    for (int64_t r = 0; r < s.q.m; ++r)
      s.following.Run(args, out + r * s.q.n + j, count, j, r * s.q.n + j);
    return absl::OkStatus();
  });
}

absl::Status PrepareCoded(Prepare& p, const CodedProblem& q, int bits) {
  TENON_ASSIGN_OR_RETURN(auto panels, PackCodes(p, 1, q.k, q.n, q.transposed, bits));
  auto s =
      std::make_shared<CodedMatMul>(CodedMatMul{q, bits, std::move(panels), Following(q.fused)});
  if (q.m <= kMostCodedRows) {
    p.set_scratch_bytes(s->RowBytes());
    p.set_run(&RunFewRows, std::move(s));
    return absl::OkStatus();
  }
  constexpr size_t kSlot = kRowsTogether * kCodedColumns * sizeof(float);
  p.set_scratch_bytes(PackedRowBytes(*s) + TileScratchBytes(p.workers(), s->panel_count(), kSlot));
  p.set_run(&RunManyRows, std::move(s));
  return absl::OkStatus();
}

// --- Weights and rows in bytes.

struct BytesByRow {
  CodedProblem q;
  ByteMatMul product;
  std::shared_ptr<const ByteWeights> weights;
  Following following;

  // Of the scratch: the rows' bytes, scales and zeros, then the sums and what the product takes.
  size_t RowBytes() const { return AlignedBytes(static_cast<size_t>(q.m * q.k)); }
  size_t ScaleBytes() const { return AlignedBytes(static_cast<size_t>(q.m) * sizeof(double)); }
  size_t SumBytes() const { return AlignedBytes(static_cast<size_t>(q.m * q.n) * 4); }
};

absl::Status RunBytesByRow(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const BytesByRow*>(state);
  const CodedLoops& loops = ChooseCodedLoops();
  char* const memory = static_cast<char*>(args.scratch);
  auto* const rows = reinterpret_cast<uint8_t*>(memory);
  auto* const scales = reinterpret_cast<double*>(memory + s.RowBytes());
  auto* const zeros = reinterpret_cast<int32_t*>(memory + s.RowBytes() + s.ScaleBytes());
  auto* const sums = reinterpret_cast<int32_t*>(memory + s.RowBytes() + 2 * s.ScaleBytes());
  const auto* const a = static_cast<const float*>(args.in[0]);
  args.workers->ParallelFor(s.q.m, GrainFor(8 * s.q.k), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      loops.quantize_row(a + i * s.q.k, s.q.k, rows + i * s.q.k, scales + i, zeros + i);
  });
  const auto* const bias =
      s.q.fused.bias < 0 ? nullptr : static_cast<const float*>(args.in[s.q.fused.bias]);
  auto* const out = static_cast<float*>(args.out[0]);
  const auto store = [&](int64_t row, int64_t begin, int64_t end) {
    const int64_t at = row * s.q.n + begin;
    loops.scale_sums(sums + at, end - begin, scales[row], s.weights->scales.data() + begin,
                     bias == nullptr ? nullptr : bias + begin, out + at);
    s.following.Run(args, out + at, end - begin, begin, at);
  };
  const absl::FunctionRef<void(int64_t, int64_t, int64_t)> finish = store;
  constexpr int32_t kZero = 0;
  s.product.Run(*args.workers, rows, {nullptr, s.weights->right.data},
                {{zeros, static_cast<size_t>(s.q.m)}, {&kZero, 1}},
                reinterpret_cast<char*>(sums) + s.SumBytes(), sums, &finish);
  return absl::OkStatus();
}

absl::Status PrepareBytesByRow(Prepare& p, const CodedProblem& q) {
  TENON_RETURN_IF_ERROR(CheckByteTerms(p, q.k, kMostCodedTerms));
  const Tensor& b = *p.input_value(1);
  const ByteMatMul product(q.m, q.k, q.n, {false}, {true});
  absl::Status status;
  const auto packed = p.session().GetPacked(
      b.data(),
      absl::StrCat("bytes by column ", product.right().Form(), q.transposed ? " of ^T" : ""),
      [&]() -> std::shared_ptr<const void> {
        auto made = MakeByteWeights(p.workers(), {b.data(), q.k, q.n, q.transposed}, product);
        status = made.status();
        return made.ok() ? *made : nullptr;
      });
  if (packed == nullptr) return status;
  auto s = std::make_shared<BytesByRow>(
      BytesByRow{q, product, std::static_pointer_cast<const ByteWeights>(packed),
                 Following(q.fused, /*adds_bias=*/false)});
  TENON_ASSIGN_OR_RETURN(const size_t scratch, product.ScratchBytes(/*packed=*/true));
  p.DropInput(1);
  p.set_scratch_bytes(s->RowBytes() + 2 * s->ScaleBytes() + s->SumBytes() + scratch);
  p.set_run(&RunBytesByRow, std::move(s));
  return absl::OkStatus();
}

// --- The op.

absl::Status PrepareCodedMatMul(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const CodedProblem q, ReadCodedProblem(p, 2));
  TENON_ASSIGN_OR_RETURN(const std::string_view code, p.AttrString("code"));
  if (q.m == 0 || q.n == 0) return absl::OkStatus();
  if (p.input_value(1) == nullptr)
    return p.Unimplemented("weights that are no constant are not built");
  if (code == "int8_dynamic") return PrepareBytesByRow(p, q);
  return PrepareCoded(p, q, code == "int4" ? 4 : 8);
}

const CpuKernelSpec kCodedKernels[] = {
    {"_TenonCodedMatMul", {{"T", TypeBit(DataType::kFloat)}}, &PrepareCodedMatMul},
};

}  // namespace

absl::Span<const CpuKernelSpec> CodedKernels() { return kCodedKernels; }

}  // namespace tenon::cpu
