// QuantizedResizeBilinear.
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/image/resize_axis.h"
#include "plugin/cpu/quantize/quantized_range.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct QuantizedResize {
  DataType type;
  int64_t batch, in_rows, in_columns, channels;
  std::vector<Blend> rows, columns;
};

// Between four integers, in fixed point with kPlaces binary places, as in TensorFlow.
template <int kPlaces>
struct FixedBlend {
  static constexpr int64_t kOne = int64_t{1} << kPlaces;

  static int64_t Share(float share) { return static_cast<int64_t>(share * kOne); }
  int64_t operator()(int64_t top_left, int64_t top_right, int64_t bottom_left, int64_t bottom_right,
                     float x, float y) const {
    const int64_t top = top_left * kOne + (top_right - top_left) * Share(x);
    const int64_t bottom = bottom_left * kOne + (bottom_right - bottom_left) * Share(x);
    // `top` and `bottom` have kPlaces binary places. The division before the second product keeps
    // it within int64 for kPlaces 30. The last summand rounds.
    return (top + (bottom - top) / kOne * Share(y) + kOne / 2) / kOne;
  }
};

struct FloatBlend {
  float operator()(float top_left, float top_right, float bottom_left, float bottom_right, float x,
                   float y) const {
    const float top = top_left + (top_right - top_left) * x;
    const float bottom = bottom_left + (bottom_right - bottom_left) * x;
    return top + (bottom - top) * y;
  }
};

// at(i) is element i of the images, put(i, value) stores one of the output.
template <typename At, typename Put, typename BlendOf>
void ResizeRows(const QuantizedResize& s, const StepArgs& args, At at, Put put, BlendOf blend) {
  const auto rows = static_cast<int64_t>(s.rows.size());
  const int64_t width = static_cast<int64_t>(s.columns.size()) * s.channels;
  args.workers->ParallelFor(s.batch * rows, GrainFor(width * 16), [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      const Blend& row = s.rows[t % rows];
      const int64_t line = s.in_columns * s.channels, image = t / rows * s.in_rows;
      const int64_t top = (image + row.lower) * line, bottom = (image + row.upper) * line;
      int64_t out = t * width;
      for (const Blend& column : s.columns) {
        const int64_t left = column.lower * s.channels, right = column.upper * s.channels;
        for (int64_t c = 0; c < s.channels; ++c) {
          put(out++, blend(at(top + left + c), at(top + right + c), at(bottom + left + c),
                           at(bottom + right + c), column.share, row.share));
        }
      }
    }
  });
}

absl::Status RunQuantizedResize(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const QuantizedResize*>(state);
  if (s.type == DataType::kQuint8) {
    ResizeRows(
        s, args, [&](int64_t i) { return static_cast<const uint8_t*>(args.in[0])[i]; },
        [&](int64_t i, int64_t x) {
          static_cast<uint8_t*>(args.out[0])[i] = static_cast<uint8_t>(x);
        },
        FixedBlend<7>());
  } else if (s.type == DataType::kQint32) {
    // TensorFlow widens these by way of float.
    ResizeRows(
        s, args,
        [&](int64_t i) {
          return static_cast<int64_t>(
              static_cast<float>(static_cast<const int32_t*>(args.in[0])[i]));
        },
        [&](int64_t i, int64_t x) {
          static_cast<int32_t*>(args.out[0])[i] = static_cast<int32_t>(x);
        },
        FixedBlend<30>());
  } else {
    ResizeRows(
        s, args, [&](int64_t i) { return static_cast<const float*>(args.in[0])[i]; },
        [&](int64_t i, float x) { static_cast<float*>(args.out[0])[i] = x; }, FloatBlend());
  }
  StoreRange(args, 1, InputRange(args, 2));
  return absl::OkStatus();
}

absl::Status PrepareQuantizedResize(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const ResizeProblem problem, ReadResize(p));
  const Shape &images = problem.images, &output = problem.output;
  if (images.dim(3) == 0) return p.Invalid("the images must have channels");
  TENON_RETURN_IF_ERROR(CheckSingleValues(p, 2, 4));
  SetQuantizedOutput(p, output);
  // TensorFlow passes images of the wanted size on. The blend would change a qint32 that float does
  // not hold.
  if (output == images) {
    for (int i = 0; i < 3; ++i) p.Alias(i, i == 0 ? 0 : i + 1);
    return absl::OkStatus();
  }
  auto s = std::make_shared<QuantizedResize>();
  s->type = p.input_type(0);
  s->batch = images.dim(0);
  s->in_rows = images.dim(1);
  s->in_columns = images.dim(2);
  s->channels = images.dim(3);
  if (output.num_elements() > 0) {
    s->rows = BilinearBlends(problem.scaling, s->in_rows, output.dim(1));
    s->columns = BilinearBlends(problem.scaling, s->in_columns, output.dim(2));
  }
  p.set_run(&RunQuantizedResize, std::move(s));
  return absl::OkStatus();
}

constexpr uint64_t kResizeTypes = TypeBits(DataType::kQuint8, DataType::kQint32, DataType::kFloat);

const CpuKernelSpec kQuantizedResizeKernels[] = {
    {"QuantizedResizeBilinear", {{"T", kResizeTypes}}, &PrepareQuantizedResize, 0b10},
};

}  // namespace

absl::Span<const CpuKernelSpec> QuantizedResizeKernels() { return kQuantizedResizeKernels; }

}  // namespace tenon::cpu
