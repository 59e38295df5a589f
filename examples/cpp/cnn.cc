// A small convolutional network learns to tell horizontal bars, vertical bars and crosses apart.
#include <tenon/tenon.h>

#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

using namespace tenon;

// `count` images of 12x12 pixels, and their kinds: 0 horizontal, 1 vertical, 2 cross.
static std::pair<Tensor, Tensor> Images(int64_t count, unsigned seed) {
  std::vector<float> pixels(static_cast<size_t>(count * 144));
  std::vector<int32_t> kinds;
  const auto random = [&seed](unsigned below) {
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 16) % below;
  };
  for (int64_t i = 0; i < count; ++i) {
    float* const image = &pixels[static_cast<size_t>(i * 144)];
    for (int p = 0; p < 144; ++p) image[p] = static_cast<float>(random(100)) / 400.f;
    const auto kind = static_cast<int32_t>(random(3));
    const unsigned row = 2 + random(8), column = 2 + random(8);
    for (unsigned p = 0; p < 12; ++p) {
      if (kind != 1) image[row * 12 + p] = 1;
      if (kind != 0) image[p * 12 + column] = 1;
    }
    kinds.push_back(kind);
  }
  return {Tensor::Of<float>(Shape{count, 12, 12, 1}, pixels),
          Tensor::Of<int32_t>(Shape{count}, kinds)};
}

static Variable Weights(std::vector<int64_t> dims, float fan_in, const char* name) {
  const Tensor shape = Tensor::Of<int64_t>(Shape{static_cast<int64_t>(dims.size())}, dims);
  return Variable(ops::RandomStandardNormal(shape, DType::kFloat) * std::sqrt(2.f / fan_in),
                  {.name = name});
}

int main() {
  SetSeed(3);
  Variable conv1 = Weights({3, 3, 1, 8}, 9, "conv1"), conv2 = Weights({3, 3, 8, 16}, 72, "conv2"),
           dense = Weights({3 * 3 * 16, 3}, 144, "dense");
  const std::vector<Variable*> trained = {&conv1, &conv2, &dense};
  const auto model = [&](Tensor x) {
    for (const Variable* const conv : {&conv1, &conv2}) {
      x = ops::Relu(ops::Conv2D(x, *conv, {1, 1, 1, 1}, "SAME"));
      x = ops::MaxPool(x, {1, 2, 2, 1}, {1, 2, 2, 1}, "VALID");
    }
    return ops::MatMul(ops::Reshape(x, Tensor::Of<int32_t>({-1, 3 * 3 * 16})), dense);
  };
  optim::Momentum momentum({.learning_rate = 0.05f, .momentum = 0.9f});
  Function step([&](Tensor images, Tensor kinds) {
    GradientTape tape;
    const Tensor loss =
        ops::Mean(ops::SparseSoftmaxCrossEntropyWithLogits(model(images), kinds).loss,
                  Tensor::Of<int32_t>({0}));
    momentum.Apply(tape.Gradient(loss, trained), trained);
    return loss;
  });
  for (int i = 0; i <= 60; ++i) {
    const auto [images, kinds] = Images(32, 1000u + static_cast<unsigned>(i));
    const float loss = step(images, kinds).item<float>();
    if (i % 20 == 0) std::printf("step %d: loss %.4f\n", i, static_cast<double>(loss));
  }
  const auto [images, kinds] = Images(64, 1);
  Function classify(
      [&](Tensor x) { return ops::ArgMax(model(x), 1, {.output_type = DType::kInt32}); });
  const Tensor right = ops::Cast(classify(images) == kinds, DType::kInt32);
  std::printf("right: %d of 64\n", ops::Sum(right, Tensor::Of<int32_t>({0})).item<int32_t>());
}
