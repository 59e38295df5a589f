// Gradients of MaxPool and AvgPool in two dimensions.
#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "plugin/cpu/element.h"
#include "plugin/cpu/families.h"
#include "plugin/cpu/kernel_util.h"
#include "plugin/cpu/pool.h"
#include "plugin/cpu/tiled_primitive.h"
#include "plugin/cpu/workers.h"

namespace tenon::cpu {
namespace {

// The part of output window i that lies inside the input.
struct Range {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};
Range WindowOf(const WindowAxis& a, int64_t i) {
  const int64_t first = i * a.stride - a.before;
  return {std::max<int64_t>(first, 0), std::min(first + a.size, a.in)};
}

// Adds f(image's gradients) for one channel of one image into `sums`, [rows.in, columns.in].
template <typename Element>
void AveragePlane(const Pool& s, const void* gradient, int64_t n, int64_t c, double* sums,
                  Element element) {
  for (int64_t row = 0; row < s.rows.out; ++row) {
    const Range rows = WindowOf(s.rows, row);
    for (int64_t column = 0; column < s.columns.out; ++column) {
      const Range columns = WindowOf(s.columns, column);
      const double share = element.template As<double>(gradient, s.OutputAt(n, row, column, c)) /
                           static_cast<double>(rows.size() * columns.size());
      for (int64_t i = rows.begin; i < rows.end; ++i) {
        for (int64_t j = columns.begin; j < columns.end; ++j) sums[i * s.columns.in + j] += share;
      }
    }
  }
}

// A window's gradient goes to its first largest value.
template <typename Element>
void MaxPlane(const Pool& s, const void* input, const void* gradient, int64_t n, int64_t c,
              double* sums, Element element) {
  for (int64_t row = 0; row < s.rows.out; ++row) {
    const Range rows = WindowOf(s.rows, row);
    for (int64_t column = 0; column < s.columns.out; ++column) {
      const Range columns = WindowOf(s.columns, column);
      int64_t best = -1;
      double most = 0;
      for (int64_t i = rows.begin; i < rows.end; ++i) {
        for (int64_t j = columns.begin; j < columns.end; ++j) {
          const double x = element.template As<double>(input, s.InputAt(n, i, j, c));
          if (best >= 0 && !(x > most)) continue;
          best = i * s.columns.in + j;
          most = x;
        }
      }
      if (best >= 0)
        sums[best] += element.template As<double>(gradient, s.OutputAt(n, row, column, c));
    }
  }
}

// AvgPoolGrad has the gradient as input 1, MaxPoolGrad the input, the output and the gradient.
absl::Status RunPoolGrad(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Pool*>(state);
  const int64_t plane = s.rows.in * s.columns.in;
  return ForEachTile(
      args, s.batch * s.channels, plane * sizeof(double), [&](int64_t t, char* scratch) {
        double* const sums = reinterpret_cast<double*>(scratch);
        const int64_t n = t / s.channels, c = t % s.channels;
        std::fill(sums, sums + plane, 0.0);
        VisitElement(s.type, [&](auto element) {
          if constexpr (!std::is_same_v<decltype(element), PlainElement<std::complex<float>>> &&
                        !std::is_same_v<decltype(element), PlainElement<std::complex<double>>>) {
            if (s.max) {
              MaxPlane(s, args.in[0], args.in[2], n, c, sums, element);
            } else {
              AveragePlane(s, args.in[1], n, c, sums, element);
            }
            for (int64_t i = 0; i < plane; ++i) {
              element.Put(args.out[0], s.InputAt(n, i / s.columns.in, i % s.columns.in, c),
                          sums[i]);
            }
          }
        });
        return absl::OkStatus();
      });
}

absl::Status PrepareGrad(Prepare& p, const Shape& input, bool max, int sizes_input) {
  TENON_ASSIGN_OR_RETURN(const Pool s, ReadPool(p, input, max, sizes_input));
  if (s.depth_window != 1)
    return p.Unimplemented("the gradient of pooling over channels is not built");
  const Shape output(s.OutputDims());
  for (int i = 1; i <= (max ? 2 : 1); ++i) {
    if (p.input_shape(i) == output) continue;
    return p.Invalid(absl::StrCat("input ", i, " must have the shape ", output.ToString(),
                                  " of the pooling's output, not ", p.input_shape(i).ToString()));
  }
  p.set_output_shape(0, input);
  if (input.num_elements() == 0) return absl::OkStatus();
  p.set_scratch_bytes(TileScratchBytes(p.workers(), s.batch * s.channels,
                                       s.rows.in * s.columns.in * sizeof(double)));
  p.set_run(&RunPoolGrad, std::make_shared<Pool>(s));
  return absl::OkStatus();
}

absl::Status PrepareMaxGrad(Prepare& p) { return PrepareGrad(p, p.input_shape(0), true, -1); }
absl::Status PrepareMaxGradV2(Prepare& p) { return PrepareGrad(p, p.input_shape(0), true, 3); }
absl::Status PrepareAverageGrad(Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const Dims dims, p.InputInts(0));
  TENON_ASSIGN_OR_RETURN(const Shape input, CheckedShape(p, dims));
  return PrepareGrad(p, input, false, -1);
}

// 64-bit integers do not fit the sums.
constexpr uint64_t kTypes = kRealTypes & ~TypeBits(DataType::kInt64, DataType::kUint64);

const CpuKernelSpec kKernels[] = {
    {"MaxPoolGrad", {{"T", kTypes}}, &PrepareMaxGrad},
    {"MaxPoolGradV2", {{"T", kTypes}}, &PrepareMaxGradV2, 0b11000},
    {"AvgPoolGrad", {{"T", kFloatTypes}}, &PrepareAverageGrad, 0b1},
};

}  // namespace

absl::Span<const CpuKernelSpec> PoolGradKernels() { return kKernels; }

}  // namespace tenon::cpu
