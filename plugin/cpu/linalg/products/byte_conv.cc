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
// Channels of a part: its sums take 12 kB.
constexpr int64_t kPartColumns = 32;

}  // namespace

struct ByteConv::Operands {
  const uint8_t* images;
  const char* filter;          // packed
  const int32_t* place_sums;   // of the filter, for each window place; null if no sum needs them
  const int32_t* column_sums;  // over all window places
  absl::Span<const int32_t> left_zeros;   // one, or one for each image
  absl::Span<const int32_t> right_zeros;  // one, or one for each channel, as the product sees them
  bool sums_rows;                         // a right zero is not 0
};

// The packed windows of some places.
struct ByteConv::Rows {
  const char* first;  // filter_.row_bytes() apart
  int32_t left_zero;
  bool all_inside = true;           // no window reaches beyond the image
  int64_t inside[kByteTilePlaces];  // window places inside of the image
  int32_t rest[kByteTilePlaces];    // what a right zero of 1 adds to the sums of a place
};

ByteConv::ByteConv(const Windows& windows, bool left_signed, bool right_signed, bool by_parts)
    : w_(windows),
      left_signed_(left_signed),
      filter_(w_.window_places() * w_.in_channels, w_.out_channels, {right_signed, false}),
      by_parts_(by_parts) {}

int64_t ByteConv::panels_together() const {
  return by_parts_ ? std::max<int64_t>(1, kPartColumns / filter_.gemm().columns) : filter_.panels();
}
int64_t ByteConv::part_row() const {
  return by_parts_ ? panels_together() * filter_.gemm().columns : w_.out_channels;
}

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
         (own_sums ? AlignedBytes(tile_places() * part_row() * sizeof(int32_t)) : 0);
}
size_t ByteConv::SharedBytes() const { return filter_.WholeBytes(w_.window_places()); }
size_t ByteConv::ScratchBytes(const Workers& workers, bool own_sums, bool packed) const {
  return (packed ? 0 : SharedBytes()) + TileScratchBytes(workers, tiles(), SlotBytes(own_sums));
}

int64_t ByteConv::PackWindow(const Operands& o, int64_t image, int64_t place, char* to) const {
  const ByteGemm& gemm = filter_.gemm();
  const uint8_t flip = left_signed_ ? 0x80 : 0;
  const int64_t channels = w_.in_channels, bytes = channels * gemm.element;
  const bool copies = gemm.element == 1 && flip == 0;
  const uint8_t* const from = o.images + w_.InputAt(image, 0);
  int64_t done = 0, inside = 0;  // window places
  const auto clear_to = [&](int64_t end) {
    if (end > done) std::memset(to + done * bytes, 0, static_cast<size_t>((end - done) * bytes));
  };
  // `count` places side by side in the image and in the window.
  const auto pack = [&](int64_t in, int64_t at, int64_t count) {
    clear_to(at);
    if (copies) {
      std::memcpy(to + at * bytes, from + in * channels, static_cast<size_t>(count * channels));
    } else {
      gemm.pack_row(from + in * channels, count * channels, flip, to + at * bytes);
    }
    done = at + count;
    inside += count;
  };
  const WindowAxis &planes = w_.planes, &rows = w_.rows, &columns = w_.columns;
  const WindowAxis::Inside p = planes.InsideAt(place / columns.out / rows.out),
                           r = rows.InsideAt(place / columns.out % rows.out),
                           c = columns.InsideAt(place % columns.out);
  const int64_t run = columns.dilation == 1 ? std::max<int64_t>(1, c.end - c.begin) : 1;
  for (int64_t i = p.begin, plane = p.first; i < p.end; ++i, plane += planes.dilation) {
    for (int64_t j = r.begin, row = r.first; j < r.end; ++j, row += rows.dilation) {
      int64_t in = (plane * rows.in + row) * columns.in + c.first;
      for (int64_t k = c.begin; k < c.end; k += run, in += columns.dilation)
        pack(in, (i * rows.size + j) * columns.size + k, run);
    }
  }
  clear_to(w_.window_places());
  const int64_t values = w_.window_places() * channels;
  std::memset(to + values * gemm.element, 0,
              static_cast<size_t>((filter_.row_values() - values) * gemm.element));
  return inside;
}

void ByteConv::PackRows(const Operands& o, const Part& part, char* memory, Rows& rows) const {
  const int64_t row = filter_.row_bytes(), window_places = w_.window_places();
  const int64_t values = window_places * w_.in_channels;
  rows.left_zero = static_cast<int32_t>(ByteRightSide::LeftZero(
      o.left_zeros[o.left_zeros.size() > 1 ? part.image : 0], left_signed_));
  if (in_place()) {
    rows.first =
        reinterpret_cast<const char*>(o.images) + (part.image * w_.out_places() + part.first) * row;
    std::fill(rows.inside, rows.inside + part.count, window_places);
  } else {
    rows.first = memory;
    for (int64_t i = 0; i < part.count; ++i) {
      rows.inside[i] = PackWindow(o, part.image, part.first + i, memory + i * row);
      rows.all_inside &= rows.inside[i] == window_places;
    }
  }
  for (int64_t i = 0; i < part.count && o.sums_rows; ++i) {
    rows.rest[i] = static_cast<int32_t>(
        static_cast<uint32_t>(filter_.gemm().sum_row(rows.first + i * row, values)) -
        static_cast<uint32_t>(rows.inside[i] * w_.in_channels) *
            static_cast<uint32_t>(rows.left_zero));
  }
}

