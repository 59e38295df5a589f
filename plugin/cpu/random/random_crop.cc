// RandomCrop: a part of an image, at a random place.
#include "absl/strings/str_cat.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/elementwise/loops/element_copy.h"
#include "plugin/cpu/random/generator_state.h"
#include "plugin/cpu/random/philox.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct Crop {
  std::shared_ptr<GeneratorState> generator;
  ElementCopy copy;
  Shape image;
  int64_t rows, columns;
};

absl::Status RunCrop(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Crop*>(state);
  PhiloxStream words(s.generator->Reserve(1));
  const auto draw = [&](int64_t free) {
    return free == 0 ? 0 : static_cast<int64_t>(words.Next32() % static_cast<uint64_t>(free + 1));
  };
  const int64_t left = draw(s.image.dim(1) - s.columns);
  const int64_t top = draw(s.image.dim(0) - s.rows);
  const int64_t pixel = s.image.dim(2);
  for (int64_t r = 0; r < s.rows; ++r) {
    s.copy(args.in[0], ((top + r) * s.image.dim(1) + left) * pixel, args.out[0],
           r * s.columns * pixel, s.columns * pixel);
  }
  return absl::OkStatus();
}

absl::Status PrepareCrop(Prepare& p) {
  const Shape& image = p.input_shape(0);
  if (image.rank() != 3) return p.Invalid("the image must have three dimensions");
  TENON_ASSIGN_OR_RETURN(const Dims size, p.InputInts(1));
  if (p.input_shape(1).rank() != 1 || size.size() != 2)
    return p.Invalid("'size' must be two numbers");
  for (int d = 0; d < 2; ++d) {
    if (size[d] < 0) return p.Invalid(absl::StrCat("'size' is negative: ", size[d]));
    if (size[d] > image.dim(d)) {
      return absl::FailedPreconditionError(absl::StrCat("a part of ", size[0], "x", size[1],
                                                        " does not lie in an image of ",
                                                        image.dim(0), "x", image.dim(1)));
    }
  }
  p.set_output_shape(0, Shape({size[0], size[1], image.dim(2)}));
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<GeneratorState> generator, GeneratorOf(p));
  p.set_run(&RunCrop,
            std::make_shared<Crop>(
                Crop{std::move(generator), ElementCopy(p.input_type(0)), image, size[0], size[1]}));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> RandomCropKernels() {
  static const CpuKernelSpec specs[] = {
      {"RandomCrop", {{"T", kRealTypes}}, PrepareCrop, 0b10, true},
  };
  return specs;
}

}  // namespace tenon::cpu
