// QuantizedMaxPool and QuantizedAvgPool.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/families.h"
#include "plugin/cpu/kernel_util.h"
#include "plugin/cpu/quantize/quantized_range.h"
#include "plugin/cpu/quantize/quantized_type.h"
#include "plugin/cpu/window.h"

namespace tenon::cpu {
namespace {

struct QuantizedPool {
  bool max;
  DataType type;
  int64_t batch, channels;
  WindowAxis rows, columns;
};

// The mean is cut off towards 0.
template <typename Element>
void PoolPixel(const QuantizedPool& s, const StepArgs& args, int64_t n, int64_t row, int64_t column,
               Element element) {
  const int64_t top = row * s.rows.stride - s.rows.before;
  const int64_t left = column * s.columns.stride - s.columns.before;
  const int64_t bottom = std::min(top + s.rows.size, s.rows.in);
  const int64_t right = std::min(left + s.columns.size, s.columns.in);
  for (int64_t c = 0; c < s.channels; ++c) {
    int64_t sum = 0, most = INT64_MIN, count = 0;
    for (int64_t i = std::max<int64_t>(top, 0); i < bottom; ++i) {
      for (int64_t j = std::max<int64_t>(left, 0); j < right; ++j, ++count) {
        const auto x = element.template As<int64_t>(
            args.in[0], ((n * s.rows.in + i) * s.columns.in + j) * s.channels + c);
        sum += x;
        most = std::max(most, x);
      }
    }
    const int64_t out = ((n * s.rows.out + row) * s.columns.out + column) * s.channels + c;
    element.Put(args.out[0], out, s.max ? most : sum / std::max<int64_t>(count, 1));
  }
}

absl::Status RunPool(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const QuantizedPool*>(state);
  const int64_t work = s.columns.out * s.channels * s.rows.size * s.columns.size;
  VisitQuantized(s.type, [&](auto element) {
    args.workers->ParallelFor(
        s.batch * s.rows.out, GrainFor(work), [&](int64_t begin, int64_t end) {
          for (int64_t t = begin; t < end; ++t) {
            for (int64_t column = 0; column < s.columns.out; ++column)
              PoolPixel(s, args, t / s.rows.out, t % s.rows.out, column, element);
          }
        });
  });
  StoreRange(args, 1, InputRange(args, 1));
  return absl::OkStatus();
}

absl::StatusOr<Dims> ReadFour(const Prepare& p, std::string_view name) {
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> values, p.AttrIntList(name));
  if (values.size() != 4) {
    return p.Invalid(
        absl::StrCat("attribute '", name, "' must have 4 values, not ", values.size()));
  }
  if (values[0] != 1 || values[3] != 1)
    return p.Unimplemented(absl::StrCat("the ", name, " of batch and channels must be 1"));
  return Dims(values.begin(), values.end());
}

template <bool kMax>
absl::Status PreparePool(Prepare& p) {
  const Shape& input = p.input_shape(0);
  if (input.rank() != 4)
    return p.Invalid(absl::StrCat("the input must have rank 4, not ", input.ToString()));
  WindowAttrs attrs;
  attrs.dilations = Dims(4, 1);
  TENON_ASSIGN_OR_RETURN(attrs.padding, p.AttrString("padding"));
  TENON_ASSIGN_OR_RETURN(attrs.strides, ReadFour(p, "strides"));
  TENON_ASSIGN_OR_RETURN(const Dims sizes, ReadFour(p, "ksize"));
  auto s = std::make_shared<QuantizedPool>();
  s->max = kMax;
  s->type = p.input_type(0);
  s->batch = input.dim(0);
  s->channels = input.dim(3);
  TENON_ASSIGN_OR_RETURN(s->rows, MakeWindowAxis(p, attrs, 0, input.dim(1), sizes[1]));
  TENON_ASSIGN_OR_RETURN(s->columns, MakeWindowAxis(p, attrs, 1, input.dim(2), sizes[2]));
  TENON_RETURN_IF_ERROR(CheckScalars(p, 1, 3));
  SetQuantizedOutput(p, Shape({s->batch, s->rows.out, s->columns.out, s->channels}));
  p.set_run(&RunPool, std::move(s));
  return absl::OkStatus();
}

constexpr uint64_t kBytes = TypeBits(DataType::kQuint8, DataType::kQint8);

const CpuKernelSpec kKernels[] = {
    {"QuantizedMaxPool", {{"T", kBytes}}, &PreparePool<true>},
    {"QuantizedAvgPool", {{"T", kBytes}}, &PreparePool<false>},
};

}  // namespace

absl::Span<const CpuKernelSpec> QuantizedPoolKernels() { return kKernels; }

}  // namespace tenon::cpu
