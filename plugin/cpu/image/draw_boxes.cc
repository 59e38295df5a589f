// DrawBoundingBoxes and DrawBoundingBoxesV2: the outlines of boxes in images.
#include <algorithm>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct DrawBoxes {
  DataType type;
  int64_t batch, rows, columns, channels;
  int64_t boxes;
  int64_t colors = 0, color_size = 0;  // input 2 is [colors, color_size], unless there are none
};

// Yellow, blue, red, lime, purple, olive, maroon, navy blue, aqua, fuchsia.
constexpr float kColors[][4] = {
    {1, 1, 0, 1},       {0, 0, 1, 1},    {1, 0, 0, 1},    {0, 1, 0, 1}, {0.5f, 0, 0.5f, 1},
    {0.5f, 0.5f, 0, 1}, {0.5f, 0, 0, 1}, {0, 0, 0.5f, 1}, {0, 1, 1, 1}, {1, 0, 1, 1},
};

const float* ColorOf(const DrawBoxes& s, const StepArgs& args, int64_t box) {
  if (s.colors > 0) return static_cast<const float*>(args.in[2]) + box % s.colors * s.color_size;
  static constexpr float kWhite[] = {1};
  return s.channels == 1 ? kWhite : kColors[box % std::size(kColors)];
}

// Which of `size` pixels a coordinate in [0, 1] is; what no int64 can hold is left of all.
int64_t PixelOf(float at, int64_t size) {
  const float pixel = at * static_cast<float>(size - 1);
  const bool fits = pixel > -9.2e18f && pixel < 9.2e18f;
  return fits ? static_cast<int64_t>(pixel) : std::numeric_limits<int64_t>::min();
}

template <typename Element>
void DrawBox(const DrawBoxes& s, const StepArgs& args, int64_t n, int64_t i, Element element) {
  const float* const box = static_cast<const float*>(args.in[1]) + (n * s.boxes + i) * 4;
  const int64_t top = PixelOf(box[0], s.rows), left = PixelOf(box[1], s.columns),
                bottom = PixelOf(box[2], s.rows), right = PixelOf(box[3], s.columns);
  const bool visible = top < s.rows && bottom >= 0 && left < s.columns && right >= 0;
  if (top > bottom || left > right || !visible) return;
  const float* const color = ColorOf(s, args, i);
  const auto draw = [&](int64_t row, int64_t column) {
    const int64_t to = ((n * s.rows + row) * s.columns + column) * s.channels;
    for (int64_t c = 0; c < s.channels; ++c) element.Put(args.out[0], to + c, color[c]);
  };
  for (int64_t row : {top, bottom}) {
    if (row < 0 || row >= s.rows) continue;
    for (int64_t c = std::max<int64_t>(left, 0); c <= std::min(right, s.columns - 1); ++c)
      draw(row, c);
  }
  for (int64_t column : {left, right}) {
    if (column < 0 || column >= s.columns) continue;
    for (int64_t r = std::max<int64_t>(top, 0); r <= std::min(bottom, s.rows - 1); ++r)
      draw(r, column);
  }
}

absl::Status RunDrawBoxes(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const DrawBoxes*>(state);
  const int64_t image =
      s.rows * s.columns * s.channels * static_cast<int64_t>(DataTypeSize(s.type));
  args.workers->ParallelFor(s.batch, GrainFor(image), [&](int64_t begin, int64_t end) {
    char* const to = static_cast<char*>(args.out[0]) + begin * image;
    const char* const from = static_cast<const char*>(args.in[0]) + begin * image;
    if (to != from) memcpy(to, from, (end - begin) * image);
    VisitFloat(s.type, [&](auto element) {
      for (int64_t n = begin; n < end; ++n) {
        for (int64_t i = 0; i < s.boxes; ++i) DrawBox(s, args, n, i, element);
      }
    });
  });
  return absl::OkStatus();
}

absl::Status PrepareDrawBoxes(Prepare& p) {
  const Shape &images = p.input_shape(0), &boxes = p.input_shape(1);
  if (images.rank() != 4)
    return p.Invalid(absl::StrCat("the images must have rank 4, not ", images.ToString()));
  if (boxes.rank() != 3 || boxes.dim(0) != images.dim(0) || boxes.dim(2) != 4) {
    return p.Invalid(absl::StrCat("the boxes must have shape [", images.dim(0), ",n,4], not ",
                                  boxes.ToString()));
  }
  auto s = std::make_shared<DrawBoxes>();
  s->type = p.input_type(0);
  s->batch = images.dim(0);
  s->rows = images.dim(1);
  s->columns = images.dim(2);
  s->channels = images.dim(3);
  s->boxes = boxes.dim(1);
  if (s->channels != 1 && s->channels != 3 && s->channels != 4)
    return p.Invalid(absl::StrCat("there must be 1, 3 or 4 channels, not ", s->channels));
  if (p.num_inputs() == 3) {
    const Shape& colors = p.input_shape(2);
    if (colors.rank() != 2 || colors.dim(1) < s->channels) {
      return p.Invalid(absl::StrCat("the colors must be a matrix of ", s->channels,
                                    " columns at least, not ", colors.ToString()));
    }
    s->colors = colors.dim(0);
    s->color_size = colors.dim(1);
  }
  p.set_output_shape(0, images);
  p.AllowInPlace(0, 0);
  p.set_run(&RunDrawBoxes, std::move(s));
  return absl::OkStatus();
}

constexpr uint64_t kPixelTypes = TypeBits(DataType::kFloat, DataType::kHalf);

const CpuKernelSpec kDrawBoxesKernels[] = {
    {"DrawBoundingBoxes", {{"T", kPixelTypes}}, &PrepareDrawBoxes},
    {"DrawBoundingBoxesV2", {{"T", kPixelTypes}}, &PrepareDrawBoxes},
};

}  // namespace

absl::Span<const CpuKernelSpec> DrawBoxesKernels() { return kDrawBoxesKernels; }

}  // namespace tenon::cpu
