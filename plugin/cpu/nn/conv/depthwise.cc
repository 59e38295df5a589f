// Depthwise convolutions by the usual windows, in floats, without oneDNN: it is slower where images
// are larger than the first cache.
#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "graph/base/status_macros.h"
#include "plugin/cpu/base/isa.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/tiles.h"
#include "plugin/cpu/elementwise/loops/element_op.h"
#include "plugin/cpu/nn/conv/conv.h"
#include "plugin/cpu/nn/conv/depthwise_rows.h"
#include "plugin/cpu/onednn/onednn.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {
namespace {

constexpr int64_t kLeastColumns = 4, kLeastChannels = 8;

struct Depthwise {
  DepthwiseRows rows = {};  // all but pointers and places
  void (*convolve)(const DepthwiseRows&) = nullptr;
  int64_t batch, rows_out, rows_before;
  int bias = -1;
  std::shared_ptr<const PackedBytes> filter, shift;  // with the batch normalisation; or null
  ElementLoop widen = nullptr, narrow = nullptr;     // of half and bfloat16

  int64_t line_in() const { return rows.columns_in * rows.channels; }
  int64_t line_out() const { return rows.columns_out * rows.channels; }
  int64_t pairs() const { return (rows_out + 1) / 2; }  // of rows of the output
};

absl::Status RunDepthwise(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Depthwise*>(state);
  const DepthwiseRows& r = s.rows;
  // Two rows of the output at a time, which share most of their inputs. The last pair may have one
  // row.
  const int64_t pairs = s.pairs(), line_out = s.line_out(), line_in = s.line_in();
  const auto bytes = 2 * (r.stride * line_in + line_out) * static_cast<int64_t>(sizeof(float));
  const float* const in = static_cast<const float*>(args.in[0]);
  float* const out = static_cast<float*>(args.out[0]);
  args.workers->ParallelFor(s.batch * pairs, GrainFor(bytes), [&](int64_t begin, int64_t end) {
    DepthwiseRows d = r;
    d.filter = static_cast<const float*>(s.filter ? s.filter->data : args.in[1]);
    if (s.bias >= 0) d.bias = static_cast<const float*>(args.in[s.bias]);
    if (s.shift) d.bias = static_cast<const float*>(s.shift->data);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t image = i / pairs, row = i % pairs * 2;
      d.in = in + image * r.rows_in * line_in;
      d.out = out + (image * s.rows_out + row) * line_out;
      d.top = row * r.stride - s.rows_before;
      d.both = row + 1 < s.rows_out;
      s.convolve(d);
    }
  });
  return absl::OkStatus();
}

// --- Half and bfloat16: some rows of the image become floats, and two rows of outputs are rounded.

constexpr int64_t kStripBytes = 256 << 10;  // of floats, which stay in the second cache
constexpr int64_t kShortBytes = 2;

// Pairs of rows of the output that are computed from one strip.
int64_t StripPairs(const Depthwise& s) {
  const int64_t line = 2 * s.rows.stride * s.line_in() * static_cast<int64_t>(sizeof(float));
  return std::clamp<int64_t>(kStripBytes / line, 1, s.pairs());
}
int64_t StripRows(const Depthwise& s) {
  return (2 * StripPairs(s) - 1) * s.rows.stride + s.rows.window;
}
int64_t Strips(const Depthwise& s) { return (s.pairs() + StripPairs(s) - 1) / StripPairs(s); }
size_t FilterFloats(const Depthwise& s) {
  return static_cast<size_t>(s.rows.window * s.rows.window * s.rows.channels);
}
// The strip, then two rows of outputs.
size_t StripSlotBytes(const Depthwise& s) {
  return (static_cast<size_t>(StripRows(s) * s.line_in()) + 2 * static_cast<size_t>(s.line_out())) *
         sizeof(float);
}
// The filter and the bias.
size_t SharedFloatBytes(const Depthwise& s) {
  return AlignedBytes((FilterFloats(s) + static_cast<size_t>(s.rows.channels)) * sizeof(float));
}

void Widen(const Depthwise& s, const void* from, int64_t at, int64_t n, float* to) {
  const void* const in[] = {static_cast<const char*>(from) + at * kShortBytes};
  s.widen(in, to, n, 0);
}

void RunStrip(const Depthwise& s, const StepArgs& args, const DepthwiseRows& shared, int64_t strip,
              float* memory) {
  const int64_t image = strip / Strips(s), first = strip % Strips(s) * StripPairs(s);
  const int64_t line_in = s.line_in(), line_out = s.line_out();
  // Input rows [begin, end) of the image become the rows of a smaller one.
  const int64_t top = 2 * first * s.rows.stride - s.rows_before;
  const int64_t begin = std::clamp<int64_t>(top, 0, s.rows.rows_in);
  const int64_t end = std::clamp<int64_t>(top + StripRows(s), begin, s.rows.rows_in);
  Widen(s, args.in[0], (image * s.rows.rows_in + begin) * line_in, (end - begin) * line_in, memory);
  DepthwiseRows d = shared;
  d.in = memory;
  d.rows_in = end - begin;
  d.out = memory + StripRows(s) * line_in;
  for (int64_t pair = first; pair < std::min(s.pairs(), first + StripPairs(s)); ++pair) {
    const int64_t row = 2 * pair;
    d.top = row * s.rows.stride - s.rows_before - begin;
    d.both = row + 1 < s.rows_out;
    s.convolve(d);
    const void* const in[] = {d.out};
    s.narrow(in,
             static_cast<char*>(args.out[0]) + (image * s.rows_out + row) * line_out * kShortBytes,
             (d.both ? 2 : 1) * line_out, 0);
  }
}

