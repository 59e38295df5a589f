#include "plugin/cpu/linalg/products/matmul_any_loops.h"

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "absl/status/status.h"
#include "graph/tensor/dtype.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/cpu/elementwise/loops/element_op.h"
#include "plugin/cpu/linalg/products/matmul.h"
#include "plugin/cpu/linalg/products/packed_gemm.h"
#include "plugin/kernels/run_fn.h"

namespace tenon::cpu {
namespace {

// The numbers that a product of T is computed in: of a complex number, its two parts.
template <typename T>
struct PartsOf {
  using Real = T;
  static constexpr int kParts = 1;
};
template <typename T>
struct PartsOf<std::complex<T>> {
  using Real = T;
  static constexpr int kParts = 2;
};

// Rows of the left or columns of the right side in panels of `width`, padded with zeros: of each
// panel the first element of all, then the second, up to k.
struct Panels {
  int64_t count, k;  // rows or columns; elements of each
  int width;
  int64_t stride, step;  // from one row or column to the next in the tensor, and within it
  int64_t row = k;       // numbers of a row or column in memory

  int64_t number() const { return (count + width - 1) / width; }
  int64_t elements() const { return number() * width * row; }
};

// Reads elements that lie side by side as numbers of type A, which is not complex.
template <typename A>
class Reader {
 public:
  explicit Reader(DataType type) : type_(type) {
    if (type == DataType::kHalf || type == DataType::kBfloat16)
      widen_ = FindCastLoop(type, DataType::kFloat);
    copies_ = widen_ == nullptr && DataTypeSize(type) == sizeof(A);
  }
  void operator()(const void* matrix, int64_t from, int64_t n, A* to) const {
    const void* const at =
        static_cast<const char*>(matrix) + from * static_cast<int64_t>(DataTypeSize(type_));
    if (copies_) {
      std::memcpy(to, at, static_cast<size_t>(n) * sizeof(A));
    } else if (widen_ != nullptr) {
      widen_(&at, to, n, 0);
    } else {
      const auto read = [&](auto load) {
        for (int64_t i = 0; i < n; ++i) to[i] = load.template As<A>(at, i);
      };
      VisitKindOf<A>(type_, read);
      // BatchMatMulV3 multiplies bytes with bfloat16.
      if constexpr (std::is_same_v<A, float>) VisitInteger(type_, read);
    }
  }

