// Packs operands of bytes, multiplies them in tiles, and takes the zero points off the sums.
#include "plugin/cpu/linalg/products/byte_matmul.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"

namespace tenon::cpu {
namespace {

// A tile: rows of the left side, a multiple of the rows of every block, and panels.
constexpr int64_t kByteTileRows = 96, kByteTilePanels = 16;
// Terms of a sum that are multiplied at a time, so that a panel of them stays in the first cache: a
// multiple of every group.
constexpr int64_t kByteDepth = 512;
constexpr int64_t kLeastByteWork = 1 << 20;  // products: less does not pay for a thread

}  // namespace

ByteRightSide::ByteRightSide(int64_t k, int64_t n, ByteSide side)
    : gemm_(ChooseByteGemm()),
      k_(k),
      n_(n),
      side_(side),
      row_values_((k + gemm_.group - 1) / gemm_.group * gemm_.group) {}

size_t ByteRightSide::PackedBytes() const {
  return AlignedBytes(static_cast<size_t>(panels() * gemm_.columns * row_bytes()));
}

void ByteRightSide::Pack(Workers& workers, const void* b, void* to) const {
  const int64_t row = side_.transposed ? 1 : n_, column = side_.transposed ? k_ : 1;
  const int64_t bytes = gemm_.columns * row_bytes();
  workers.ParallelFor(panels(), GrainFor(bytes), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t j = i * gemm_.columns;
      gemm_.pack_panel(static_cast<const uint8_t*>(b) + j * column, row, column, k_,
                       static_cast<int>(std::min<int64_t>(gemm_.columns, n_ - j)), flip(),
                       static_cast<char*>(to) + i * bytes);
    }
  });
}

std::string ByteRightSide::Form() const {
  return absl::StrCat(gemm_.name, side_.is_signed ? " s " : " u ", side_.transposed ? "^T " : "",
                      k_, "x", n_);
}

size_t ByteRightSide::WholeBytes(int64_t parts) const {
  return PackedBytes() + AlignedBytes(static_cast<size_t>((parts + 1) * n_) * sizeof(int32_t));
}

void ByteRightSide::PackWhole(Workers& workers, const void* b, int64_t parts, void* to) const {
  Pack(workers, b, to);
  auto* const sums = reinterpret_cast<int32_t*>(static_cast<char*>(to) + PackedBytes());
  if (parts > 0) SumColumns(workers, b, parts, sums);
  SumColumns(workers, b, 1, sums + parts * n_);
}

const int32_t* ByteRightSide::PartSums(const void* whole) const {
  return reinterpret_cast<const int32_t*>(static_cast<const char*>(whole) + PackedBytes());
}
const int32_t* ByteRightSide::WholeSums(const void* whole, int64_t parts) const {
  return PartSums(whole) + parts * n_;
}

void ByteRightSide::SumColumns(Workers& workers, const void* b, int64_t parts,
                               int32_t* sums) const {
  const int64_t row = side_.transposed ? 1 : n_, column = side_.transposed ? k_ : 1;
  const int64_t rows = k_ / std::max<int64_t>(1, parts);
  workers.ParallelFor(n_, std::max<int64_t>(64, GrainFor(k_)), [&](int64_t begin, int64_t end) {
    const auto* const from = static_cast<const uint8_t*>(b) + begin * column;
    for (int64_t i = 0; i < parts; ++i) {
      int32_t* const to = sums + i * n_ + begin;
      std::fill(to, to + (end - begin), 0);
      gemm_.sum_columns(from + i * rows * row, row, column, rows, end - begin, flip(), to);
    }
  });
}

