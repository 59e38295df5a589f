#include "plugin/cpu/arrays/strided_copy.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "plugin/cpu/arrays/transpose_tile.h"
#include "plugin/cpu/base/isa.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/cpu/elementwise/loops/element_copy.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

namespace sse2 {
TransposeTile FindTransposeTile(int64_t element_bytes);
}
namespace avx2 {
TransposeTile FindTransposeTile(int64_t element_bytes);
}
namespace avx512 {
TransposeTile FindTransposeTile(int64_t element_bytes);
}

TransposeTile FindTransposeTile(int64_t element_bytes) {
  return SelectIsa(sse2::FindTransposeTile, avx2::FindTransposeTile,
                   avx512::FindTransposeTile)(element_bytes);
}

namespace {

// A tensor of this size does not fit the last-level cache: its reader finds nothing of it there.
constexpr int64_t kFarBytes = 32 << 20;

// Element i of `to` becomes element -i of `from`.
template <typename T>
void MoveBackwards(const char* from, char* to, int64_t n) {
  typedef T Vector __attribute__((vector_size(16)));
  constexpr int64_t kLanes = 16 / sizeof(T), kBytes = sizeof(T);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    Vector v;
    std::memcpy(&v, from - (i + kLanes - 1) * kBytes, sizeof(v));
    if constexpr (kLanes == 4) {
      v = __builtin_shufflevector(v, v, 3, 2, 1, 0);
    } else {
      v = __builtin_shufflevector(v, v, 1, 0);
    }
    std::memcpy(to + i * kBytes, &v, sizeof(v));
  }
  for (; i < n; ++i) std::memcpy(to + i * kBytes, from - i * kBytes, sizeof(T));
}

template <typename T>
void MoveRow(const char* from, int64_t from_stride, char* to, int64_t to_stride, int64_t n) {
  T value;
  if (from_stride == 0 && to_stride == sizeof(T)) {
    std::memcpy(&value, from, sizeof(T));
    std::fill_n(reinterpret_cast<T*>(to), n, value);
    return;
  }
  constexpr auto kBytes = static_cast<int64_t>(sizeof(T));
  if constexpr (sizeof(T) == 4 || sizeof(T) == 8) {
    if (from_stride == -kBytes && to_stride == kBytes) return MoveBackwards<T>(from, to, n);
  }
  for (int64_t i = 0; i < n; ++i) {
    std::memcpy(&value, from + i * from_stride, sizeof(T));
    std::memcpy(to + i * to_stride, &value, sizeof(T));
  }
}

// As a TransposeTile, for elements of any size: so many columns at a time that what is read of a
// line is a piece worth fetching.
void TransposeBlocks(const char* from, int64_t from_line, char* to, int64_t to_line, int64_t rows,
                     int64_t columns, int64_t bytes) {
  // Bytes of a source line that are read in one go.
  constexpr int64_t kPiece = 2048;
  const int64_t step = std::max<int64_t>(1, kPiece / bytes);
  for (int64_t c0 = 0; c0 < columns; c0 += step) {
    const int64_t c1 = std::min(c0 + step, columns);
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = c0; c < c1; ++c)
        std::memcpy(to + c * to_line + r * bytes, from + r * from_line + c * bytes, bytes);
    }
  }
}

struct Bytes16 {
  uint64_t low, high;
};

// Large enough for any element; as a string it is empty.
alignas(16) constexpr char kZeroElement[24] = {};

}  // namespace

Dims DenseStrides(const Shape& shape, int64_t element_bytes) {
  Dims strides(shape.rank(), 0);
  if (shape.num_elements() == 0) return strides;
  int64_t stride = element_bytes;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    strides[d] = stride;
    stride *= shape.dim(d);
  }
  return strides;
}

void StridedCopy::AddDim(int64_t size, int64_t from_stride, int64_t to_stride) {
  size_.push_back(size);
  from_.push_back(from_stride);
  to_.push_back(to_stride);
}