 private:
  DataType type_;
  ElementLoop widen_ = nullptr;
  bool copies_;
};

// Stores the rows of one panel one after the other.
template <typename A>
void PackRows(const Panels& p, int64_t panel, const void* matrix, const Reader<A>& read, A* to) {
  const int64_t first = panel * p.width;
  for (int64_t i = first; i < first + p.width; ++i) {
    A* const row = to + i * p.row;
    if (i < p.count) {
      read(matrix, i * p.stride, p.k, row);
    } else {
      std::fill(row, row + p.k, A());
    }
  }
}

// Packs one panel of numbers that lie side by side in the tensor, across the panel or along it.
template <typename A>
void PackReal(const Panels& p, int64_t panel, const void* matrix, const Reader<A>& read, A* to) {
  const int64_t first = panel * p.width, valid = std::min<int64_t>(p.width, p.count - first);
  to += first * p.k;
  if (p.stride == 1) {
    for (int64_t i = 0; i < p.k; ++i, to += p.width) {
      read(matrix, first + i * p.step, valid, to);
      std::fill(to + valid, to + p.width, A());
    }
    return;
  }
  constexpr int64_t kPiece = 64;
  A piece[kPiece];
  for (int64_t i = 0; i < p.k; i += kPiece, to += kPiece * p.width) {
    const int64_t n = std::min(kPiece, p.k - i);
    for (int64_t w = 0; w < p.width; ++w) {
      if (w < valid) {
        read(matrix, (first + w) * p.stride + i, n, piece);
      } else {
        std::fill(piece, piece + n, A());
      }
      for (int64_t j = 0; j < n; ++j) to[j * p.width + w] = piece[j];
    }
  }
}

// Packs one panel of complex numbers: the imaginary parts lie `parts` numbers behind the real ones.
template <typename A>
void PackComplex(const Panels& p, int64_t panel, const void* matrix, DataType type, bool conjugate,
                 typename A::value_type* to, int64_t parts) {
  const int64_t first = panel * p.width;
  const int valid = static_cast<int>(std::min<int64_t>(p.width, p.count - first));
  to += first * p.k;
  VisitKindOf<A>(type, [&](auto load) {
    for (int64_t i = 0; i < p.k; ++i, to += p.width) {
      for (int w = 0; w < p.width; ++w) {
        A x = A();
        if (w < valid) x = load.template As<A>(matrix, (first + w) * p.stride + i * p.step);
        to[w] = x.real();
        to[parts + w] = conjugate ? -x.imag() : x.imag();
      }
    }
  });
}

// Adds what is fused to columns [begin, end) of a row of sums, and stores them. `at` is the index
// of the row's first element in the output. `imaginary` is null for real types.
template <typename A, typename Real = typename PartsOf<A>::Real>
void Finish(const AnyMatMul& s, const StepArgs& args, int64_t at, int64_t begin, int64_t end,
            Real* row, const Real* imaginary) {
  const MatMulProblem& q = s.q;
  if constexpr (std::is_floating_point_v<A>) {
    const auto arg = [&](int i, int64_t element) {
      A x = 0;
      VisitFloat(s.out_type, [&](auto load) { x = load.template As<A>(args.in[i], element); });
      return x;
    };
    for (int64_t j = begin; j < end && !q.fused.empty(); ++j) {
      A x = row[j];
      if (q.fused.bias >= 0) x += arg(q.fused.bias, j);
      if (q.fused.add >= 0) x += arg(q.fused.add, at + j);
      row[j] = static_cast<A>(Activate(q.fused.activation, q.fused.alpha, x));
    }
  }
  VisitKindOf<A>(s.out_type, [&](auto store) {
    for (int64_t j = begin; j < end; ++j) {
      if constexpr (kIsComplex<A>) {
        store.Put(args.out[0], at + j, A(row[j], imaginary[j]));
      } else {
        store.Put(args.out[0], at + j, row[j]);
      }
    }
  });
}

// Whether sums of type A are the output as they lie.
template <typename A>
bool SumsAreOutput(DataType out, const MatMulProblem& q) {
  return PartsOf<A>::kParts == 1 && q.fused.empty() && out != DataType::kHalf &&
         out != DataType::kBfloat16 && DataTypeSize(out) == sizeof(A);
}

// The panels, the scratch memory and the tiles of a product of numbers of type A.
template <typename A>
struct Blocks {
  using Real = typename PartsOf<A>::Real;
  static constexpr int kParts = PartsOf<A>::kParts;
  // A panel of the right side and the panels of the left side of a tile stay in caches for so many
  // elements of a row.
  static constexpr auto kDepth = static_cast<int64_t>(1024 / sizeof(Real));
  static constexpr int64_t kTileRows = 96, kTilePanels = 32;

  explicit Blocks(const MatMulProblem& q)
      : gemm(ChoosePackedGemm<Real>()),
        by_rows(kParts == 1 && !q.transpose_a),
        a{q.m,
          q.k,
          gemm.rows,
          q.transpose_a ? 1 : q.k,
          q.transpose_a ? q.m : 1,
          by_rows ? PackedRowOf<Real>(q.k) : q.k},
        b{q.n, q.k, gemm.columns, q.transpose_b ? q.k : 1, q.transpose_b ? 1 : q.n},
        tile_panels(kTileRows / gemm.rows),
        row_tiles((a.number() + tile_panels - 1) / tile_panels),
        column_tiles((b.number() + kTilePanels - 1) / kTilePanels) {}

  const PackedGemm<Real>& gemm;
  bool by_rows;  // the left side's rows stand one after the other
  Panels a, b;
  int64_t tile_panels;  // of the left side
  int64_t row_tiles, column_tiles;
};

// Scratch: both operands in panels, then the sums of one matrix unless they are the output.
template <typename A>
class OneProduct {
 public:
  using Real = typename PartsOf<A>::Real;
  static constexpr int kParts = PartsOf<A>::kParts;

