// Products of bytes: every set of instructions that the processor has, all pairs of types, zero
// points, edges of blocks, tiles and depths. Extreme bytes are frequent, so that a sum which
// saturates anywhere is seen.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/cpu/linalg/products/byte_conv.h"
#include "plugin/cpu/linalg/products/byte_gemm.h"
#include "plugin/cpu/linalg/products/byte_matmul.h"

namespace tenon::cpu {
namespace byte_products_test {

class RandomBytes {
 public:
  explicit RandomBytes(uint32_t seed) : state_(seed) {}
  uint32_t Next() { return (state_ = state_ * 1664525u + 1013904223u) >> 8; }
  std::vector<uint8_t> Bytes(int64_t count) {
    constexpr uint8_t kExtremes[] = {0, 127, 128, 255};
    std::vector<uint8_t> bytes(static_cast<size_t>(count));
    for (uint8_t& b : bytes) {
      const uint32_t x = Next();
      b = (x & 1) != 0 ? kExtremes[x >> 1 & 3] : static_cast<uint8_t>(x >> 4);
    }
    return bytes;
  }
  std::vector<int32_t> Zeros(int64_t count) {
    std::vector<int32_t> zeros(static_cast<size_t>(count));
    for (int32_t& z : zeros) z = static_cast<int32_t>(Next() % 2000) - 1000;
    return zeros;
  }

 private:
  uint32_t state_;
};

uint32_t Number(uint8_t byte, bool is_signed) {
  return is_signed ? static_cast<uint32_t>(static_cast<int8_t>(byte)) : byte;
}

void CheckBlocks(const ByteGemm& gemm, int64_t m, int64_t k, int n) {
  SCOPED_TRACE(absl::StrCat(gemm.name, " ", m, "x", k, "x", n));
  RandomBytes random(static_cast<uint32_t>(m * 1000 + k * 10 + n));
  const std::vector<uint8_t> a = random.Bytes(m * k), b = random.Bytes(k * n);
  const int64_t padded = (k + gemm.group - 1) / gemm.group * gemm.group;
  std::vector<uint8_t> rows(static_cast<size_t>(m * padded * gemm.element)),
      panel(static_cast<size_t>(gemm.columns * padded * gemm.element), 77);
  for (int64_t i = 0; i < m; ++i) gemm.pack_row(&a[i * k], k, 0, &rows[i * padded * gemm.element]);
  gemm.pack_panel(b.data(), n, 1, k, n, 0, panel.data());
  const int64_t c_row = n + 3;
  std::vector<int32_t> c(static_cast<size_t>(m * c_row), 5);
  gemm.multiply(padded, rows.data(), padded * gemm.element, panel.data(), m, n, c.data(), c_row,
                false);
  gemm.multiply(padded, rows.data(), padded * gemm.element, panel.data(), m, n, c.data(), c_row,
                true);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < c_row; ++j) {
      uint32_t sum = 0;
      for (int64_t p = 0; p < k && j < n; ++p)
        sum += Number(a[i * k + p], false) * Number(b[p * n + j], true);
      ASSERT_EQ(static_cast<uint32_t>(c[i * c_row + j]), j < n ? 2 * sum : 5) << i << " " << j;
    }
  }
}

TEST(ByteProducts, EverySetSumsExactly) {
  for (const ByteGemm* gemm : AllByteGemms()) {
    for (int64_t m : {1, 2, 3, 4, 5, 12, 13, 16, 17, 31, 32, 37, 75}) {
      for (int64_t k : {1, 4, 7, 64, 130})
        for (int n : {1, gemm->columns - 1, gemm->columns}) CheckBlocks(*gemm, m, k, n);
    }
  }
}

struct Sizes {
  int64_t m, k, n;
};