// Makes as few and as long loops as there can be. Dimensions that continue one another become one,
// and a contiguous innermost one becomes a single element, which memcpy moves. Elements that are
// counted are moved one by one, so they keep their size.
void StridedCopy::Finish() {
  total_bytes_ = element_bytes_;
  for (int64_t s : size_) total_bytes_ *= s;
  if (total_bytes_ == 0) {
    size_.assign(1, 0);
    from_.assign(1, 0);
    to_.assign(1, 0);
    return;
  }
  Dims size, from, to;
  for (size_t d = 0; d < size_.size(); ++d) {
    if (size_[d] == 1) continue;
    // A dimension that continues the one outside of it is merged with it.
    if (!size.empty() && from.back() == from_[d] * size_[d] && to.back() == to_[d] * size_[d]) {
      size.back() *= size_[d];
      from.back() = from_[d];
      to.back() = to_[d];
      continue;
    }
    size.push_back(size_[d]);
    from.push_back(from_[d]);
    to.push_back(to_[d]);
  }
  if (!counted_ && !size.empty() && from.back() == element_bytes_ && to.back() == element_bytes_) {
    element_bytes_ *= size.back();
    size.pop_back();
    from.pop_back();
    to.pop_back();
  }
  const int n = static_cast<int>(size.size());
  if (!counted_ && n >= 2 && to.back() == element_bytes_) {
    const auto contiguous = std::find(from.begin(), from.end() - 1, element_bytes_);
    transposed_ = contiguous != from.end() - 1;
    if (transposed_) {
      // Beside the last one, as the tile wants them.
      const auto d = contiguous - from.begin();
      for (Dims* dims : {&size, &from, &to})
        std::rotate(dims->begin() + d, dims->begin() + d + 1, dims->end() - 1);
    }
  }
  size_ = size;
  from_ = from;
  to_ = to;
}

void StridedCopy::RunRow(const char* from, char* to) const {
  const int64_t n = size_.empty() ? 1 : size_.back();
  const int64_t from_stride = size_.empty() ? 0 : from_.back();
  const int64_t to_stride = size_.empty() ? 0 : to_.back();
  if (counted_) {
    const ElementCopy copy(type_);
    for (int64_t i = 0; i < n; ++i) copy(from + i * from_stride, 0, to + i * to_stride, 0);
    return;
  }
  switch (element_bytes_) {
    case 1:
      return MoveRow<uint8_t>(from, from_stride, to, to_stride, n);
    case 2:
      return MoveRow<uint16_t>(from, from_stride, to, to_stride, n);
    case 4:
      return MoveRow<uint32_t>(from, from_stride, to, to_stride, n);
    case 8:
      return MoveRow<uint64_t>(from, from_stride, to, to_stride, n);
    case 16:
      return MoveRow<Bytes16>(from, from_stride, to, to_stride, n);
    default:
      for (int64_t i = 0; i < n; ++i)
        std::memcpy(to + i * to_stride, from + i * from_stride, element_bytes_);
  }
}

void StridedCopy::RunTransposed(const char* from, char* to) const {
  const size_t last = size_.size() - 1;
  const TransposeTile tile = FindTransposeTile(element_bytes_);
  if (tile == nullptr) {
    return TransposeBlocks(from, from_[last], to, to_[last - 1], size_[last], size_[last - 1],
                           element_bytes_);
  }
  tile(from, from_[last], to, to_[last - 1], size_[last], size_[last - 1],
       total_bytes_ > kFarBytes);
}

