// A recurrent network learns a text letter by letter, and goes on writing by itself.
#include <tenon/tenon.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <tuple>
#include <vector>

using namespace tenon;

using State = std::tuple<Tensor, Tensor>;  // output and cell, of shape [1, kSize]
constexpr int64_t kSize = 32;

static Variable Weights(int64_t in, int64_t out, const char* name) {
  return Variable(ops::RandomStandardNormal(Tensor::Of<int64_t>({in, out}), DType::kFloat) *
                      (1.f / std::sqrt(static_cast<float>(in))),
                  {.name = name});
}

int main() {
  const std::string text = "hello tenon, hello tenon, hello tenon, hello tenon, ";
  std::string letters = text;
  std::sort(letters.begin(), letters.end());
  letters.erase(std::unique(letters.begin(), letters.end()), letters.end());
  const auto count = static_cast<int64_t>(letters.size());
  std::vector<int32_t> codes;
  for (const char c : text) codes.push_back(static_cast<int32_t>(letters.find(c)));
  const auto steps = static_cast<int64_t>(codes.size()) - 1;
  const Tensor inputs =
      Tensor::Of<int32_t>(Shape{steps}, std::vector<int32_t>(codes.begin(), codes.end() - 1));
  const Tensor targets =
      Tensor::Of<int32_t>(Shape{steps}, std::vector<int32_t>(codes.begin() + 1, codes.end()));

  SetSeed(5);
  Variable gates = Weights(count + kSize, 4 * kSize, "gates");
  Variable bias(ops::Fill(Tensor::Of<int64_t>({4 * kSize}), 0.f), {.name = "bias"});
  Variable out = Weights(kSize, count, "out");
  const std::vector<Variable*> trained = {&gates, &bias, &out};

  // One letter, as [1, count] with a one at its code.
  const auto one_hot = [&](const Tensor& code) {
    return ops::Reshape(ops::OneHot(code, static_cast<int32_t>(count), 1.f, 0.f),
                        Tensor::Of<int64_t>({1, count}));
  };
  const auto cell = [&](const State& state, const Tensor& code) {
    const auto& [h, c] = state;
    const Tensor all = ops::MatMul(ops::ConcatV2({one_hot(code), h}, 1), gates) + bias;
    const std::vector<Tensor> part = ops::Split(1, all, 4);
    const Tensor next =
        ops::Sigmoid(part[1] + 1.f) * c + ops::Sigmoid(part[0]) * ops::Tanh(part[2]);
    return State(ops::Sigmoid(part[3]) * ops::Tanh(next), next);
  };
  const Tensor zeros = ops::Fill(Tensor::Of<int64_t>({1, kSize}), 0.f);

  optim::Adam adam({.learning_rate = 0.02f});
  Function step([&](Tensor from, Tensor to) {
    GradientTape tape;
    const State states = Scan(cell, State(zeros, zeros), from);
    const Tensor logits =
        ops::MatMul(ops::Reshape(std::get<0>(states), Tensor::Of<int64_t>({-1, kSize})), out);
    const Tensor loss = ops::Mean(ops::SparseSoftmaxCrossEntropyWithLogits(logits, to).loss,
                                  Tensor::Of<int32_t>({0}));
    adam.Apply(tape.Gradient(loss, trained), trained);
    return loss;
  });
  for (int i = 0; i <= 150; ++i) {
    const float loss = step(inputs, targets).item<float>();
    if (i % 50 == 0) std::printf("step %d: loss %.4f\n", i, static_cast<double>(loss));
  }

  // The most likely letter each time.
  Function next([&](Tensor code, State state) {
    const State after = cell(state, code);
    const Tensor best =
        ops::ArgMax(ops::MatMul(std::get<0>(after), out), 1, {.output_type = DType::kInt32});
    return std::make_tuple(best[0], after);
  });
  std::string sample = "h";
  Tensor code = static_cast<int32_t>(letters.find('h'));
  State state(zeros, zeros);
  while (sample.size() < 40) {
    std::tie(code, state) = next(code, state);
    sample += letters[static_cast<size_t>(code.item<int32_t>())];
  }
  std::printf("sample: %s\n", sample.c_str());
}
