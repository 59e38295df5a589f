// ResizeBilinear and ResizeNearestNeighbor.
#include <cstring>
#include <vector>

#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/image/resize_axis.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct Resize {
  DataType type;
  int64_t batch, in_rows, in_columns, channels;
  std::vector<Blend> rows, columns;
};

// Calls row(n, r) for every row of the output, split over the workers.
template <typename F>
void ForEachRow(const Resize& s, const StepArgs& args, int64_t bytes, F row) {
  const int64_t rows = static_cast<int64_t>(s.rows.size());
  args.workers->ParallelFor(s.batch * rows, GrainFor(bytes), [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) row(t / rows, t % rows);
  });
}

template <typename Element>
void BilinearRow(const Resize& s, const void* in, float* out, int64_t n, int64_t r,
                 Element element) {
  const Blend& row = s.rows[r];
  const int64_t line = s.in_columns * s.channels;
  const int64_t top = (n * s.in_rows + row.lower) * line,
                bottom = (n * s.in_rows + row.upper) * line;
  const auto at = [&](int64_t i) { return element.template As<float>(in, i); };
  for (const Blend& column : s.columns) {
    const int64_t left = column.lower * s.channels, right = column.upper * s.channels;
    for (int64_t c = 0; c < s.channels; ++c) {
      const float above =
          at(top + left + c) + (at(top + right + c) - at(top + left + c)) * column.share;
      const float below =
          at(bottom + left + c) + (at(bottom + right + c) - at(bottom + left + c)) * column.share;
      *out++ = above + (below - above) * row.share;
    }
  }
}

absl::Status RunBilinear(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Resize*>(state);
  const int64_t width = static_cast<int64_t>(s.columns.size()) * s.channels;
  auto* const out = static_cast<float*>(args.out[0]);
  VisitElement(s.type, [&](auto element) {
    ForEachRow(s, args, width * 16, [&](int64_t n, int64_t r) {
      BilinearRow(s, args.in[0], out + (n * static_cast<int64_t>(s.rows.size()) + r) * width, n, r,
                  element);
    });
  });
  return absl::OkStatus();
}

absl::Status RunNearest(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Resize*>(state);
  const int64_t pixel = s.channels * static_cast<int64_t>(DataTypeSize(s.type));
  const int64_t columns = static_cast<int64_t>(s.columns.size()),
                rows = static_cast<int64_t>(s.rows.size());
  const auto* const in = static_cast<const char*>(args.in[0]);
  auto* const out = static_cast<char*>(args.out[0]);
  ForEachRow(s, args, columns * pixel, [&](int64_t n, int64_t r) {
    const char* const from = in + (n * s.in_rows + s.rows[r].lower) * s.in_columns * pixel;
    char* const to = out + (n * rows + r) * columns * pixel;
    for (int64_t c = 0; c < columns; ++c)
      memcpy(to + c * pixel, from + s.columns[c].lower * pixel, pixel);
  });
  return absl::OkStatus();
}

absl::Status PrepareResize(Prepare& p,
                           std::vector<Blend> (*blends)(const Scaling&, int64_t, int64_t),
                           RunFn run) {
  TENON_ASSIGN_OR_RETURN(const ResizeProblem problem, ReadResize(p));
  const Shape &images = problem.images, &output = problem.output;
  if (images.dim(3) == 0) return p.Invalid("the images must have channels");
  p.set_output_shape(0, output);
  if (output.num_elements() == 0) return absl::OkStatus();
  auto s = std::make_shared<Resize>();
  s->type = p.input_type(0);
  s->batch = images.dim(0);
  s->in_rows = images.dim(1);
  s->in_columns = images.dim(2);
  s->channels = images.dim(3);
  s->rows = blends(problem.scaling, s->in_rows, output.dim(1));
  s->columns = blends(problem.scaling, s->in_columns, output.dim(2));
  p.set_run(run, std::move(s));
  return absl::OkStatus();
}

absl::Status PrepareBilinear(Prepare& p) { return PrepareResize(p, &BilinearBlends, &RunBilinear); }
absl::Status PrepareNearest(Prepare& p) { return PrepareResize(p, &NearestBlends, &RunNearest); }

const CpuKernelSpec kResizeKernels[] = {
    {"ResizeBilinear", {{"T", kRealTypes}}, &PrepareBilinear, 0b10},
    {"ResizeNearestNeighbor", {{"T", kRealTypes}}, &PrepareNearest, 0b10},
};

}  // namespace

absl::Span<const CpuKernelSpec> ResizeKernels() { return kResizeKernels; }

}  // namespace tenon::cpu
