// Depthwise convolutions by the usual windows, without oneDNN: it is slower where images are larger
// than the first cache.
#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "graph/base/status_macros.h"
#include "plugin/cpu/base/isa.h"
#include "plugin/cpu/base/kernel_util.h"
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
  DepthwiseLoop convolve = nullptr;
  int64_t batch, rows_out, rows_before;
  int64_t element_bytes;
  int bias = -1;
  std::shared_ptr<const PackedBytes> filter, shift;  // with the batch normalisation; or null
  ElementLoop widen = nullptr;  // of half and bfloat16, whose filter and bias become floats

  int64_t filter_elements() const { return rows.window * rows.window * rows.channels; }
};

// The loop for `type` of one instruction set's.
DepthwiseLoop LoopOf(const DepthwiseLoops& loops, DataType type) {
  switch (type) {
    case DataType::kDouble:
      return loops.doubles;
    case DataType::kHalf:
      return loops.halves;
    case DataType::kBfloat16:
      return loops.bfloat16s;
    default:
      return loops.floats;
  }
}

absl::Status RunDepthwise(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Depthwise*>(state);
  DepthwiseRows shared = s.rows;
  shared.filter = s.filter ? s.filter->data : args.in[1];
  if (s.bias >= 0) shared.bias = args.in[s.bias];
  if (s.shift) shared.bias = s.shift->data;
  if (s.widen != nullptr) {
    auto* const filter = static_cast<float*>(args.scratch);
    s.widen(&shared.filter, filter, s.filter_elements(), 0);
    shared.filter = filter;
    if (shared.bias != nullptr) {
      s.widen(&shared.bias, filter + s.filter_elements(), shared.channels, 0);
      shared.bias = filter + s.filter_elements();
    }
  }
  // Two rows of the output at a time, which share most of their inputs. The last pair may have one
  // row.
  const int64_t pairs = (s.rows_out + 1) / 2;
  const int64_t line_in = shared.columns_in * shared.channels * s.element_bytes;
  const int64_t line_out = shared.columns_out * shared.channels * s.element_bytes;
  const int64_t bytes = 2 * (shared.stride * line_in + line_out);
  args.workers->ParallelFor(s.batch * pairs, GrainFor(bytes), [&](int64_t begin, int64_t end) {
    DepthwiseRows d = shared;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t image = i / pairs, row = i % pairs * 2;
      d.in = static_cast<const char*>(args.in[0]) + image * d.rows_in * line_in;
      d.out = static_cast<char*>(args.out[0]) + (image * s.rows_out + row) * line_out;
      d.top = row * d.stride - s.rows_before;
      d.both = row + 1 < s.rows_out;
      s.convolve(d);
    }
  });
  return absl::OkStatus();
}

bool IsUsual(const WindowAxis& a) {
  return (a.size == 3 || a.size == 5) && a.stride <= 2 && a.dilation == 1;
}
bool IsBuilt(const Prepare& p, const ConvProblem& q) {
  const Activation activation = q.fused.activation;
  const DataType type = p.input_type(0);
  return (type == DataType::kFloat || (HasType(kFloatTypes, type) && q.fused.batch_norm < 0)) &&
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
  const DataType type = p.input_type(0);
  s->convolve =
      LoopOf(*SelectIsa<const DepthwiseLoops*>(&sse2::kDepthwiseLoops, &avx2::kDepthwiseLoops,
                                               &avx512::kDepthwiseLoops),
             type);
  s->element_bytes = static_cast<int64_t>(DataTypeSize(type));
  s->batch = q.batch, s->rows_out = q.rows.out, s->rows_before = q.rows.before;
  s->bias = q.fused.bias;
  DepthwiseRows& r = s->rows;
  r.channels = q.in_channels, r.rows_in = q.rows.in;
  r.columns_in = q.columns.in, r.columns_out = q.columns.out, r.left = -q.columns.before;
  r.window = q.rows.size, r.stride = q.rows.stride;
  r.clamp = q.fused.activation != Activation::kNone;
  r.ceiling = q.fused.activation == Activation::kRelu6 ? 6 : std::numeric_limits<float>::infinity();
  if (q.fused.batch_norm >= 0) TENON_RETURN_IF_ERROR(FoldBatchNorm(p, q, *s));
  if (HasType(kHalfTypes, type)) {
    s->widen = FindCastLoop(type, DataType::kFloat);
    p.set_scratch_bytes(static_cast<size_t>(s->filter_elements() + r.channels) * sizeof(float));
  }
  p.set_run(&RunDepthwise, std::move(s));
  return absl::OkStatus();
}

}  // namespace tenon::cpu