void ByteConv::Correct(const Operands& o, const Part& part, const Rows& rows, int64_t i,
                       int32_t* total, int32_t* sums) const {
  const int64_t begin = part.begin, count = part.end - begin;
  const int32_t* columns = o.column_sums + begin;
  if (rows.inside[i] < w_.window_places()) {
    auto* const wrapping = reinterpret_cast<uint32_t*>(total);
    std::fill(wrapping, wrapping + count, 0);
    w_.ForEachInWindow(part.first + i, [&](int64_t, int64_t window_place) {
      const int32_t* const from = o.place_sums + window_place * w_.out_channels + begin;
      for (int64_t j = 0; j < count; ++j) wrapping[j] += static_cast<uint32_t>(from[j]);
    });
    columns = total;
  }
  const bool by_channel = o.right_zeros.size() > 1;
  filter_.gemm().correct(count, rows.left_zero, columns,
                         o.right_zeros.data() + (by_channel ? begin : 0), by_channel ? 1 : 0,
                         o.sums_rows ? rows.rest[i] : 0, sums);
}

absl::Status ByteConv::Run(
    const StepArgs& args, void* scratch, const void* images, ByteRight filter,
    const ByteZeros& zeros, int32_t* sums,
    const absl::FunctionRef<void(int64_t, int64_t, int64_t, const int32_t*)>* finish) const {
  return RunTiles(args, scratch, images, filter, zeros, sums, [&](const Part& part) {
    if (finish != nullptr) (*finish)(part.image, part.first, part.count, part.sums);
  });
}

absl::Status ByteConv::RunParts(const StepArgs& args, void* scratch, const void* images,
                                ByteRight filter, const ByteZeros& zeros,
                                absl::FunctionRef<void(const Part&)> finish) const {
  return RunTiles(args, scratch, images, filter, zeros, nullptr, finish);
}

absl::Status ByteConv::RunTiles(const StepArgs& args, void* scratch, const void* images,
                                ByteRight filter, const ByteZeros& zeros, int32_t* sums,
                                absl::FunctionRef<void(const Part&)> finish) const {
  const int64_t n = w_.out_channels, window_places = w_.window_places();
  if (tiles() == 0 || n == 0) return absl::OkStatus();
  const auto one_right_zero = static_cast<int32_t>(filter_.RightZero(zeros.right[0]));
  const absl::Span<const int32_t> right_zeros =
      zeros.right.size() > 1 ? zeros.right : absl::MakeConstSpan(&one_right_zero, 1);
  const auto not_zero = [](int32_t zero) { return zero != 0; };
  const bool sums_rows = std::any_of(right_zeros.begin(), right_zeros.end(), not_zero);
  const bool corrects =
      sums_rows || left_signed_ || std::any_of(zeros.left.begin(), zeros.left.end(), not_zero);
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
                   zeros.left,
                   right_zeros,
                   sums_rows};
  StepArgs rest = args;
  rest.scratch = static_cast<char*>(scratch) + (filter.packed != nullptr ? 0 : SharedBytes());
  const int64_t places = w_.out_places(), tiles_of_image = tiles() / w_.batch;
  return ForEachTile(rest, tiles(), SlotBytes(sums == nullptr), [&](int64_t tile, char* memory) {
    const int64_t image = tile / tiles_of_image, first = tile % tiles_of_image * kByteTilePlaces;
    Part part{image, first, std::min(kByteTilePlaces, places - first), 0, 0, nullptr, n, nullptr};
    auto* const total = reinterpret_cast<int32_t*>(memory);
    char* const windows = memory + AlignedBytes(n * sizeof(int32_t));
    Rows rows;
    PackRows(o, part, windows, rows);
    auto* const own = reinterpret_cast<int32_t*>(
        windows + (in_place() ? 0 : AlignedBytes(tile_places() * filter_.row_bytes())));
    const bool offsets = by_parts_ && rows.all_inside && !o.sums_rows;
    for (int64_t begin = 0; begin < filter_.panels(); begin += panels_together()) {
      const int64_t end = std::min(filter_.panels(), begin + panels_together());
      part.begin = begin * filter_.gemm().columns;
      part.end = std::min(n, end * filter_.gemm().columns);
      int32_t* to = own;
      if (sums != nullptr) {
        to = sums + (image * places + first) * n + part.begin;
      } else {
        part.row = part_row();
      }
      filter_.Multiply(packed, rows.first, filter_.row_bytes(), part.count, begin, end, to,
                       part.row, /*whole=*/by_parts_);
      for (int64_t i = 0; i < part.count && filter_.row_values() == 0; ++i)
        std::fill(to + i * part.row, to + i * part.row + part.end - part.begin, 0);
      for (int64_t i = 0; i < part.count && o.place_sums != nullptr && !offsets; ++i)
        Correct(o, part, rows, i, total, to + i * part.row);
      if (o.place_sums != nullptr && offsets) {
        std::transform(o.column_sums + part.begin, o.column_sums + part.end, total,
                       [zero = static_cast<uint32_t>(rows.left_zero)](int32_t sum) {
                         return static_cast<int32_t>(static_cast<uint32_t>(sum) * zero);
                       });
        part.offsets = total;
      }
      part.sums = to;
      finish(part);
    }
    return absl::OkStatus();
  });
}

}  // namespace tenon::cpu
