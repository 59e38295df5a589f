#include "plugin/cpu/linalg/coded/coded_weights.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/linalg/coded/coded_loops.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {
namespace {

// The nearest bfloat16, as its bits; `x` is finite and far from the largest one.
uint16_t ToBfloat16(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
float FromBfloat16(uint16_t x) {
  const uint32_t bits = uint32_t{x} << 16;
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

// The nearest code.
int32_t CodeOf(float weight, double scale, int32_t least, int32_t most) {
  if (scale == 0) return 0;
  const double code = std::nearbyint(weight / scale);
  return static_cast<int32_t>(
      std::clamp(code, static_cast<double>(least), static_cast<double>(most)));
}

// One panel: columns from `first` on.
class PanelCoder {
 public:
  PanelCoder(const WeightMatrix& weights, int bits)
      : w_(weights), bits_(bits), least_(bits == 4 ? -8 : -127), most_(bits == 4 ? 7 : 127) {}

  // Whether all weights are finite.
  bool Write(int64_t first, char* to) const {
    bool finite = true;
    const int columns = static_cast<int>(std::min<int64_t>(kCodedColumns, w_.n - first));
    for (int64_t row = 0; row < w_.k; row += kCodedRows, to += CodedBlockBytes(bits_)) {
      std::memset(to, 0, CodedBlockBytes(bits_));
      const int rows = static_cast<int>(std::min<int64_t>(kCodedRows, w_.k - row));
      for (int j = 0; j < columns; ++j) finite &= WriteColumn(row, rows, first + j, j, to);
    }
    return finite;
  }

 private:
  bool WriteColumn(int64_t row, int rows, int64_t column, int j, char* block) const {
    float values[kCodedRows], extreme = 0;
    for (int r = 0; r < rows; ++r) {
      values[r] = w_.at(row + r, column);
      if (!std::isfinite(values[r])) return false;
      if (std::abs(values[r]) > std::abs(extreme)) extreme = values[r];
    }
    const uint16_t scale = bits_ == 4 ? BestScale4(values, rows, extreme)
                                      : ToBfloat16(extreme / static_cast<float>(most_));
    std::memcpy(block + j * sizeof(scale), &scale, sizeof(scale));
    const int places = 32 / bits_;
    for (int r = 0; r < rows; ++r) {
      const int32_t code = CodeOf(values[r], FromBfloat16(scale), least_, most_);
      char* const at = block + kCodedColumns * sizeof(scale) + (r / places * kCodedColumns + j) * 4;
      uint32_t word;
      std::memcpy(&word, at, sizeof(word));
      word |= (static_cast<uint32_t>(code) & ((1u << bits_) - 1)) << (r % places * bits_);
      std::memcpy(at, &word, sizeof(word));
    }
    return true;
  }

  // Of these numbers and zeros behind them, up to kCodedRows; `extreme` has the greatest magnitude.
  // A code for the extreme that is beyond the least or the most one cuts the extreme off, and
  // serves the others better.
  uint16_t BestScale4(float* numbers, int count, float extreme) const {
    constexpr float kExtremes[] = {-8, -8.5f, -9, -9.5f, -10, -10.5f, -11,
                                   7,  7.5f,  8,  8.5f,  9,   9.5f};
    std::fill(numbers + count, numbers + kCodedRows, 0.0f);
    uint16_t best = ToBfloat16(extreme / kExtremes[0]);
    // Squares of smaller numbers might be 0.
    constexpr float kLeast = 1e-15f, kMost = 1e15f;
    if (std::abs(extreme) < kLeast || std::abs(extreme) > kMost) return best;
    float least_error = std::numeric_limits<float>::infinity();
    for (const float code : kExtremes) {
      const uint16_t scale = ToBfloat16(extreme / code);
      const float error = loops_.squared_error4(numbers, FromBfloat16(scale));
      if (error >= least_error) continue;
      least_error = error;
      best = scale;
    }
    return best;
  }

  const CodedLoops& loops_ = ChooseCodedLoops();
  const WeightMatrix& w_;
  const int bits_;
  const int32_t least_, most_;
};

absl::Status NotFinite() {
  return absl::InvalidArgumentError("weights that are NaN or infinite have no codes");
}
absl::Status NoMemory(size_t bytes) {
  return absl::ResourceExhaustedError(
      absl::StrCat("no memory for coded weights of ", bytes, " bytes"));
}

}  // namespace

float WeightMatrix::at(int64_t row, int64_t column) const {
  float value;
  const int64_t i = transposed ? column * k + row : row * n + column;
  std::memcpy(&value, static_cast<const char*>(data) + i * sizeof(value), sizeof(value));
  return value;
}

int64_t CodedBlocks(int64_t k) { return (k + kCodedRows - 1) / kCodedRows; }
size_t CodedBytes(int64_t k, int64_t n, int bits) {
  return static_cast<size_t>((n + kCodedColumns - 1) / kCodedColumns * CodedBlocks(k) *
                             CodedBlockBytes(bits)) +
         kTensorAlignment;
}

absl::StatusOr<std::shared_ptr<const CodedPanels>> MakeCodedPanels(Workers& workers,
                                                                   const WeightMatrix& weights,
                                                                   int bits) {
  const size_t bytes = CodedBytes(weights.k, weights.n, bits);
  auto panels = std::make_shared<CodedPanels>(bytes);
  if (panels->memory.data == nullptr) return NoMemory(bytes);
  const int64_t panel = CodedBlocks(weights.k) * CodedBlockBytes(bits);
  const PanelCoder coder(weights, bits);
  std::atomic<bool> finite = true;
  workers.ParallelFor(
      (weights.n + kCodedColumns - 1) / kCodedColumns, 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          if (!coder.Write(i * kCodedColumns, static_cast<char*>(panels->memory.data) + i * panel))
            finite = false;
        }
      });
  if (!finite) return NotFinite();
  return panels;
}