void ByteRightSide::Multiply(const void* packed, const void* a, int64_t a_row, int64_t m,
                             int64_t begin, int64_t end, int32_t* c, int64_t c_row,
                             bool whole) const {
  const int64_t panel = gemm_.columns * row_bytes();
  for (int64_t p = 0; p < row_values_; p += kByteDepth) {
    const int64_t depth = std::min(kByteDepth, row_values_ - p);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t j = i * gemm_.columns;
      gemm_.multiply(
          depth, static_cast<const char*>(a) + p * gemm_.element, a_row,
          static_cast<const char*>(packed) + i * panel + p * gemm_.columns * gemm_.element, m,
          static_cast<int>(whole ? gemm_.columns : std::min<int64_t>(gemm_.columns, n_ - j)),
          c + (i - begin) * gemm_.columns, c_row, p > 0);
    }
  }
}

ByteMatMul::ByteMatMul(int64_t m, int64_t k, int64_t n, ByteSide left, ByteSide right)
    : m_(m), k_(k), n_(n), left_(left), right_(k, n, right) {}

struct ByteMatMul::Operands {
  const char* rows;                                   // packed
  const char* right;                                  // packed
  const int32_t* column_sums;                         // null if no zero point moves a sum
  absl::Span<const int32_t> left_zeros, right_zeros;  // as the product sees the numbers
  bool sums_rows;                                     // a right zero point is not 0
  int32_t* c;
  const absl::FunctionRef<void(int64_t, int64_t, int64_t)>* finish;
};

bool ByteMatMul::in_place() const {
  return !left_.is_signed && !left_.transposed && right_.gemm().element == 1 &&
         right_.row_values() == k_;
}

// Of the right side, the column sums, the zero points and, if they are packed, the rows.
absl::StatusOr<size_t> ByteMatMul::ScratchBytes(bool packed) const {
  if (m_ == 0 || n_ == 0) return 0;
  // In double, which cannot overflow.
  const auto m = static_cast<double>(m_), n = static_cast<double>(n_);
  const auto row = static_cast<double>(right_.row_bytes());
  const double bytes = (packed ? 0 : (n + right_.gemm().columns) * row) +
                       (in_place() ? 0 : m * row) + (2 * n + m + 2) * sizeof(int32_t) +
                       5 * kTensorAlignment;
  if (bytes > 1e15) return absl::ResourceExhaustedError("the matrices are too large to be packed");
  return static_cast<size_t>(bytes);
}

void ByteMatMul::PackRow(const uint8_t* a, int64_t row, char* to) const {
  const ByteGemm& gemm = right_.gemm();
  const uint8_t flip = left_.is_signed ? 0x80 : 0;
  if (!left_.transposed) {
    gemm.pack_row(a + row * k_, k_, flip, to);
  } else {
    constexpr int64_t kPiece = 256;
    uint8_t piece[kPiece];
    for (int64_t p = 0; p < k_; p += kPiece) {
      const int64_t count = std::min(kPiece, k_ - p);
      for (int64_t i = 0; i < count; ++i) piece[i] = a[(p + i) * m_ + row];
      gemm.pack_row(piece, count, flip, to + p * gemm.element);
    }
  }
  std::memset(to + k_ * gemm.element, 0,
              static_cast<size_t>((right_.row_values() - k_) * gemm.element));
}

void ByteMatMul::RunTile(const Operands& o, int64_t first, int64_t last, int64_t begin,
                         int64_t end) const {
  const ByteGemm& gemm = right_.gemm();
  const int64_t row_bytes = right_.row_bytes();
  right_.Multiply(o.right, o.rows + first * row_bytes, row_bytes, last - first, begin, end,
                  o.c + first * n_ + begin * gemm.columns, n_);
  const int64_t j0 = begin * gemm.columns, j1 = std::min(n_, end * gemm.columns);
  const bool by_row = o.left_zeros.size() > 1, by_column = o.right_zeros.size() > 1;
  for (int64_t i = first; i < last; ++i) {
    int32_t* const c = o.c + i * n_;
    if (k_ == 0) std::fill(c + j0, c + j1, 0);
    if (o.column_sums != nullptr) {
      const int32_t zero = o.left_zeros[by_row ? i : 0];
      uint32_t rest = 0;
      if (o.sums_rows) {
        rest = static_cast<uint32_t>(gemm.sum_row(o.rows + i * row_bytes, k_)) -
               static_cast<uint32_t>(k_) * static_cast<uint32_t>(zero);
      }
      gemm.correct(j1 - j0, zero, o.column_sums + j0, o.right_zeros.data() + (by_column ? j0 : 0),
                   by_column ? 1 : 0, static_cast<int32_t>(rest), c + j0);
    }
    if (o.finish != nullptr) (*o.finish)(i, j0, j1);
  }
}

