// Packs windows of bytes, multiplies them by the filter, and takes the zero points off the sums.
#include "plugin/cpu/linalg/products/byte_conv.h"

#include <algorithm>
#include <cstring>

#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/tiles.h"

namespace tenon::cpu {
namespace {

// Places of the output that are multiplied together: a multiple of the rows of every block.
constexpr int64_t kByteTilePlaces = 96;

}  // namespace

struct ByteConv::Operands {
  const uint8_t* images;
  const char* filter;             // packed
  const int32_t* place_sums;      // of the filter, for each window place; null if no sum needs them
  const int32_t* column_sums;     // over all window places
  int32_t left_zero, right_zero;  // as the product sees the numbers
};

ByteConv::ByteConv(const Windows& windows, bool left_signed, bool right_signed)
    : w_(windows),
      left_signed_(left_signed),
      filter_(w_.window_places() * w_.in_channels, w_.out_channels, {right_signed, false}) {}

int64_t ByteConv::tile_places() const { return std::min(kByteTilePlaces, w_.out_places()); }
int64_t ByteConv::tiles() const {
  return w_.batch * ((w_.out_places() + kByteTilePlaces - 1) / kByteTilePlaces);
}

bool ByteConv::in_place() const {
  const auto plain = [](const WindowAxis& axis) {
    return axis.size == 1 && axis.stride == 1 && axis.before == 0 && axis.in == axis.out;
  };
  return plain(w_.planes) && plain(w_.rows) && plain(w_.columns) && !left_signed_ &&
         filter_.gemm().element == 1 && filter_.row_values() == w_.in_channels;
}

// Sums of one place, then the windows, then the sums.
size_t ByteConv::SlotBytes(bool own_sums) const {
  return AlignedBytes(w_.out_channels * sizeof(int32_t)) +
         (in_place() ? 0 : AlignedBytes(tile_places() * filter_.row_bytes())) +
         (own_sums ? AlignedBytes(tile_places() * w_.out_channels * sizeof(int32_t)) : 0);
}
size_t ByteConv::SharedBytes() const { return filter_.WholeBytes(w_.window_places()); }
size_t ByteConv::ScratchBytes(const Workers& workers, bool own_sums, bool packed) const {
  return (packed ? 0 : SharedBytes()) + TileScratchBytes(workers, tiles(), SlotBytes(own_sums));
}

int64_t ByteConv::PackWindow(const Operands& o, int64_t image, int64_t place, char* to) const {
  const ByteGemm& gemm = filter_.gemm();
  const uint8_t flip = left_signed_ ? 0x80 : 0;
  const int64_t channels = w_.in_channels, bytes = channels * gemm.element;
  // Places side by side in the image and in the window are packed at once: `count` of them, from
  // `in` and `at` on.
  int64_t in = 0, at = 0, count = 0, inside = 0;
  const auto clear = [&](int64_t begin, int64_t end) {
    if (end > begin) std::memset(to + begin * bytes, 0, static_cast<size_t>((end - begin) * bytes));
  };
  const auto pack = [&] {
    if (count > 0)
      gemm.pack_row(o.images + w_.InputAt(image, in), count * channels, flip, to + at * bytes);
  };
  w_.ForEachInWindow(place, [&](int64_t next_in, int64_t window_place) {
    ++inside;
    if (next_in == in + count && window_place == at + count) {
      ++count;
      return;
    }
    pack();
    clear(at + count, window_place);
    in = next_in;
    at = window_place;
    count = 1;
  });
  pack();
  clear(at + count, w_.window_places());
  const int64_t values = w_.window_places() * channels;
  std::memset(to + values * gemm.element, 0,
              static_cast<size_t>((filter_.row_values() - values) * gemm.element));
  return inside;
}

void ByteConv::Correct(const Operands& o, int64_t place, int64_t inside, const char* row,
                       int32_t* total, int32_t* sums) const {
  const int64_t n = w_.out_channels;
  const int32_t* columns = o.column_sums;
  if (inside < w_.window_places()) {
    auto* const wrapping = reinterpret_cast<uint32_t*>(total);
    std::fill(wrapping, wrapping + n, 0);
    w_.ForEachInWindow(place, [&](int64_t, int64_t window_place) {
      const int32_t* const from = o.place_sums + window_place * n;
      for (int64_t j = 0; j < n; ++j) wrapping[j] += static_cast<uint32_t>(from[j]);
    });
    columns = total;
  }
  uint32_t rest = 0;
  if (o.right_zero != 0) {
    rest = static_cast<uint32_t>(filter_.gemm().sum_row(row, w_.window_places() * w_.in_channels)) -
           static_cast<uint32_t>(inside * w_.in_channels) * static_cast<uint32_t>(o.left_zero);
  }
  filter_.gemm().correct(n, o.left_zero, columns, &o.right_zero, 0, static_cast<int32_t>(rest),
                         sums);
}

absl::Status ByteConv::Run(
    const StepArgs& args, void* scratch, const void* images, ByteRight filter, int32_t left_zero,
    int32_t right_zero, int32_t* sums,
    const absl::FunctionRef<void(int64_t, int64_t, int64_t, const int32_t*)>* finish) const {
  const int64_t n = w_.out_channels, window_places = w_.window_places();
  if (tiles() == 0 || n == 0) return absl::OkStatus();
  const int32_t zero = static_cast<int32_t>(ByteRightSide::LeftZero(left_zero, left_signed_));
  const int32_t filter_zero = static_cast<int32_t>(filter_.RightZero(right_zero));
  const bool corrects = zero != 0 || filter_zero != 0;
  const char* packed = static_cast<const char*>(filter.packed);
  if (packed == nullptr) {
    if (corrects) {
      filter_.PackWhole(*args.workers, filter.values, window_places, scratch);
    } else {
      filter_.Pack(*args.workers, filter.values, scratch);
    }
    packed = static_cast<const char*>(scratch);
  }
  const Operands o{static_cast<const uint8_t*>(images),
                   packed,
                   corrects ? filter_.PartSums(packed) : nullptr,
                   filter_.WholeSums(packed, window_places),
                   zero,
                   filter_zero};
  StepArgs rest = args;
  rest.scratch = static_cast<char*>(scratch) + (filter.packed != nullptr ? 0 : SharedBytes());
  const int64_t places = w_.out_places(), tiles_of_image = tiles() / w_.batch;
  return ForEachTile(rest, tiles(), SlotBytes(sums == nullptr), [&](int64_t tile, char* memory) {
    const int64_t image = tile / tiles_of_image, first = tile % tiles_of_image * kByteTilePlaces;
    const int64_t count = std::min(kByteTilePlaces, places - first), row = filter_.row_bytes();
    auto* const total = reinterpret_cast<int32_t*>(memory);
    char* const windows = memory + AlignedBytes(n * sizeof(int32_t));
    const char* rows = windows;
    int64_t inside[kByteTilePlaces];
    int32_t* to = sums == nullptr ? nullptr : sums + (image * places + first) * n;
    if (in_place()) {
      rows = static_cast<const char*>(images) + (image * places + first) * row;
      if (sums == nullptr) to = reinterpret_cast<int32_t*>(windows);
      std::fill(inside, inside + count, window_places);
    } else {
      for (int64_t i = 0; i < count; ++i)
        inside[i] = PackWindow(o, image, first + i, windows + i * row);
      if (sums == nullptr)
        to = reinterpret_cast<int32_t*>(windows + AlignedBytes(tile_places() * row));
    }
    filter_.Multiply(packed, rows, row, count, 0, filter_.panels(), to, n);
    if (filter_.row_values() == 0) std::fill(to, to + count * n, 0);
    for (int64_t i = 0; i < count && o.place_sums != nullptr; ++i)
      Correct(o, first + i, inside[i], rows + i * row, total, to + i * n);
    if (finish != nullptr) (*finish)(image, first, count, to);
    return absl::OkStatus();
  });
}

}  // namespace tenon::cpu