absl::StatusOr<std::shared_ptr<const CodedPanels>> PackCodes(Prepare& p, int i, int64_t k,
                                                             int64_t n, bool transposed, int bits) {
  const Tensor* const value = p.input_value(i);
  if (value == nullptr) return p.Unimplemented("weights that are no constant are not built");
  absl::Status status;
  const auto packed = p.session().GetPacked(
      value->data(), absl::StrCat("codes of ", bits, transposed ? " ^T " : " ", k, "x", n),
      [&]() -> std::shared_ptr<const void> {
        auto made = MakeCodedPanels(p.workers(), {value->data(), k, n, transposed}, bits);
        status = made.status();
        return made.ok() ? *made : nullptr;
      });
  if (packed == nullptr) return status;
  p.DropInput(i);
  return std::static_pointer_cast<const CodedPanels>(packed);
}

void ExpandColumn(const CodedPanels& panels, int64_t k, int bits, int64_t j, float* to) {
  const int places = 32 / bits;
  const int64_t column = j % kCodedColumns;
  const char* block = static_cast<const char*>(panels.memory.data) +
                      j / kCodedColumns * CodedBlocks(k) * CodedBlockBytes(bits);
  for (int64_t row = 0; row < k; row += kCodedRows, block += CodedBlockBytes(bits)) {
    uint16_t bits_of_scale;
    std::memcpy(&bits_of_scale, block + column * sizeof(bits_of_scale), sizeof(bits_of_scale));
    const float scale = FromBfloat16(bits_of_scale);
    const int64_t end = std::min<int64_t>(row + kCodedRows, k);
    const char* words = block + kCodedColumns * sizeof(bits_of_scale) + column * 4;
    for (int64_t i = row; i < end; i += places, words += kCodedColumns * 4) {
      uint32_t word;
      std::memcpy(&word, words, sizeof(word));
      for (int64_t r = i; r < std::min(end, i + places); ++r, word >>= bits) {
        const auto code = static_cast<int32_t>(word << (32 - bits)) >> (32 - bits);
        to[r] = static_cast<float>(code) * scale;
      }
    }
  }
}

absl::StatusOr<std::shared_ptr<const ByteWeights>> MakeByteWeights(Workers& workers,
                                                                   const WeightMatrix& weights,
                                                                   const ByteMatMul& product) {
  const int64_t k = weights.k, n = weights.n;
  auto made = std::make_shared<ByteWeights>(product.RightBytes() + kTensorAlignment);
  const PackedBytes codes(static_cast<size_t>(k * n) + kTensorAlignment);
  if (made->right.data == nullptr || codes.data == nullptr)
    return NoMemory(product.RightBytes() + static_cast<size_t>(k * n));
  made->scales.resize(n);
  auto* const bytes = static_cast<int8_t*>(codes.data);
  std::atomic<bool> finite = true;
  workers.ParallelFor(n, std::max<int64_t>(16, GrainFor(k * 4)), [&](int64_t begin, int64_t end) {
    double* const scales = made->scales.data();
    for (int64_t i = 0; i < k; ++i) {
      for (int64_t j = begin; j < end; ++j) {
        const double magnitude = std::abs(weights.at(i, j));
        if (!std::isfinite(magnitude)) finite = false;
        scales[j] = std::max(scales[j], magnitude);
      }
    }
    for (int64_t j = begin; j < end; ++j) scales[j] /= 127;
    for (int64_t i = 0; i < k && finite; ++i) {
      for (int64_t j = begin; j < end; ++j)
        bytes[i * n + j] = static_cast<int8_t>(CodeOf(weights.at(i, j), scales[j], -127, 127));
    }
  });
  if (!finite) return NotFinite();
  product.PackRight(workers, bytes, made->right.data);
  return made;
}

}  // namespace tenon::cpu