void CheckMatMul(const Sizes& size, ByteSide left, ByteSide right, bool by_row, bool by_column,
                 bool zero_points) {
  SCOPED_TRACE(absl::StrCat(size.m, "x", size.k, "x", size.n, " signed ", left.is_signed, " ",
                            right.is_signed, " transposed ", left.transposed, " ",
                            right.transposed));
  const auto [m, k, n] = size;
  RandomBytes random(static_cast<uint32_t>(m + k + n));
  const std::vector<uint8_t> a = random.Bytes(m * k), b = random.Bytes(k * n);
  std::vector<int32_t> left_zeros = random.Zeros(by_row ? m : 1),
                       right_zeros = random.Zeros(by_column ? n : 1);
  if (!zero_points) left_zeros = right_zeros = {0};
  const ByteMatMul product(m, k, n, left, right);
  const auto scratch = product.ScratchBytes();
  ASSERT_TRUE(scratch.ok());
  for (int threads : {1, 3}) {
    Workers workers(threads);
    Workers::Runner runner(workers);
    std::vector<std::max_align_t> memory(*scratch / sizeof(std::max_align_t) + 8);
    auto* const aligned =
        reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(memory.data()) + 63) / 64 * 64);
    std::vector<int32_t> c(static_cast<size_t>(m * n), 1), seen(static_cast<size_t>(m * n));
    const auto mark = [&](int64_t row, int64_t begin, int64_t end) {
      for (int64_t j = begin; j < end; ++j) ++seen[row * n + j];
    };
    const absl::FunctionRef<void(int64_t, int64_t, int64_t)> finish = mark;
    // A right side that was packed before, of the same bytes.
    std::vector<std::max_align_t> right_side(product.RightBytes() / sizeof(std::max_align_t) + 8);
    auto* const packed =
        reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(right_side.data()) + 63) / 64 * 64);
    product.PackRight(workers, b.data(), packed);
    std::vector<int32_t> again(c.size(), 1);
    product.Run(workers, a.data(), {nullptr, packed}, {left_zeros, right_zeros}, aligned,
                again.data(), nullptr);
    product.Run(workers, a.data(), {b.data(), nullptr}, {left_zeros, right_zeros}, aligned,
                c.data(), &finish);
    ASSERT_EQ(again, c);
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        const auto za = static_cast<uint32_t>(left_zeros[left_zeros.size() > 1 ? i : 0]);
        const auto zb = static_cast<uint32_t>(right_zeros[right_zeros.size() > 1 ? j : 0]);
        uint32_t sum = 0;
        for (int64_t p = 0; p < k; ++p) {
          sum += (Number(a[left.transposed ? p * m + i : i * k + p], left.is_signed) - za) *
                 (Number(b[right.transposed ? j * k + p : p * n + j], right.is_signed) - zb);
        }
        ASSERT_EQ(static_cast<uint32_t>(c[i * n + j]), sum) << i << " " << j;
        ASSERT_EQ(seen[i * n + j], 1);
      }
    }
  }
}

TEST(ByteProducts, MatricesOfAllTypes) {
  for (const Sizes& size : {Sizes{3, 0, 5}, Sizes{1, 1, 1}, Sizes{5, 9, 33}, Sizes{13, 64, 16},
                            Sizes{100, 70, 50}, Sizes{33, 600, 40}, Sizes{7, 3, 1030}}) {
    for (int bits = 0; bits < 16; ++bits) {
      const ByteSide left{(bits & 1) != 0, (bits & 4) != 0},
          right{(bits & 2) != 0, (bits & 8) != 0};
      CheckMatMul(size, left, right, false, false, true);
      CheckMatMul(size, left, right, false, false, false);
      CheckMatMul(size, left, right, true, true, true);
    }
  }
}