void ByteMatMul::Run(Workers& workers, const void* a, ByteRight b, const ByteZeros& zeros,
                     void* scratch, int32_t* c,
                     const absl::FunctionRef<void(int64_t, int64_t, int64_t)>* finish) const {
  if (m_ == 0 || n_ == 0) return;
  auto* memory = static_cast<char*>(scratch);
  const auto take = [&memory](size_t bytes) {
    char* const taken = memory;
    memory += AlignedBytes(bytes);
    return taken;
  };
  const auto take_ints = [&take](size_t count) {
    return reinterpret_cast<int32_t*>(take(count * sizeof(int32_t)));
  };
  const auto not_zero = [](int32_t zero) { return zero != 0; };
  const auto any = [&](absl::Span<const int32_t> values) {
    return std::any_of(values.begin(), values.end(), not_zero);
  };
  const void* right = b.packed;
  if (right == nullptr) {
    char* const packed = take(right_.PackedBytes());
    right_.Pack(workers, b.values, packed);
    right = packed;
  }
  int32_t* const left_zeros = take_ints(zeros.left.size());
  std::transform(zeros.left.begin(), zeros.left.end(), left_zeros, [this](int32_t zero) {
    return static_cast<int32_t>(ByteRightSide::LeftZero(zero, left_.is_signed));
  });
  int32_t* const right_zeros = take_ints(zeros.right.size());
  std::transform(zeros.right.begin(), zeros.right.end(), right_zeros,
                 [this](int32_t zero) { return static_cast<int32_t>(right_.RightZero(zero)); });
  Operands o{static_cast<const char*>(a),
             static_cast<const char*>(right),
             nullptr,
             {left_zeros, zeros.left.size()},
             {right_zeros, zeros.right.size()},
             false,
             c,
             finish};
  o.sums_rows = any(o.right_zeros);
  if (o.sums_rows || any(o.left_zeros)) {
    if (b.packed != nullptr) {
      o.column_sums = right_.WholeSums(b.packed, 0);
    } else {
      int32_t* const sums = take_ints(n_);
      right_.SumColumns(workers, b.values, 1, sums);
      o.column_sums = sums;
    }
  }
  if (!in_place()) {
    char* const rows = take(m_ * right_.row_bytes());
    workers.ParallelFor(m_, GrainFor(k_), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        PackRow(static_cast<const uint8_t*>(a), i, rows + i * right_.row_bytes());
    });
    o.rows = rows;
  }
  // Sums of integers do not depend on the tiles.
  const int64_t row_tiles = (m_ + kByteTileRows - 1) / kByteTileRows;
  const int64_t panel_tiles = (right_.panels() + kByteTilePanels - 1) / kByteTilePanels;
  const int64_t work = m_ * n_ / (row_tiles * panel_tiles) * k_ + 1;
  workers.ParallelFor(row_tiles * panel_tiles, 1 + kLeastByteWork / work,
                      [&](int64_t begin, int64_t end) {
                        for (int64_t t = begin; t < end; ++t) {
                          const int64_t i = t / panel_tiles * kByteTileRows;
                          const int64_t j = t % panel_tiles * kByteTilePanels;
                          RunTile(o, i, std::min(m_, i + kByteTileRows), j,
                                  std::min(right_.panels(), j + kByteTilePanels));
                        }
                      });
}

}  // namespace tenon::cpu
