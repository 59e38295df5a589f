// A perceptron with two hidden layers learns to tell the arms of two spirals apart.
#include <tenon/tenon.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <vector>

using namespace tenon;

struct Dense {
  Variable w, b;
  Dense(int64_t in, int64_t out)
      : w(ops::RandomStandardNormal(Tensor::Of<int64_t>({in, out}), DType::kFloat) *
              std::sqrt(2.f / static_cast<float>(in)),
          {.name = "w"}),
        b(ops::Fill(Tensor::Of<int64_t>({out}), 0.f), {.name = "b"}) {}
  Tensor operator()(const Tensor& x) const { return ops::MatMul(x, w) + b; }
};

// Points of two arms, 150 of each, and which arm each is of.
static std::pair<Tensor, Tensor> Spirals() {
  std::vector<float> points, labels;
  for (int i = 0; i < 300; ++i) {
    const int arm = i % 2;
    const float t = 0.5f + 6.f * static_cast<float>(i) / 300.f;
    const float angle = t + static_cast<float>(arm) * 3.14159265f;
    points.push_back(t * std::cos(angle) / 6.f);
    points.push_back(t * std::sin(angle) / 6.f);
    labels.push_back(static_cast<float>(arm));
  }
  return {Tensor::Of<float>(Shape{300, 2}, points), Tensor::Of<float>(Shape{300, 1}, labels)};
}

static void Draw(const std::vector<float>& losses, const char* path) {
  std::ofstream svg(path);
  svg << "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 440 260' font-family='sans-serif'"
         " font-size='12'>\n<rect width='440' height='260' fill='white'/>\n"
         "<path d='M40 20V220H420' fill='none' stroke='black'/>\n<polyline fill='none'"
         " stroke='#1f6fb4' stroke-width='2' points='";
  for (size_t i = 0; i < losses.size(); ++i) {
    svg << 40 + 380. * static_cast<double>(i) / static_cast<double>(losses.size() - 1) << ","
        << 220 - 200. * losses[i] / losses[0] << " ";
  }
  svg << "'/>\n<text x='40' y='236'>0</text><text x='420' y='236' text-anchor='end'>"
      << losses.size() - 1 << " steps</text>\n<text x='34' y='224' text-anchor='end'>0</text>"
      << "<text x='4' y='14'>loss " << losses[0] << "</text>\n</svg>\n";
}

int main() {
  SetSeed(7);
  const auto [points, labels] = Spirals();
  const Dense first(2, 32), second(32, 32), last(32, 1);
  const auto model = [&](const Tensor& x) { return last(ops::Relu(second(ops::Relu(first(x))))); };
  std::vector<Variable> variables = {first.w, first.b, second.w, second.b, last.w, last.b};
  std::vector<Variable*> trained;
  for (Variable& variable : variables) trained.push_back(&variable);
  optim::Adam adam({.learning_rate = 0.02f});

  Function step(
      [&](Tensor x, Tensor y) {
        GradientTape tape;
        const Tensor logits = model(x);
        // log(1 + exp(z)) - y z is the cross entropy of the logistic function.
        const Tensor loss =
            ops::Mean(ops::Softplus(logits) - y * logits, Tensor::Of<int32_t>({0, 1}));
        adam.Apply(tape.Gradient(loss, trained), trained);
        return loss;
      },
      {.name = "step"});

  std::vector<float> losses;
  for (int i = 0; i <= 300; ++i) {
    losses.push_back(step(points, labels).item<float>());
    if (i % 50 == 0) std::printf("step %3d: loss %.4f\n", i, static_cast<double>(losses.back()));
  }
  const Tensor right = (model(points) > 0.f) == (labels > 0.5f);
  const Tensor count = ops::Sum(ops::Cast(right, DType::kInt32), Tensor::Of<int32_t>({0, 1}));
  std::printf("right: %d of 300\n", count.item<int32_t>());
  Draw(losses, "mlp.svg");
}