void CheckConv(const Windows& w, bool left_signed, bool right_signed, int32_t za, int32_t zb) {
  SCOPED_TRACE(absl::StrCat("signed ", left_signed, " ", right_signed, " channels ", w.in_channels,
                            " stride ", w.rows.stride, " dilation ", w.rows.dilation, " zeros ", za,
                            " ", zb));
  RandomBytes random(7);
  const std::vector<uint8_t> images = random.Bytes(w.batch * w.in_places() * w.in_channels),
                             filter =
                                 random.Bytes(w.window_places() * w.in_channels * w.out_channels);
  const ByteConv conv(w, left_signed, right_signed);
  Workers workers(3);
  Workers::Runner runner(workers);
  const int64_t n = w.out_channels;
  for (bool own_sums : {false, true}) {
    std::vector<std::max_align_t> memory(
        conv.ScratchBytes(workers, own_sums) / sizeof(std::max_align_t) + 8);
    auto* const aligned =
        reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(memory.data()) + 63) / 64 * 64);
    std::vector<int32_t> out(static_cast<size_t>(w.batch * w.out_places() * n));
    StepArgs args{};
    args.workers = &workers;
    const auto copy = [&](int64_t image, int64_t first, int64_t count, const int32_t* sums) {
      std::copy(sums, sums + count * n, out.begin() + (image * w.out_places() + first) * n);
    };
    const absl::FunctionRef<void(int64_t, int64_t, int64_t, const int32_t*)> finish = copy;
    ASSERT_TRUE(conv.Run(args, aligned, images.data(), {filter.data(), nullptr},
                         {{&za, 1}, {&zb, 1}}, own_sums ? nullptr : out.data(),
                         own_sums ? &finish : nullptr)
                    .ok());
    const std::vector<int32_t> unpacked = out;
    const int64_t parts = w.window_places();
    std::vector<std::max_align_t> right_side(
        conv.filter().WholeBytes(parts) / sizeof(std::max_align_t) + 8);
    auto* const packed =
        reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(right_side.data()) + 63) / 64 * 64);
    conv.filter().PackWhole(workers, filter.data(), parts, packed);
    ASSERT_TRUE(conv.Run(args, aligned, images.data(), {nullptr, packed}, {{&za, 1}, {&zb, 1}},
                         own_sums ? nullptr : out.data(), own_sums ? &finish : nullptr)
                    .ok());
    ASSERT_EQ(out, unpacked);
    for (int64_t i = 0; i < w.batch * w.out_places(); ++i) {
      for (int64_t j = 0; j < n; ++j) {
        uint32_t sum = 0;
        w.ForEachInWindow(i % w.out_places(), [&](int64_t in, int64_t place) {
          for (int64_t c = 0; c < w.in_channels; ++c) {
            sum += (Number(images[w.InputAt(i / w.out_places(), in, c)], left_signed) -
                    static_cast<uint32_t>(za)) *
                   (Number(filter[(place * w.in_channels + c) * n + j], right_signed) -
                    static_cast<uint32_t>(zb));
          }
        });
        ASSERT_EQ(static_cast<uint32_t>(out[i * n + j]), sum) << i << " " << j;
      }
    }
  }
}

TEST(ByteProducts, ConvolutionsOfAllTypes) {
  const auto axis = [](int64_t in, int64_t size, int64_t stride, int64_t dilation, int64_t pad) {
    WindowAxis a;
    a.in = in, a.size = size, a.stride = stride, a.dilation = dilation, a.before = pad;
    a.out = (in + 2 * pad - a.extent()) / stride + 1;
    return a;
  };
  for (int64_t channels : {1, 3, 64}) {
    for (int bits = 0; bits < 4; ++bits) {
      Windows w;
      w.batch = 2, w.in_channels = channels, w.out_channels = 37;
      const bool left = (bits & 1) != 0, right = (bits & 2) != 0;
      for (int32_t za : {0, 3, 300}) {
        for (int32_t zb : {0, -5}) {
          w.rows = axis(9, 3, 1, 1, 1), w.columns = axis(13, 3, 1, 1, 1);
          CheckConv(w, left, right, za, zb);
          w.rows = axis(9, 3, 2, 2, 2), w.columns = axis(13, 2, 2, 1, 0);
          CheckConv(w, left, right, za, zb);
          w.rows = axis(9, 1, 1, 1, 0), w.columns = axis(13, 1, 1, 1, 0);
          CheckConv(w, left, right, za, zb);
          // Windows that begin inside of the image.
          w.rows.before = -1, w.rows.out = 8;
          CheckConv(w, left, right, za, zb);
        }
      }
    }
  }
}

}  // namespace byte_products_test
}  // namespace tenon::cpu