// Iterations [begin, end) of all loops but the inner ones.
void StridedCopy::RunOuter(const char* from, char* to, int64_t begin, int64_t end,
                           int inner_dims) const {
  const int outer = static_cast<int>(size_.size()) - inner_dims;
  Dims index(std::max(outer, 0));
  int64_t rest = begin;
  for (int d = outer - 1; d >= 0; --d) {
    index[d] = rest % size_[d];
    rest /= size_[d];
    from += index[d] * from_[d];
    to += index[d] * to_[d];
  }
  for (int64_t i = begin; i < end; ++i) {
    if (transposed_) {
      RunTransposed(from, to);
    } else {
      RunRow(from, to);
    }
    for (int d = outer - 1; d >= 0; --d) {
      from += from_[d];
      to += to_[d];
      if (++index[d] < size_[d]) break;
      from -= index[d] * from_[d];
      to -= index[d] * to_[d];
      index[d] = 0;
    }
  }
}

void StridedCopy::Run(const void* from, void* to, Workers* workers) const {
  if (total_bytes_ == 0) return;
  const char* f = static_cast<const char*>(from);
  char* t = static_cast<char*>(to);
  // Finish() has made one element of the whole copy: split its bytes.
  if (size_.empty() && !counted_) {
    workers->ParallelFor(element_bytes_, GrainFor(1), [&](int64_t begin, int64_t end) {
      std::memcpy(t + begin, f + begin, end - begin);
    });
    return;
  }
  const int inner_dims = transposed_ ? 2 : 1;
  int64_t outer = 1;
  for (size_t d = 0; d + inner_dims < size_.size(); ++d) outer *= size_[d];
  const int64_t grain = GrainFor(total_bytes_ / outer);
  if (outer > 1 || size_.empty()) {
    workers->ParallelFor(
        outer, grain, [&](int64_t begin, int64_t end) { RunOuter(f, t, begin, end, inner_dims); });
    return;
  }
  // A single row or matrix: split along its first dimension.
  const size_t split = size_.size() - inner_dims;
  workers->ParallelFor(
      size_[split], GrainFor(total_bytes_ / size_[split]), [&](int64_t begin, int64_t end) {
        if (end - begin == size_[split]) return RunOuter(f, t, 0, 1, inner_dims);
        StridedCopy part = *this;
        part.size_[split] = end - begin;
        part.RunOuter(f + begin * from_[split], t + begin * to_[split], 0, 1, inner_dims);
      });
}

StridedCopy BlockCopy(DataType type, const Shape& shape, const Dims& from_strides,
                      const Dims& to_strides) {
  StridedCopy copy(type);
  for (int d = 0; d < shape.rank(); ++d) copy.AddDim(shape.dim(d), from_strides[d], to_strides[d]);
  copy.Finish();
  return copy;
}

CopyPiece RepeatPiece(DataType type, int64_t elements, int in) {
  CopyPiece piece{in, 0, 0, 0, StridedCopy(type)};
  piece.copy.AddDim(elements, 0, static_cast<int64_t>(DataTypeSize(type)));
  piece.copy.Finish();
  return piece;
}

CopyPiece WholePiece(DataType type, int64_t elements, int in) {
  const int64_t bytes = static_cast<int64_t>(DataTypeSize(type));
  CopyPiece piece{in, 0, 0, 0, StridedCopy(type)};
  piece.copy.AddDim(elements, bytes, bytes);
  piece.copy.Finish();
  return piece;
}

void RunCopies(const CopyState& state, void* const* in, void* const* out, Workers* workers) {
  for (const CopyPiece& piece : state.pieces) {
    const char* from = piece.in == kZeros
                           ? kZeroElement
                           : static_cast<const char*>(in[piece.in]) + piece.from_offset;
    char* to = static_cast<char*>(out[piece.out]) + piece.to_offset;
    if (from != to) piece.copy.Run(from, to, workers);
  }
}

void SetCopies(Prepare& p, std::vector<CopyPiece> pieces) {
  auto state = std::make_shared<CopyState>();
  state->pieces = std::move(pieces);
  p.set_run(
      [](const void* s, const StepArgs& args) {
        RunCopies(*static_cast<const CopyState*>(s), args.in, args.out, args.workers);
        return absl::OkStatus();
      },
      std::move(state));
}

}  // namespace tenon::cpu
