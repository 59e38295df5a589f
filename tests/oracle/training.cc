// Trains three small models for 50 steps from weights and data that a formula gives, and prints the
// loss of each step: "mlp 0 1.098612". training.py does the same in TensorFlow's Python.
#include <tenon/tenon.h>

#include <cmath>
#include <cstdio>
#include <functional>
#include <tuple>
#include <vector>

using namespace tenon;

constexpr int kSteps = 50;

// sin(0.37 i + seed) * scale, in double precision.
static Tensor Wave(const Shape& shape, double seed, double scale) {
  std::vector<float> values(static_cast<size_t>(shape.num_elements()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(std::sin(0.37 * static_cast<double>(i) + seed) * scale);
  return Tensor::Of<float>(shape, values);
}

static Tensor Classes(int64_t count, int32_t classes) {
  std::vector<int32_t> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<int32_t>(i * 7 + i / 3) % classes;
  return Tensor::Of<int32_t>(Shape{count}, values);
}

static Tensor MeanLoss(const Tensor& logits, const Tensor& classes) {
  return ops::Mean(ops::SparseSoftmaxCrossEntropyWithLogits(logits, classes).loss, {0});
}

template <typename Optimizer>
static void Train(const char* name, Optimizer& optimizer, const std::vector<Variable*>& trained,
                  const std::function<Tensor()>& loss_of) {
  Function step([&] {
    GradientTape tape;
    const Tensor loss = loss_of();
    optimizer.Apply(tape.Gradient(loss, trained), trained);
    return loss;
  });
  for (int i = 0; i < kSteps; ++i)
    std::printf("%s %d %.7f\n", name, i, step().template item<float>());
}

static void Mlp() {
  const Tensor x = Wave({32, 8}, 0.1, 1), classes = Classes(32, 3);
  Variable w1(Wave({8, 16}, 1, 0.5)), b1(Wave({16}, 2, 0.1)), w2(Wave({16, 16}, 3, 0.4)),
      b2(Wave({16}, 4, 0.1)), w3(Wave({16, 3}, 5, 0.4)), b3(Wave({3}, 6, 0.1));
  optim::Adam adam({.learning_rate = 0.01F});
  Train("mlp", adam, {&w1, &b1, &w2, &b2, &w3, &b3}, [&] {
    const Tensor h = ops::Tanh(ops::MatMul(x, w1) + b1);
    return MeanLoss(ops::MatMul(ops::Relu(ops::MatMul(h, w2) + b2), w3) + b3, classes);
  });
}

static void Cnn() {
  const Tensor x = Wave({16, 12, 12, 1}, 0.2, 1), classes = Classes(16, 10);
  Variable k1(Wave({3, 3, 1, 4}, 1, 0.4)), b1(Wave({4}, 2, 0.1)), k2(Wave({3, 3, 4, 8}, 3, 0.3)),
      b2(Wave({8}, 4, 0.1)), w(Wave({72, 10}, 5, 0.2)), b(Wave({10}, 6, 0.1));
  optim::Momentum momentum({.learning_rate = 0.02F, .momentum = 0.9F});
  Train("cnn", momentum, {&k1, &b1, &k2, &b2, &w, &b}, [&] {
    const auto layer = [](const Tensor& in, const Variable& kernel, const Variable& bias) {
      const Tensor y = ops::Relu(ops::BiasAdd(ops::Conv2D(in, kernel, {1, 1, 1, 1}, "SAME"), bias));
      return ops::MaxPool(y, {1, 2, 2, 1}, {1, 2, 2, 1}, "VALID");
    };
    const Tensor flat = ops::Reshape(layer(layer(x, k1, b1), k2, b2), {16, 72});
    return MeanLoss(ops::MatMul(flat, w) + b, classes);
  });
}

static void Lstm() {
  const Tensor x = Wave({12, 8, 5}, 0.3, 1), classes = Classes(8, 4);  // time, batch, features
  Variable gates(Wave({21, 64}, 1, 0.3)), bias(Wave({64}, 2, 0.1)), w(Wave({16, 4}, 3, 0.4)),
      b(Wave({4}, 4, 0.1));
  optim::Adam adam({.learning_rate = 0.01F});
  Train("lstm", adam, {&gates, &bias, &w, &b}, [&] {
    const Tensor zeros = ops::Fill({8, 16}, 0.F);
    const auto [i, h, c] =
        While([](const Tensor& i, const Tensor&, const Tensor&) { return i < 12; },
              [&](const Tensor& i, const Tensor& h, const Tensor& c) {
                const Tensor all = ops::MatMul(ops::ConcatV2({x[i], h}, 1), gates) + bias;
                const std::vector<Tensor> part = ops::Split(1, all, 4);
                const Tensor next =
                    ops::Sigmoid(part[1] + 1) * c + ops::Sigmoid(part[0]) * ops::Tanh(part[2]);
                return std::make_tuple(i + 1, ops::Sigmoid(part[3]) * ops::Tanh(next), next);
              },
              Tensor(0), zeros, zeros);
    return MeanLoss(ops::MatMul(h, w) + b, classes);
  });
}

int main() {
  Mlp();
  Cnn();
  Lstm();
}