  OneProduct(const AnyMatMul& s, const StepArgs& args)
      : s_(s),
        args_(args),
        blocks_(s.q),
        a_(static_cast<Real*>(args.scratch)),
        b_(a_ + kParts * blocks_.a.elements()),
        direct_(SumsAreOutput<A>(s.out_type, s.q)),
        sums_(b_ + kParts * blocks_.b.elements()) {}

  void PackLeft(const void* matrix) {
    Pack(blocks_.a, matrix, s_.a_type, s_.q.conjugate_a, blocks_.by_rows, a_);
  }
  void PackRight(const void* matrix) {
    Pack(blocks_.b, matrix, s_.b_type, s_.q.conjugate_b, false, b_);
  }

  // Tiles depend on the shapes alone: equal bits on any number of threads.
  void Multiply(int64_t number) {
    if (direct_) sums_ = static_cast<Real*>(args_.out[0]) + number * s_.q.m * s_.q.n;
    const int64_t tiles = blocks_.row_tiles * blocks_.column_tiles;
    const int64_t work = s_.q.m * s_.q.n / tiles * s_.q.k + 1;
    args_.workers->ParallelFor(tiles, 1 + kLeastWork / work, [&](int64_t begin, int64_t end) {
      for (int64_t tile = begin; tile < end; ++tile)
        MultiplyTile(number, tile / blocks_.column_tiles, tile % blocks_.column_tiles);
    });
  }

 private:
  static constexpr int64_t kLeastWork = 1 << 18;  // products: less does not pay for a thread

  void Pack(const Panels& panels, const void* matrix, DataType type, bool conjugate, bool by_rows,
            Real* to) {
    const int64_t bytes = panels.width * panels.k * static_cast<int64_t>(sizeof(A));
    args_.workers->ParallelFor(panels.number(), GrainFor(bytes), [&](int64_t begin, int64_t end) {
      for (int64_t panel = begin; panel < end; ++panel) {
        if constexpr (kParts == 2) {
          PackComplex<A>(panels, panel, matrix, type, conjugate, to, panels.elements());
        } else if (by_rows) {
          PackRows<A>(panels, panel, matrix, Reader<A>(type), to);
        } else {
          PackReal<A>(panels, panel, matrix, Reader<A>(type), to);
        }
      }
    });
  }

  // One block of sums for elements [p, p + depth) of the panels.
  void Block(int64_t i, int64_t j, int64_t p, int64_t depth) {
    const MatMulProblem& q = s_.q;
    const PackedGemm<Real>& gemm = blocks_.gemm;
    const int64_t row = blocks_.a.row;
    const Real* const a =
        a_ + (blocks_.by_rows ? i * gemm.rows * row + p : (i * q.k + p) * gemm.rows);
    const Real* const b = b_ + (j * q.k + p) * gemm.columns;
    Real* const c = sums_ + i * gemm.rows * q.n + j * gemm.columns;
    const int m = static_cast<int>(std::min<int64_t>(gemm.rows, q.m - i * gemm.rows));
    const int n = static_cast<int>(std::min<int64_t>(gemm.columns, q.n - j * gemm.columns));
    if (blocks_.by_rows) {
      return gemm.multiply_rows(depth, a, row, b, m, n, c, q.n,
                                p == 0 ? SumInto::kSet : SumInto::kAdd);
    }
    const auto multiply = [&](int part_a, int part_b, int part_c, SumInto into) {
      gemm.multiply(depth, a + part_a * blocks_.a.elements(), b + part_b * blocks_.b.elements(), m,
                    n, c + part_c * q.m * q.n, q.n, into);
    };
    multiply(0, 0, 0, p == 0 ? SumInto::kSet : SumInto::kAdd);
    if constexpr (kParts == 2) {
      multiply(1, 1, 0, SumInto::kSubtract);
      multiply(0, 1, 1, p == 0 ? SumInto::kSet : SumInto::kAdd);
      multiply(1, 0, 1, SumInto::kAdd);
    }
  }

