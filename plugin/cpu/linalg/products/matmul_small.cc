// Products of few rows or little work, without oneDNN: it costs 0.1 to 0.7 us a call. One row is
// bound by memory, which large weights that are constant are packed for: each panel of columns is
// read from its first byte to its last.
#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "plugin/cpu/base/isa.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/cpu/linalg/products/activation_loop.h"
#include "plugin/cpu/linalg/products/matmul.h"
#include "plugin/cpu/linalg/products/small_gemm.h"
#include "plugin/cpu/onednn/onednn.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {
namespace {

// With several rows, a product of more operations than these is left to oneDNN: below, a
// primitive's 0.1 us a call would be a large part of the time.
constexpr double kSmallFlops = 16 << 10;
// The same with AVX-512, where the loops give oneDNN's bits: it adds up in the same order. Counted
// in operations of whole blocks.
constexpr double kSmallBlockFlops = 256 << 10;
// A transposed b that is no constant is turned on the stack if it has no more elements than these.
constexpr int64_t kMostTurned = 4096;
constexpr int64_t kTurnRows = 4;  // fewer rows of a are not worth it
// A panel is one stream from end to end: 12 to 24 % faster than rows on a Zen 4 (DESIGN.md).
constexpr int64_t kColumns = 64;  // columns of a panel, and that one thread takes at least
// A factor b of more bytes is split over the threads and, if constant, packed into panels: a panel
// is one contiguous stream of memory for its thread.
constexpr int64_t kLargeBytes = 256 << 10;

struct SmallMatMul {
  SmallGemm gemm = {};
  SmallGemmFn multiply = nullptr;
  std::vector<int64_t> a_at, b_at;  // elements, of each matrix of the output
  int bias = -1;
  bool turn = false;  // whether b is [n, k] and its transpose is made for each run
  // b, if not input 1: panels of kColumns columns, the last of those that are left, each [k,
  // columns].
  std::shared_ptr<const PackedBytes> packed;
  std::optional<ActivationLoop> activation;  // but for those that the product clamps itself
  std::optional<ScaleAdd> scale_add;
  int64_t grain = 0;  // blocks of kColumns for one thread, if there is one row
};

// Writes the transpose [k, n] of b.
void Turn(const float* b, int64_t n, int64_t k, float* turned) {
  SelectIsa<TransposeFn>(&sse2::TransposeSmall, &avx2::TransposeSmall, &avx512::TransposeSmall)(
      b, n, k, turned);
}

// Columns [begin, end); whole panels but for the last.
void MultiplyColumns(const SmallMatMul& s, const SmallGemm& g, int64_t begin, int64_t end) {
  const int64_t step = s.packed ? kColumns : end - begin;
  for (int64_t j = begin; j < end; j += step) {
    SmallGemm part = g;
    part.n = std::min(step, end - j);
    // Panel j / kColumns begins after j whole columns.
    part.b += s.packed ? j * g.k : j;
    if (s.packed) part.b_row = part.n;
    part.c += j;
    if (part.bias != nullptr) part.bias += j;
    s.multiply(part);
    if (!s.activation) continue;
    // Rows that follow each other in memory take one call of the activation.
    const bool whole = part.n == part.c_row;
    const int64_t runs = whole ? 1 : part.m, length = whole ? part.m * part.n : part.n;
    for (int64_t i = 0; i < runs; ++i) s.activation->Run(part.c + i * part.c_row, length);
  }
}

absl::Status RunSmallMatMul(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const SmallMatMul*>(state);
  SmallGemm g = s.gemm;
  const float* a = static_cast<const float*>(args.in[0]);
  const float* b = static_cast<const float*>(s.packed ? s.packed->data : args.in[1]);
  if (s.bias >= 0) g.bias = static_cast<const float*>(args.in[s.bias]);
  g.c = static_cast<float*>(args.out[0]);
  alignas(64) float turned[kMostTurned];
  if (s.turn) {
    Turn(b, g.n, g.k, turned);
    b = turned;
  }
  const int64_t matrices = static_cast<int64_t>(s.a_at.size()), size = g.m * g.n;
  for (int64_t i = 0; i < matrices; ++i, g.c += size) {
    g.a = a + s.a_at[i];
    g.b = b + s.b_at[i];
    if (s.grain == 0) {
      MultiplyColumns(s, g, 0, g.n);
    } else {
      args.workers->ParallelFor(
          (g.n + kColumns - 1) / kColumns, s.grain, [&](int64_t begin, int64_t end) {
            MultiplyColumns(s, g, begin * kColumns, std::min(end * kColumns, g.n));
          });
    }
    if (s.scale_add) s.scale_add->Run(args, i * size, (i + 1) * size);
  }
  return absl::OkStatus();
}

// Relu and Relu6 cost nothing in the product; the others follow it.
void SetActivation(const MatMulProblem& q, SmallMatMul& s) {
  const Activation activation = q.fused.activation;
  if (activation == Activation::kNone) return;
  if (activation == Activation::kRelu || activation == Activation::kRelu6) {
    s.gemm.clamp = true;
    s.gemm.ceiling = activation == Activation::kRelu6 ? 6 : std::numeric_limits<float>::infinity();
  } else {
    s.activation.emplace(activation, q.fused.alpha);
  }
}

absl::Status PackPanels(Prepare& p, const MatMulProblem& q, SmallMatMul& s) {
  const Tensor& b = *p.input_value(1);
  const std::string key = absl::StrCat("panels", q.transpose_b ? "^T" : "", q.k, "x", q.n);
  const auto packed = p.session().GetPacked(b.data(), key, [&]() -> std::shared_ptr<const void> {
    const auto bytes = PackedBytes::Make(b.bytes());
    if (bytes == nullptr) return nullptr;
    float* to = static_cast<float*>(bytes->data);
    const char* const values = static_cast<const char*>(b.data());  // at any alignment
    const int64_t row = q.transpose_b ? 1 : q.n, column = q.transpose_b ? q.k : 1;
    for (int64_t j = 0; j < q.n; j += kColumns) {
      for (int64_t i = 0; i < q.k; ++i) {
        for (int64_t c = j; c < std::min(j + kColumns, q.n); ++c)
          std::memcpy(to++, values + (i * row + c * column) * sizeof(float), sizeof(float));
      }
    }
    return bytes;
  });
  if (packed == nullptr)
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for packed weights of ", b.bytes(), " bytes"));
  s.packed = std::static_pointer_cast<const PackedBytes>(packed);
  p.DropInput(1);
  return absl::OkStatus();
}

// Whether loops are faster than oneDNN for a product of several rows.
bool IsSmall(const MatMulProblem& q) {
  if (2.0 * q.m * q.n * q.k <= kSmallFlops) return true;
  if (CpuIsa() != Isa::kAvx512 || q.batch() > 1) return false;
  // A block is four rows by two vectors. One with fewer takes as long.
  const int64_t rows = q.m / 4 * 4 + q.m % 4 * 4, columns = (q.n + 31) / 32 * 32;
  return 2.0 * static_cast<double>(rows) * static_cast<double>(columns) * q.k <= kSmallBlockFlops;
}

}  // namespace

