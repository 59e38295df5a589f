// Optimizers of the C++ library against the formulas, eagerly and in traces.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tenon/tenon.h"

namespace tenon {
namespace {

// Three steps on x^2 from 1.
template <typename Optimizer>
std::vector<float> Steps(Optimizer optimizer, bool traced) {
  Variable x(Tensor(1.f));
  const auto step = [&] {
    GradientTape tape;
    const Tensor loss = x * x;
    optimizer.Apply(tape.Gradient(loss, {x}), std::vector<Variable*>{&x});
  };
  Function function(step);
  std::vector<float> values;
  for (int i = 0; i < 3; ++i) {
    if (traced) {
      function();
    } else {
      step();
    }
    values.push_back(x.Read().item<float>());
  }
  return values;
}

// `make` makes an optimizer, since copies of one share its state.
template <typename Make, typename Update>
void ExpectSteps(const Make& make, const Update& update) {
  for (const bool traced : {false, true}) {
    const std::vector<float> steps = Steps(make(), traced);
    double x = 1;
    for (int i = 0; i < 3; ++i) {
      x = update(x, 2 * x, i);
      EXPECT_NEAR(steps[static_cast<size_t>(i)], x, 1e-5) << "step " << i << " traced " << traced;
    }
    update(0, 0, -1);
  }
}

TEST(CppSgd, FollowsTheGradient) {
  ExpectSteps([] { return optim::Sgd({.learning_rate = 0.1f}); },
              [](double x, double g, int) { return x - 0.1 * g; });
}

TEST(CppSgd, HasMomentum) {
  double a = 0;
  ExpectSteps([] { return optim::Sgd({.learning_rate = 0.1f, .momentum = 0.9f}); },
              [&](double x, double g, int i) {
                a = i < 0 ? 0 : (i == 0 ? 0 : 0.9 * a) - 0.1 * g;
                return x + a;
              });
}

TEST(CppMomentum, Accumulates) {
  double a = 0;
  ExpectSteps(
      [] { return optim::Momentum({.learning_rate = 0.1f, .momentum = 0.9f, .nesterov = true}); },
      [&](double x, double g, int i) {
        a = (i <= 0 ? 0 : 0.9 * a) + g;
        return x - 0.1 * (g + 0.9 * a);
      });
}

TEST(CppAdam, FollowsItsFormula) {
  double m = 0, v = 0;
  ExpectSteps([] { return optim::Adam({.learning_rate = 0.1f}); },
              [&](double x, double g, int i) {
                if (i <= 0) m = v = 0;
                m = 0.9 * m + 0.1 * g;
                v = 0.999 * v + 0.001 * g * g;
                const double t = i + 1;
                const double rate =
                    0.1 * std::sqrt(1 - std::pow(0.999, t)) / (1 - std::pow(0.9, t));
                return i < 0 ? 0 : x - rate * m / (std::sqrt(v) + 1e-7);
              });
}

TEST(CppOptimizer, TakesVariablesAndPointersToThem) {
  Variable a(Tensor(1.f)), b(Tensor(2.f));
  optim::Sgd sgd({.learning_rate = 1});
  const std::vector<Tensor> gradients = {Tensor(1.f), Tensor(2.f)};
  const std::vector<Variable> list = {a, b};
  const std::vector<Variable*> pointers = {&a, &b};
  sgd.Apply(gradients, list);
  sgd.Apply(gradients, {a, b});
  sgd.Apply(gradients, pointers);
  sgd.Apply(gradients, {&a, &b});
  sgd.Apply({}, {});
  EXPECT_EQ(a.Read().item<float>(), -3);
  EXPECT_EQ(b.Read().item<float>(), -6);
}

TEST(CppOptimizer, LeavesVariablesWithoutAGradient) {
  Variable x(Tensor(1.f)), y(Tensor(2.f));
  optim::Sgd sgd({.learning_rate = 1});
  sgd.Apply({Tensor(), Tensor(1.f)}, {&x, &y});
  EXPECT_EQ(x.Read().item<float>(), 1);
  EXPECT_EQ(y.Read().item<float>(), 1);
  EXPECT_THROW(sgd.Apply({Tensor(1.f)}, {&x, &y}), Error);
  EXPECT_THROW(sgd.Apply({Tensor(), Tensor()}, {&x, &y}), Error);
}

TEST(CppOptimizer, MayBeMadeOfEmptyBraces) {
  Variable v(1.f);
  optim::Sgd sgd({}), sgd_again;
  optim::Momentum momentum({}), named({.momentum = 0.5f}), braced{};
  optim::Adam adam({}), copy(adam);
  optim::Momentum third = momentum;
  optim::Momentum fourth{{}}, fifth({0.1f}), sixth{{.learning_rate = 0.2f}};
  sgd.Apply({Tensor(1.f)}, {v});
  momentum.Apply({Tensor(1.f)}, {v});
  EXPECT_FLOAT_EQ(v.Read().item<float>(), 0.98f);
}

}  // namespace
}  // namespace tenon
