// SampleDistortedBoundingBox, its second version and the stateless one: a random part of an image
// that covers enough of some box in it.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/element.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/random/generator_state.h"
#include "plugin/cpu/random/philox.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct SampleBox {
  DataType type, seed_type;
  int64_t boxes = 0;
  float covered = 0;  // the first version's least share of a box
  bool covered_is_input = true;
  std::array<float, 2> aspect_ratios, areas;  // least and greatest
  int64_t attempts = 0;
  bool image_without_boxes = false;
  std::shared_ptr<GeneratorState> generator;  // null: the seed is input 3
};

// Pixels [left, right) and [top, bottom).
struct Part {
  int64_t left, top, right, bottom;

  // Positive, too, for a box that is turned over in both directions, as in TensorFlow.
  float Area() const { return static_cast<float>((right - left) * (bottom - top)); }
  Part SharedWith(const Part& other) const {
    const Part shared{std::max(left, other.left), std::max(top, other.top),
                      std::min(right, other.right), std::min(bottom, other.bottom)};
    return shared.left > shared.right || shared.top > shared.bottom ? Part{0, 0, 0, 0} : shared;
  }
};

int64_t Rounded(float x) {
  // More pixels than any side has: larger numbers would not fit the products below.
  constexpr float kMost = 0x1p40f;
  return std::llrint(std::min(x, kMost));
}

// A part of this aspect ratio (width over height) and an area within the limits.
std::optional<Part> DrawPart(const SampleBox& s, const Part& image, float aspect_ratio,
                             PhiloxStream* words) {
  const int64_t width = image.right, height = image.bottom;
  if (width <= 0 || height <= 0 || s.areas[0] > s.areas[1]) return std::nullopt;
  const auto pixels = [&](float share) {
    return share * static_cast<float>(width) * static_cast<float>(height);
  };
  const auto width_of = [&](int64_t rows) {
    return Rounded(static_cast<float>(rows) * aspect_ratio);
  };
  const float least = pixels(s.areas[0]), most = pixels(s.areas[1]);
  int64_t rows = Rounded(std::sqrt(least / aspect_ratio));
  int64_t most_rows = Rounded(std::sqrt(most / aspect_ratio));
  if (width_of(most_rows) > width) {
    // TensorFlow's: the greatest number of rows whose width still rounds to that of the image.
    constexpr float kEpsilon = 0.0000001f;
    most_rows = static_cast<int64_t>((static_cast<double>(width) + 0.5 - kEpsilon) / aspect_ratio);
    if (width_of(most_rows) > width) --most_rows;
  }
  most_rows = std::min(most_rows, height);
  rows = std::min(rows, most_rows);
  if (rows < most_rows) rows += words->NextBelow(static_cast<uint32_t>(most_rows - rows + 1));
  // Rounding may have taken the area past a limit.
  const auto area = [&] { return static_cast<float>(width_of(rows) * rows); };
  if (area() < least) ++rows;
  if (area() > most) --rows;
  const int64_t columns = width_of(rows);
  if (area() < least || area() > most || columns > width || rows > height || columns <= 0 ||
      rows <= 0) {
    return std::nullopt;
  }
  Part part{0, 0, columns, rows};
  if (rows < height) part.top = words->NextBelow(static_cast<uint32_t>(height - rows));
  if (columns < width) part.left = words->NextBelow(static_cast<uint32_t>(width - columns));
  part.right += part.left;
  part.bottom += part.top;
  return part;
}

Part PixelBox(const float* box, const Part& image) {
  const auto pixel = [](float at, int64_t size) {
    return static_cast<int64_t>(at * static_cast<float>(size));
  };
  return {pixel(box[1], image.right), pixel(box[0], image.bottom), pixel(box[3], image.right),
          pixel(box[2], image.bottom)};
}

// Whether the part covers enough of one of the boxes; those below a pixel do not count.
bool CoversABox(const SampleBox& s, const Part& part, const float* boxes, const Part& image,
                float covered) {
  if (part.Area() < 1) return false;
  for (int64_t i = 0; i < std::max<int64_t>(s.boxes, 1); ++i) {
    const Part box = s.boxes == 0 ? image : PixelBox(boxes + 4 * i, image);
    if (box.Area() >= 1 && part.SharedWith(box).Area() / box.Area() >= covered) return true;
  }
  return false;
}

absl::StatusOr<Part> ImageOf(const SampleBox& s, const void* size) {
  const int64_t height = LoadIndex(size, s.type, 0), width = LoadIndex(size, s.type, 1);
  if (height < 0 || width < 0 || height >= INT32_MAX || width >= INT32_MAX) {
    return absl::InvalidArgumentError(
        absl::StrCat("an image cannot have ", height, "x", width, " pixels"));
  }
  return Part{0, 0, width, height};
}

absl::Status CheckBoxes(const SampleBox& s, const float* boxes) {
  for (int64_t i = 0; i < 4 * s.boxes; ++i) {
    if (boxes[i] >= 0 && boxes[i] <= 1) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("box ", i / 4, " has a coordinate outside of [0, 1]: ", boxes[i]));
  }
  return absl::OkStatus();
}

void StorePart(const SampleBox& s, const StepArgs& args, const Part& part, const Part& image) {
  const auto store = [&](int output, int64_t rows, int64_t columns, int64_t channels) {
    VisitElement(s.type, [&](auto element) {
      element.Put(args.out[output], 0, rows);
      element.Put(args.out[output], 1, columns);
      element.Put(args.out[output], 2, channels);
    });
  };
  store(0, part.top, part.left, 0);
  store(1, part.bottom - part.top, part.right - part.left, -1);
  const auto height = static_cast<float>(image.bottom), width = static_cast<float>(image.right);
  auto* const box = static_cast<float*>(args.out[2]);
  box[0] = static_cast<float>(part.top) / height;
  box[1] = static_cast<float>(part.left) / width;
  box[2] = static_cast<float>(part.bottom) / height;
  box[3] = static_cast<float>(part.right) / width;
}

