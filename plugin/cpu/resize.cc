// ResizeBilinear and ResizeNearestNeighbor.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/element.h"
#include "plugin/cpu/families.h"
#include "plugin/cpu/kernel_util.h"

namespace tenon::cpu {
namespace {

// Where each output of one axis comes from: in[lower] + (in[upper] - in[lower]) * share.
struct Tap {
  int64_t lower, upper;
  float share;
};

struct Resize {
  DataType type;
  int64_t batch, in_rows, in_columns, channels;
  std::vector<Tap> rows, columns;
};

struct Scaling {
  bool align_corners, half_pixel_centers;
};

// Single precision throughout, as in TensorFlow: the places where an output falls on the next input
// depend on it.
float ScaleOf(const Scaling& scaling, int64_t in, int64_t out) {
  if (scaling.align_corners && out > 1)
    return static_cast<float>(in - 1) / static_cast<float>(out - 1);
  return static_cast<float>(in) / static_cast<float>(out);
}

std::vector<Tap> BilinearTaps(const Scaling& scaling, int64_t in, int64_t out) {
  const float scale = ScaleOf(scaling, in, out);
  std::vector<Tap> taps;
  for (int64_t i = 0; i < out; ++i) {
    const float at = scaling.half_pixel_centers ? (static_cast<float>(i) + 0.5f) * scale - 0.5f
                                                : static_cast<float>(i) * scale;
    const float floor = std::floor(at);
    const int64_t lower = std::clamp<int64_t>(static_cast<int64_t>(floor), 0, in - 1);
    const int64_t upper = std::clamp<int64_t>(static_cast<int64_t>(std::ceil(at)), 0, in - 1);
    taps.push_back({lower, upper, at - floor});
  }
  return taps;
}

std::vector<Tap> NearestTaps(const Scaling& scaling, int64_t in, int64_t out) {
  const float scale = ScaleOf(scaling, in, out);
  std::vector<Tap> taps;
  for (int64_t i = 0; i < out; ++i) {
    const float at = (static_cast<float>(i) + (scaling.half_pixel_centers ? 0.5f : 0.0f)) * scale;
    const float whole = scaling.align_corners ? std::round(at) : std::floor(at);
    const int64_t nearest = std::clamp<int64_t>(static_cast<int64_t>(whole), 0, in - 1);
    taps.push_back({nearest, nearest, 0});
  }
  return taps;
}

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
  const Tap& row = s.rows[r];
  const int64_t line = s.in_columns * s.channels;
  const int64_t top = (n * s.in_rows + row.lower) * line,
                bottom = (n * s.in_rows + row.upper) * line;
  const auto at = [&](int64_t i) { return element.template As<float>(in, i); };
  for (const Tap& column : s.columns) {
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

absl::Status PrepareResize(Prepare& p, std::vector<Tap> (*taps)(const Scaling&, int64_t, int64_t),
                           RunFn run) {
  const Shape& images = p.input_shape(0);
  if (images.rank() != 4)
    return p.Invalid(absl::StrCat("the images must have rank 4, not ", images.ToString()));
  if (!(p.input_shape(1) == Shape({2}))) {
    return p.Invalid(absl::StrCat("the new size must be a vector of 2, not of shape ",
                                  p.input_shape(1).ToString()));
  }
  TENON_ASSIGN_OR_RETURN(const Dims size, p.InputInts(1));
  if (size[0] <= 0 || size[1] <= 0)
    return p.Invalid(absl::StrCat("the new size must be positive, not ", size[0], "x", size[1]));
  TENON_ASSIGN_OR_RETURN(const Shape output,
                         CheckedShape(p, {images.dim(0), size[0], size[1], images.dim(3)}));
  Scaling scaling;
  TENON_ASSIGN_OR_RETURN(scaling.align_corners, p.AttrBool("align_corners"));
  TENON_ASSIGN_OR_RETURN(scaling.half_pixel_centers, p.AttrBool("half_pixel_centers"));
  if (scaling.align_corners && scaling.half_pixel_centers) {
    return p.Invalid("align_corners and half_pixel_centers exclude each other");
  }
  if (images.dim(1) <= 0 || images.dim(2) <= 0)
    return p.Invalid("the images must have rows and columns");
  p.set_output_shape(0, output);
  if (output.num_elements() == 0) return absl::OkStatus();
  auto s = std::make_shared<Resize>();
  s->type = p.input_type(0);
  s->batch = images.dim(0);
  s->in_rows = images.dim(1);
  s->in_columns = images.dim(2);
  s->channels = images.dim(3);
  s->rows = taps(scaling, s->in_rows, size[0]);
  s->columns = taps(scaling, s->in_columns, size[1]);
  p.set_run(run, std::move(s));
  return absl::OkStatus();
}

absl::Status PrepareBilinear(Prepare& p) { return PrepareResize(p, &BilinearTaps, &RunBilinear); }
absl::Status PrepareNearest(Prepare& p) { return PrepareResize(p, &NearestTaps, &RunNearest); }

const CpuKernelSpec kKernels[] = {
    {"ResizeBilinear", {{"T", kRealTypes}}, &PrepareBilinear, 0b10},
    {"ResizeNearestNeighbor", {{"T", kRealTypes}}, &PrepareNearest, 0b10},
};

}  // namespace

absl::Span<const CpuKernelSpec> ResizeKernels() { return kKernels; }

}  // namespace tenon::cpu
