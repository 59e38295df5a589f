#include "plugin/cpu/linalg/coded/byte_input.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/cpu/linalg/coded/quantized_loops.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {
namespace {

constexpr int64_t kPieceValues = 16384;  // that a thread takes at once
constexpr int32_t kMostByte = 255;
// Values of a group with smaller steps count as 0: the inverse of a step must be a number.
constexpr float kLeastStep = 0x1p-100f;

}  // namespace

// What one thread found in a part of a group.
struct ByteInput::Piece {
  float low, high;
  bool has_nan;
};

absl::StatusOr<ByteInput> ByteInput::Read(const Prepare& p, int64_t groups, int64_t size) {
  ByteInput input(groups, size);
  TENON_ASSIGN_OR_RETURN(input.step_, p.AttrFloat("step"));
  TENON_ASSIGN_OR_RETURN(const int64_t least, p.AttrInt("least"));
  TENON_ASSIGN_OR_RETURN(const int64_t most, p.AttrInt("most"));
  const bool is_step = input.step_ == 0 || (input.step_ >= std::numeric_limits<float>::min() &&
                                            input.step_ <= std::numeric_limits<float>::max());
  if (!is_step)
    return p.Invalid(absl::StrCat("step must be 0 or a positive number, not ", input.step_));
  if (least > 0 || most < 0 || least < -kMostByte || most > kMostByte || most - least > kMostByte) {
    return p.Invalid(absl::StrCat("the multiples from least ", least, " to most ", most,
                                  " must be 256 or fewer, with 0 among them"));
  }
  input.least_ = static_cast<int32_t>(least);
  input.most_ = static_cast<int32_t>(most);
  return input;
}

int64_t ByteInput::pieces_of_group() const { return (size_ + kPieceValues - 1) / kPieceValues; }

// Bytes, pieces, steps, scales, zeros.
size_t ByteInput::ScratchBytes() const {
  const auto groups = static_cast<size_t>(groups_);
  return AlignedBytes(groups * static_cast<size_t>(size_)) +
         AlignedBytes(groups * static_cast<size_t>(pieces_of_group()) * sizeof(Piece)) +
         AlignedBytes(groups * sizeof(Steps)) + AlignedBytes(groups * sizeof(float)) +
         AlignedBytes(groups * sizeof(int32_t));
}

ByteInput::Result ByteInput::Run(const StepArgs& args, const float* x, void* scratch) const {
  const QuantizedLoops& loops = ChooseQuantizedLoops();
  const int64_t pieces = pieces_of_group();
  char* memory = static_cast<char*>(scratch);
  const auto take = [&memory](int64_t bytes) {
    char* const taken = memory;
    memory += AlignedBytes(static_cast<size_t>(bytes));
    return taken;
  };
  auto* const bytes = reinterpret_cast<uint8_t*>(take(groups_ * size_));
  auto* const found =
      reinterpret_cast<Piece*>(take(groups_ * pieces * static_cast<int64_t>(sizeof(Piece))));
  auto* const steps = reinterpret_cast<Steps*>(take(groups_ * static_cast<int64_t>(sizeof(Steps))));
  auto* const scales = reinterpret_cast<float*>(take(groups_ * 4));
  auto* const zeros = reinterpret_cast<int32_t*>(take(groups_ * 4));
  // Calls visit(piece, group, first value, values).
  const auto for_each_piece = [&](int64_t cost, auto visit) {
    const int64_t values = std::min(size_, kPieceValues);
    args.workers->ParallelFor(
        groups_ * pieces, GrainFor(values * cost), [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            const int64_t group = i / pieces, first = i % pieces * kPieceValues;
            visit(i, group, group * size_ + first, std::min(kPieceValues, size_ - first));
          }
        });
  };
  if (by_extremes()) {
    for_each_piece(1, [&](int64_t i, int64_t, int64_t first, int64_t values) {
      loops.extremes(x + first, values, &found[i].low, &found[i].high);
    });
  }
  for (int64_t group = 0; group < groups_; ++group) {
    steps[group] = {by_extremes() ? 0 : 1 / step_, static_cast<float>(least_),
                    static_cast<float>(most_)};
    scales[group] = step_;
    zeros[group] = -least_;
    if (!by_extremes()) continue;
    float low = 0, high = 0;
    for (int64_t i = group * pieces; i < (group + 1) * pieces; ++i) {
      // A NaN stays.
      low = low < found[i].low ? low : found[i].low;
      high = high > found[i].high ? high : found[i].high;
      if (std::isnan(found[i].low)) scales[group] = found[i].low;
    }
    // By parts: the difference of two floats may be infinite.
    const float step = high / kMostByte - low / kMostByte;
    const bool usable = step >= kLeastStep && !std::isnan(scales[group]);
    const float least = usable ? std::nearbyint(low / step) : 0;
    steps[group] = {usable ? 1 / step : 0, least, least + kMostByte};
    if (!std::isnan(scales[group])) scales[group] = usable ? step : 0;
    zeros[group] = -static_cast<int32_t>(least);
  }
  for_each_piece(2, [&](int64_t i, int64_t group, int64_t first, int64_t values) {
    const Steps& s = steps[group];
    found[i].has_nan =
        !loops.to_bytes(x + first, values, s.inverse, s.least, s.most, bytes + first);
  });
  for (int64_t i = 0; i < groups_ * pieces; ++i) {
    if (found[i].has_nan) scales[i / pieces] = std::numeric_limits<float>::quiet_NaN();
  }
  return {bytes,
          {scales, static_cast<size_t>(groups_)},
          {zeros, by_extremes() ? static_cast<size_t>(groups_) : 1}};
}

}  // namespace tenon::cpu