absl::StatusOr<bool> PrepareSmallMatMul(Prepare& p, const MatMulProblem& q) {
  if (q.fused.add >= 0 || (q.m > 1 && !IsSmall(q))) return false;
  const bool constant = p.input_value(1) != nullptr && q.batch() == 1;
  // The loops read rows of b. A single column lies alike both ways.
  const bool transposed = q.transpose_b && q.n > 1;
  const bool turn = transposed && !constant;
  if (turn &&
      (CpuIsa() != Isa::kAvx512 || q.m < kTurnRows || q.batch() > 1 || q.n * q.k > kMostTurned))
    return false;
  auto s = std::make_shared<SmallMatMul>();
  s->turn = turn;
  s->multiply = ChooseSmallGemm();
  s->gemm.m = q.m, s->gemm.n = q.n, s->gemm.k = q.k;
  s->gemm.a_row = q.transpose_a ? 1 : q.k;
  s->gemm.a_col = q.transpose_a ? q.m : 1;
  s->gemm.b_row = s->gemm.c_row = q.n;
  s->bias = q.fused.bias;
  s->scale_add = q.scale_add;
  for (int64_t i = 0; i < q.batch(); ++i) {
    s->a_at.push_back(q.a_batch[i] * q.m * q.k);
    s->b_at.push_back(q.b_batch[i] * q.k * q.n);
  }
  const int64_t block_bytes = q.k * kColumns * static_cast<int64_t>(sizeof(float));
  const bool large = q.m == 1 && q.n > kColumns && block_bytes * q.n / kColumns > kLargeBytes;
  if ((transposed && constant) || (large && constant)) TENON_RETURN_IF_ERROR(PackPanels(p, q, *s));
  SetActivation(q, *s);
  if (large) s->grain = GrainFor(block_bytes);
  p.set_run(&RunSmallMatMul, std::move(s));
  return true;
}

}  // namespace tenon::cpu
