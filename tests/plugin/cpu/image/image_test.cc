// Image ops where no answer of TensorFlow's is to compare with: values that are not finite, noise,
// limits, laws, and the same bits whatever the number of threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "tests/plugin/cpu/float_op_util.h"
#include "tests/plugin/cpu/kernel_error_util.h"

namespace tenon::image_test {
namespace {

using testing::Attrs;
using ::testing::Each;
using testing::ExpectError;
using testing::Floats;
using testing::Int32s;
using testing::RunCpuKernel;
using testing::RunSteadily;
using testing::Values;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
const std::string kFloat = attr::Type(DataType::kFloat);

// Values in [0, 1) without a pattern.
Tensor Image(const Shape& shape) {
  Tensor t = *Tensor::Allocate(DataType::kFloat, shape);
  uint32_t x = 1;
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    x = x * 1664525u + 1013904223u;
    t.flat<float>()[i] = static_cast<float>(x >> 8) * 0x1p-24f;
  }
  return t;
}

double Sum(const Tensor& t) { return std::accumulate(Values(t).begin(), Values(t).end(), 0.0); }

Tensor FirstOutput(const std::string& op, const Attrs& attrs, const std::vector<Tensor>& inputs) {
  return RunSteadily(op, attrs, inputs)[0];
}

// Every output of a resize is a mean of inputs; its gradient hands out what it is given.
TEST(Resizes, KeepTheMean) {
  const Tensor grey = Floats(Shape({1, 33, 45, 2}), std::vector<float>(33 * 45 * 2, 0.7f));
  const Tensor gradients = Image(Shape({2, 57, 31, 3})), original = Image(Shape({2, 33, 45, 3}));
  for (const char* corners : {"none", "align_corners", "half_pixel_centers"}) {
    const bool align = corners == std::string_view("align_corners");
    Attrs attrs = {{"T", kFloat}, {"align_corners", attr::Bool(align)}};
    EXPECT_THAT(Values(FirstOutput("ResizeArea", attrs, {grey, Int32s({57, 31})})),
                Each(::testing::FloatNear(0.7f, 1e-5f)));
    attrs["half_pixel_centers"] = attr::Bool(corners == std::string_view("half_pixel_centers"));
    EXPECT_THAT(Values(FirstOutput("ResizeBicubic", attrs, {grey, Int32s({57, 31})})),
                Each(::testing::FloatNear(0.7f, 1e-5f)));
    for (const char* op : {"ResizeBilinearGrad", "ResizeBicubicGrad"})
      EXPECT_NEAR(Sum(FirstOutput(op, attrs, {gradients, original})), Sum(gradients), 0.05) << op;
    EXPECT_NEAR(Sum(FirstOutput("ResizeNearestNeighborGrad", attrs, {gradients, Int32s({33, 45})})),
                Sum(gradients), 0.05);
  }
  const Attrs attrs = {{"T", kFloat}};
  const Tensor scale = Floats(Shape({2}), {1.7f, 0.4f}), zero = Floats(Shape({2}), {0, 0});
  EXPECT_THAT(
      Values(FirstOutput("ScaleAndTranslate", attrs, {grey, Int32s({56, 18}), scale, zero})),
      Each(::testing::FloatNear(0.7f, 1e-5f)));
}

// Gradients of double show how TensorFlow rounds: bilinear terms to floats, also where a single
// pixel has corners; cubic ones not, but their weights are scaled back by a float.
TEST(Resizes, RoundGradientsOfDoubleAsTensorFlow) {
  const auto gradient = [](const char* op, int rows, const std::vector<float>& gradients,
                           const char* option) {
    const Attrs attrs = {{"T", attr::Type(DataType::kDouble)}, {option, attr::Bool(true)}};
    const Tensor original = Tensor::Of(
        DataType::kDouble, absl::MakeConstSpan(std::vector<double>(rows)), Shape({1, rows, 1, 1}));
    const int64_t size = static_cast<int64_t>(gradients.size());
    const Tensor out =
        FirstOutput(op, attrs, {Floats(Shape({1, size, 1, 1}), gradients), original});
    return std::vector<double>(out.flat<double>(), out.flat<double>() + rows);
  };
  const std::vector<float> second = {0, 0.6265405f, 0, 0}, first = {0.6265405f, 0, 0, 0, 0};
  EXPECT_THAT(gradient("ResizeBilinearGrad", 2, second, "align_corners"),
              ::testing::ElementsAre(0.4176936149597168, 0.2088468372821808));
  EXPECT_THAT(gradient("ResizeBilinearGrad", 1, second, "align_corners"),
              ::testing::ElementsAre(0.6265404969453812));
  EXPECT_THAT(gradient("ResizeBicubicGrad", 3, first, "half_pixel_centers"),
              ::testing::ElementsAre(::testing::DoubleNear(0.6738602791501336, 1e-15),
                                     ::testing::DoubleNear(-0.04731982511445576, 1e-16), 0.0));
}

TEST(Resizes, RefuseSizesWithoutMeaning) {
  const Tensor image = Image(Shape({1, 2, 2, 1}));
  const Attrs attrs = {{"T", kFloat}};
  for (const char* op : {"ResizeArea", "ResizeBicubic", "ResizeBilinear"}) {
    ExpectError(absl::StatusCode::kUnimplemented, "16777216", op, attrs,
                {image, Int32s({1, 1 << 25})});
    ExpectError(absl::StatusCode::kInvalidArgument, "-3x2", op, attrs, {image, Int32s({-3, 2})});
  }
  for (float scale : {0.0f, -1.0f, kNan}) {
    ExpectError(
        absl::StatusCode::kInvalidArgument, "greater than 0", "ScaleAndTranslate", attrs,
        {image, Int32s({2, 2}), Floats(Shape({2}), {1, scale}), Floats(Shape({2}), {0, 0})});
  }
}

TEST(ScaleAndTranslate, SeesNothingOutsideOfTheImage) {
  const Tensor image = Image(Shape({1, 5, 5, 1}));
  const auto at = [&](float scale, float translation) {
    return FirstOutput("ScaleAndTranslate", {{"T", kFloat}},
                       {image, Int32s({4, 4}), Floats(Shape({2}), {scale, scale}),
                        Floats(Shape({2}), {translation, translation})});
  };
  for (float translation : {1e9f, -1e9f, kInf, kNan})
    EXPECT_THAT(Values(at(1, translation)), Each(0.0f));
  EXPECT_THAT(Values(at(1e-30f, 0)), Each(0.0f));
  EXPECT_TRUE(std::isfinite(Sum(at(1e30f, 0))));
}

TEST(AdjustHue, TurnsAsOftenAsAsked) {
  const Tensor image = Image(Shape({7, 9, 3}));
  const auto turned = [&](float by) {
    return FirstOutput("AdjustHue", {{"T", kFloat}}, {image, Floats(Shape(), {by})});
  };
  for (float by : {0.0f, 1.0f, -3.0f, 1e6f, -1e30f}) {
    const Tensor result = turned(by);
    for (int64_t i = 0; i < image.num_elements(); ++i)
      ASSERT_NEAR(Values(result)[i], Values(image)[i], 1e-6) << by << " at " << i;
  }
  EXPECT_TRUE(std::isnan(Sum(turned(kNan))));
  EXPECT_TRUE(std::isnan(Sum(turned(kInf))));
}

TEST(CropAndResize, ChecksBoxesAndIndices) {
  const Tensor image = Image(Shape({2, 4, 4, 1}));
  const Attrs attrs = {{"T", kFloat}};
  for (float bad : {kNan, kInf, -kInf}) {
    ExpectError(
        absl::StatusCode::kInvalidArgument, "box 1 is not finite", "CropAndResize", attrs,
        {image, Floats(Shape({2, 4}), {0, 0, 1, 1, 0, bad, 1, 1}), Int32s({0, 1}), Int32s({2, 2})});
  }
  for (int32_t bad : {-1, 2}) {
    ExpectError(absl::StatusCode::kOutOfRange, "box 0 is of image", "CropAndResize", attrs,
                {image, Floats(Shape({1, 4}), {0, 0, 1, 1}), Int32s({bad}), Int32s({2, 2})});
  }
}

// A float cannot number these pixels: the last place would be one beyond the image.
TEST(CropAndResize, RefusesImagesWithTooManyRows) {
  constexpr int32_t kRows = (1 << 24) + 4;
  const Tensor image = *Tensor::Allocate(DataType::kUint8, Shape({1, kRows, 1, 1}));
  const Tensor box = Floats(Shape({1, 4}), {1, 0, 1, 1}), index = Int32s({0});
  const Tensor gradients = Floats(Shape({1, 1, 1, 1}), {1});
  const auto unimplemented = absl::StatusCode::kUnimplemented;
  const char* const says = "single precision cannot number the pixels";
  const Attrs bytes = {{"T", attr::Type(DataType::kUint8)}};
  ExpectError(unimplemented, says, "CropAndResize", bytes, {image, box, index, Int32s({1, 1})});
  ExpectError(unimplemented, says, "CropAndResizeGradImage", {{"T", kFloat}},
              {gradients, box, index, Int32s({1, kRows, 1, 1})});
  ExpectError(unimplemented, says, "CropAndResizeGradBoxes", bytes, {gradients, image, box, index});
}

TEST(CropAndResize, GradientsSumUpWhateverTheThreads) {
  const int boxes = 40;
  std::vector<float> corners;
  std::vector<int32_t> images;
  for (int i = 0; i < boxes; ++i) {
    const float at = 0.01f * static_cast<float>(i);
    corners.insert(corners.end(), {at, 0, 0.95f, 0.95f - at});
    images.push_back(i % 3);
  }
  const Tensor gradients = Image(Shape({boxes, 9, 8, 2}));
  for (const char* method : {"bilinear", "nearest"}) {
    const Tensor result = FirstOutput(
        "CropAndResizeGradImage", {{"T", kFloat}, {"method", attr::String(method)}},
        {gradients, Floats(Shape({boxes, 4}), corners), Int32s(images), Int32s({3, 30, 20, 2})});
    EXPECT_NEAR(Sum(result), Sum(gradients), 0.01);
  }
  // The gradient of what is not finite lies nowhere.
  const Tensor none =
      FirstOutput("CropAndResizeGradImage", {{"T", kFloat}},
                  {Image(Shape({1, 2, 2, 1})), Floats(Shape({1, 4}), {0, kNan, 1, kInf}),
                   Int32s({0}), Int32s({1, 3, 3, 1})});
  EXPECT_THAT(Values(none), Each(0.0f));
}

TEST(DrawBoundingBoxes, TakesAnyCoordinates) {
  const Tensor image = Floats(Shape({1, 4, 4, 1}), std::vector<float>(16, 0));
  const auto drawn = [&](std::vector<float> box) {
    return Sum(
        FirstOutput("DrawBoundingBoxes", {{"T", kFloat}}, {image, Floats(Shape({1, 1, 4}), box)}));
  };
  EXPECT_EQ(drawn({0, 0, 1, 1}), 12);
  EXPECT_EQ(drawn({-1e30f, -1e30f, 1e15f, 1e15f}), 0);  // all around the image
  EXPECT_EQ(drawn({0, 0, kInf, 1}), 0);
  EXPECT_EQ(drawn({kNan, 0, 1, 1}), 10);  // as if it began above
  EXPECT_EQ(drawn({0.9f, 0.5f, 0.2f, 0.9f}), 0);
}

TEST(ImageProjectiveTransform, FillsWhereNothingIs) {
  const Tensor image = Image(Shape({1, 5, 5, 1}));
  for (const char* interpolation : {"NEAREST", "BILINEAR"}) {
    for (const char* fill : {"CONSTANT", "REFLECT", "WRAP", "NEAREST"}) {
      const Attrs attrs = {{"dtype", kFloat},
                           {"fill_mode", attr::String(fill)},
                           {"interpolation", attr::String(interpolation)}};
      const auto transformed = [&](std::vector<float> t) {
        return FirstOutput("ImageProjectiveTransformV3", attrs,
                           {image, Floats(Shape({1, 8}), t), Int32s({3, 3}), Floats(Shape(), {7})});
      };
      EXPECT_THAT(Values(transformed({kNan, 0, 0, 0, 1, 0, 0, 0})), Each(7.0f)) << fill;
      for (float far : {1e30f, -1e30f}) {
        const Tensor result = transformed({1, 0, far, 0, 1, far, 0, 0});
        for (float x : Values(result)) EXPECT_TRUE(x == 7 || (x >= 0 && x < 1)) << fill << " " << x;
      }
    }
  }
  ExpectError(absl::StatusCode::kInvalidArgument, "'CUBIC'", "ImageProjectiveTransformV2",
              {{"dtype", kFloat}, {"interpolation", attr::String("CUBIC")}},
              {image, Floats(Shape({1, 8}), std::vector<float>(8, 0)), Int32s({3, 3})});
}

TEST(ExtractGlimpse, FillsWithNoiseOfTheImage) {
  Tensor image = Image(Shape({1, 6, 6, 2}));
  for (int64_t i = 0; i < image.num_elements(); ++i) image.flat<float>()[i] += 3;
  for (const char* noise : {"uniform", "gaussian"}) {
    const Attrs attrs = {{"centered", attr::Bool(false)},
                         {"noise", attr::String(noise)},
                         {"normalized", attr::Bool(false)},
                         {"uniform_noise", attr::Bool(false)}};
    const std::vector<Tensor> inputs = {image, Int32s({20, 6}), Floats(Shape({1, 2}), {-3, 0})};
    const Tensor first = (*RunCpuKernel("ExtractGlimpseV2", attrs, inputs))[0],
                 second = (*RunCpuKernel("ExtractGlimpseV2", attrs, inputs))[0];
    // Rows 3 to 8 are the image.
    EXPECT_EQ(memcmp(first.flat<float>() + 3 * 12, image.data(), image.bytes()), 0);
    EXPECT_THAT(Values(first), Each(::testing::AllOf(::testing::Ge(3), ::testing::Le(4))));
    EXPECT_NE(memcmp(first.data(), second.data(), first.bytes()), 0);
    EXPECT_NEAR(Sum(first) / static_cast<double>(first.num_elements()), 3.5, 0.15);
  }
}

TEST(ExtractPatches, AreTheSameWhateverTheThreads) {
  const Attrs attrs = {{"T", kFloat},
                       {"ksizes", attr::IntList({1, 3, 2, 1})},
                       {"padding", attr::String("SAME")},
                       {"rates", attr::IntList({1, 2, 1, 1})},
                       {"strides", attr::IntList({1, 1, 2, 1})}};
  const Tensor image = Image(Shape({2, 60, 50, 3}));
  const Tensor patches = FirstOutput("ExtractImagePatches", attrs, {image});
  EXPECT_EQ(patches.shape(), Shape({2, 60, 25, 18}));
  // The middle row of each patch is the row that it stands on.
  EXPECT_EQ(Values(patches)[(10 * 25 + 7) * 18 + 6], Values(image)[(10 * 50 + 14) * 3]);
  ExpectError(absl::StatusCode::kInvalidArgument, "a window of 0", "ExtractImagePatches",
              {{"T", kFloat},
               {"ksizes", attr::IntList({1, 0, 2, 1})},
               {"padding", attr::String("SAME")},
               {"rates", attr::IntList({1, 1, 1, 1})},
               {"strides", attr::IntList({1, 1, 1, 1})}},
              {image});
}

// As in TensorFlow, where no threshold holds for an overlap that is no number.
TEST(NonMaxSuppression, BoxesThatAreNoNumbersComeLast) {
  const Tensor boxes =
      Floats(Shape({4, 4}), {0, 0, 1, 1, kNan, 0, 1, 1, 0, 0, 1, 0.9f, 2, 2, 3, 3});
  const Tensor scores = Floats(Shape({4}), {0.9f, 0.8f, 0.7f, 0.6f});
  const Tensor chosen =
      FirstOutput("NonMaxSuppression", {{"iou_threshold", attr::Float(0.5f)}},
                  {boxes, scores, Tensor::Of<int32_t>(DataType::kInt32, {4}, {})});
  ASSERT_EQ(chosen.num_elements(), 3);
  EXPECT_EQ(chosen.IntAt(0), 0);
  EXPECT_EQ(chosen.IntAt(1), 3);
  EXPECT_EQ(chosen.IntAt(2), 1);
}

}  // namespace
}  // namespace tenon::image_test