absl::Status RunShortDepthwise(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Depthwise*>(state);
  auto* const floats = static_cast<float*>(args.scratch);
  DepthwiseRows d = s.rows;
  Widen(s, args.in[1], 0, static_cast<int64_t>(FilterFloats(s)), floats);
  d.filter = floats;
  if (s.bias >= 0) {
    Widen(s, args.in[s.bias], 0, d.channels, floats + FilterFloats(s));
    d.bias = floats + FilterFloats(s);
  }
  StepArgs rest = args;
  rest.scratch = static_cast<char*>(args.scratch) + SharedFloatBytes(s);
  return ForEachTile(rest, s.batch * Strips(s), StripSlotBytes(s), [&](int64_t i, char* memory) {
    RunStrip(s, args, d, i, reinterpret_cast<float*>(memory));
    return absl::OkStatus();
  });
}

// --- Both.

bool IsUsual(const WindowAxis& a) {
  return (a.size == 3 || a.size == 5) && a.stride <= 2 && a.dilation == 1;
}
bool IsBuilt(const Prepare& p, const ConvProblem& q) {
  const Activation activation = q.fused.activation;
  const bool is_short = HasType(kHalfTypes, p.input_type(0));
  return (p.input_type(0) == DataType::kFloat || (is_short && q.fused.batch_norm < 0)) &&
         !q.volume && !q.channels_first && q.in_channels >= kLeastChannels &&
         q.groups == q.in_channels && q.out_channels == q.in_channels && IsUsual(q.rows) &&
         IsUsual(q.columns) && q.rows.size == q.columns.size && q.rows.stride == q.columns.stride &&
         q.columns.out >= kLeastColumns && q.in_places() > 0 && q.fused.add < 0 &&
         // The loops clamp their sums; other activations they do not have.
         (activation == Activation::kNone || activation == Activation::kRelu ||
          activation == Activation::kRelu6) &&
         (q.fused.batch_norm < 0 ||
          (p.input_value(1) != nullptr && BatchNormIsConstant(p, q.fused)));
}

// The filter times the normalisation's scale; its shift becomes the bias.
absl::Status FoldBatchNorm(Prepare& p, const ConvProblem& q, Depthwise& s) {
  const Tensor& filter = *p.input_value(1);
  const auto shift = std::make_shared<PackedBytes>(q.out_channels * sizeof(float));
  const auto scaled = std::make_shared<PackedBytes>(filter.bytes());
  if (shift->data == nullptr || scaled->data == nullptr)
    return absl::ResourceExhaustedError("no memory for a folded batch normalisation");
  std::vector<float> scale(q.out_channels);
  ComputeAffine(p, q.fused, q.out_channels, scale.data(), static_cast<float*>(shift->data));
  auto* const out = static_cast<float*>(scaled->data);
  std::memcpy(out, filter.data(), filter.bytes());  // which may have any alignment
  // Channels are the filter's innermost dimensions.
  for (int64_t i = 0; i < filter.num_elements(); ++i) out[i] *= scale[i % q.out_channels];
  s.filter = scaled;
  s.shift = shift;
  for (int i : {1, q.fused.batch_norm, q.fused.batch_norm + 1, q.fused.batch_norm + 2,
                q.fused.batch_norm + 3}) {
    p.DropInput(i);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status PrepareDepthwiseRows(Prepare& p, const ConvProblem& q) {
  if (!IsBuilt(p, q)) return p.Unimplemented("a depthwise convolution of another form");
  auto s = std::make_shared<Depthwise>();
  s->convolve = SelectIsa<void (*)(const DepthwiseRows&)>(&sse2::ConvolveRows, &avx2::ConvolveRows,
                                                          &avx512::ConvolveRows);
  s->batch = q.batch, s->rows_out = q.rows.out, s->rows_before = q.rows.before;
  s->bias = q.fused.bias;
  DepthwiseRows& r = s->rows;
  r.channels = q.in_channels, r.rows_in = q.rows.in;
  r.columns_in = q.columns.in, r.columns_out = q.columns.out, r.left = -q.columns.before;
  r.window = q.rows.size, r.stride = q.rows.stride;
  r.clamp = q.fused.activation != Activation::kNone;
  r.ceiling = q.fused.activation == Activation::kRelu6 ? 6 : std::numeric_limits<float>::infinity();
  if (q.fused.batch_norm >= 0) TENON_RETURN_IF_ERROR(FoldBatchNorm(p, q, *s));
  if (p.input_type(0) == DataType::kFloat) {
    p.set_run(&RunDepthwise, std::move(s));
    return absl::OkStatus();
  }
  s->widen = FindCastLoop(p.input_type(0), DataType::kFloat);
  s->narrow = FindCastLoop(DataType::kFloat, p.input_type(0));
  p.set_scratch_bytes(SharedFloatBytes(*s) +
                      TileScratchBytes(p.workers(), s->batch * Strips(*s), StripSlotBytes(*s)));
  p.set_run(&RunShortDepthwise, std::move(s));
  return absl::OkStatus();
}

}  // namespace tenon::cpu