  void MultiplyTile(int64_t number, int64_t row_tile, int64_t column_tile) {
    const MatMulProblem& q = s_.q;
    const int64_t i0 = row_tile * blocks_.tile_panels, j0 = column_tile * Blocks<A>::kTilePanels;
    const int64_t i1 = std::min(blocks_.a.number(), i0 + blocks_.tile_panels);
    const int64_t j1 = std::min(blocks_.b.number(), j0 + Blocks<A>::kTilePanels);
    for (int64_t p = 0; p < q.k; p += Blocks<A>::kDepth) {
      for (int64_t j = j0; j < j1; ++j) {
        for (int64_t i = i0; i < i1; ++i) Block(i, j, p, std::min(Blocks<A>::kDepth, q.k - p));
      }
    }
    const int64_t begin = j0 * blocks_.b.width, end = std::min(q.n, j1 * blocks_.b.width);
    const int64_t last = std::min(q.m, i1 * blocks_.a.width);
    for (int64_t r = i0 * blocks_.a.width; r < last; ++r) {
      Real* const row = sums_ + r * q.n;
      if (q.k == 0) {
        for (int part = 0; part < kParts; ++part)
          std::fill(row + part * q.m * q.n + begin, row + part * q.m * q.n + end, Real());
      }
      const int64_t at = (number * q.m + r) * q.n;
      if (!direct_) Finish<A>(s_, args_, at, begin, end, row, row + q.m * q.n);
      // In the thread that made these elements, while they are in its cache.
      if (q.scale_add) q.scale_add->Run(args_, at + begin, at + end);
    }
  }

  const AnyMatMul& s_;
  const StepArgs& args_;
  const Blocks<A> blocks_;
  Real* const a_;
  Real* const b_;
  const bool direct_;
  Real* sums_;
};

template <typename A>
absl::Status RunMatMulAs(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const AnyMatMul*>(state);
  const MatMulProblem& q = s.q;
  OneProduct<A> product(s, args);
  const auto matrix = [](const void* base, DataType type, int64_t element) {
    return static_cast<const char*>(base) + element * DataTypeSize(type);
  };
  for (int64_t i = 0; i < q.batch(); ++i) {
    // A broadcast operand repeats its matrices: the last one packed may serve again.
    if (i == 0 || q.a_batch[i] != q.a_batch[i - 1])
      product.PackLeft(matrix(args.in[0], s.a_type, q.a_batch[i] * q.m * q.k));
    if (i == 0 || q.b_batch[i] != q.b_batch[i - 1])
      product.PackRight(matrix(args.in[1], s.b_type, q.b_batch[i] * q.k * q.n));
    product.Multiply(i);
  }
  return absl::OkStatus();
}

template <typename A>
AnyMatMulRun RunOf(DataType out, const MatMulProblem& q) {
  const Blocks<A> blocks(q);
  const auto padded = [](const Panels& panels) {
    return 1.0 * static_cast<double>(panels.number()) * panels.width *
           static_cast<double>(panels.row);
  };
  const double sums =
      SumsAreOutput<A>(out, q) ? 0 : 1.0 * static_cast<double>(q.m) * static_cast<double>(q.n);
  return {&RunMatMulAs<A>, (padded(blocks.a) + padded(blocks.b) + sums) * sizeof(A)};
}

}  // namespace

AnyMatMulRun FindAnyMatMul(DataType out, const MatMulProblem& q) {
  switch (out) {
    case DataType::kDouble:
      return RunOf<double>(out, q);
    case DataType::kFloat:
    case DataType::kHalf:
    case DataType::kBfloat16:
      return RunOf<float>(out, q);
    case DataType::kComplex64:
      return RunOf<std::complex<float>>(out, q);
    case DataType::kComplex128:
      return RunOf<std::complex<double>>(out, q);
    case DataType::kInt64:
    case DataType::kUint64:
      return RunOf<uint64_t>(out, q);
    // Integers wrap around, which unsigned arithmetic does in any width.
    default:
      return RunOf<uint32_t>(out, q);
  }
}

}  // namespace tenon::cpu