absl::Status RunSampleBox(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const SampleBox*>(state);
  TENON_ASSIGN_OR_RETURN(const Part image, ImageOf(s, args.in[0]));
  const auto* const boxes = static_cast<const float*>(args.in[1]);
  TENON_RETURN_IF_ERROR(CheckBoxes(s, boxes));
  const float covered = s.covered_is_input ? *static_cast<const float*>(args.in[2]) : s.covered;
  if (!(covered >= 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("min_object_covered must not be negative: ", covered));
  }
  const auto seed = [&](int64_t i) {
    return static_cast<uint64_t>(LoadIndex(args.in[3], s.seed_type, i));
  };
  PhiloxStream words(s.generator != nullptr
                         ? s.generator->Reserve(static_cast<uint64_t>(s.attempts))
                         : StatelessPhilox(seed(0), seed(1)));
  Part part = image;
  for (int64_t i = 0; i < s.attempts; ++i) {
    const float ratio =
        words.NextFloat() * (s.aspect_ratios[1] - s.aspect_ratios[0]) + s.aspect_ratios[0];
    const std::optional<Part> drawn = DrawPart(s, image, ratio, &words);
    if (!drawn || !CoversABox(s, *drawn, boxes, image, covered)) continue;
    part = *drawn;
    break;
  }
  StorePart(s, args, part, image);
  return absl::OkStatus();
}

// Two positive numbers.
absl::StatusOr<std::array<float, 2>> ReadRange(const Prepare& p, std::string_view name) {
  TENON_ASSIGN_OR_RETURN(const AttrValue value, p.AttrOf(name));
  TENON_ASSIGN_OR_RETURN(const std::vector<float> limits, value.AsFloatList());
  const auto positive = [](float x) { return x > 0 && std::isfinite(x); };
  if (limits.size() != 2 || !positive(limits[0]) || !positive(limits[1]))
    return p.Invalid(absl::StrCat("attribute '", name, "' must be two positive numbers"));
  return std::array<float, 2>{limits[0], limits[1]};
}

absl::Status CheckInputs(const Prepare& p) {
  if (!(p.input_shape(0) == Shape({3})))
    return p.Invalid("the image's size must be a vector of 3: rows, columns, channels");
  const Shape& boxes = p.input_shape(1);
  if (boxes.rank() != 3 || boxes.dim(2) != 4) {
    return p.Invalid(absl::StrCat("the boxes must have shape [batch,n,4], not ", boxes.ToString()));
  }
  if (p.num_inputs() > 2 && p.input_shape(2).rank() != 0)
    return p.Invalid("min_object_covered must be a scalar");
  if (p.num_inputs() > 3 && !(p.input_shape(3) == Shape({2})))
    return p.Invalid("the seed must be a vector of 2");
  return absl::OkStatus();
}

absl::Status PrepareSampleBox(Prepare& p) {
  TENON_RETURN_IF_ERROR(CheckInputs(p));
  auto s = std::make_shared<SampleBox>();
  s->type = p.input_type(0);
  s->boxes = p.input_shape(1).num_elements() / 4;
  s->covered_is_input = p.num_inputs() > 2;
  if (!s->covered_is_input) {
    TENON_ASSIGN_OR_RETURN(s->covered, p.AttrFloat("min_object_covered"));
  }
  TENON_ASSIGN_OR_RETURN(s->aspect_ratios, ReadRange(p, "aspect_ratio_range"));
  TENON_ASSIGN_OR_RETURN(s->areas, ReadRange(p, "area_range"));
  if (s->areas[0] > 1 || s->areas[1] > 1) return p.Invalid("area_range must not be above 1");
  TENON_ASSIGN_OR_RETURN(s->attempts, p.AttrInt("max_attempts"));
  if (s->attempts <= 0)
    return p.Invalid(absl::StrCat("max_attempts must be positive, not ", s->attempts));
  TENON_ASSIGN_OR_RETURN(s->image_without_boxes, p.AttrBool("use_image_if_no_bounding_boxes"));
  if (s->boxes == 0 && !s->image_without_boxes)
    return p.Invalid("there are no boxes, and use_image_if_no_bounding_boxes is not set");
  if (p.num_inputs() > 3) {
    s->seed_type = p.input_type(3);
  } else {
    TENON_ASSIGN_OR_RETURN(s->generator, GeneratorOf(p));
  }
  p.set_output_shape(0, Shape({3}));
  p.set_output_shape(1, Shape({3}));
  p.set_output_shape(2, Shape({1, 1, 4}));
  p.set_run(&RunSampleBox, std::move(s));
  return absl::OkStatus();
}

const CpuKernelSpec kSampleBoxKernels[] = {
    {"SampleDistortedBoundingBox", {{"T", kIntTypes}}, &PrepareSampleBox, 0, true},
    {"SampleDistortedBoundingBoxV2", {{"T", kIntTypes}}, &PrepareSampleBox, 0, true},
    {"StatelessSampleDistortedBoundingBox", {{"T", kIntTypes}}, &PrepareSampleBox},
};

}  // namespace

absl::Span<const CpuKernelSpec> SampleBoxKernels() { return kSampleBoxKernels; }

}  // namespace tenon::cpu
