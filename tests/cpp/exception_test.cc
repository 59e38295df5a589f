// What an exception in the middle of a trace leaves behind: nothing, whichever op it comes at.
// Leaks are found where this runs under a sanitizer.
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "tenon/tenon.h"

namespace tenon {
namespace {

// Throws at the step of a number. A step stands before each op of the function.
class Steps {
 public:
  explicit Steps(int fail_at) : fail_at_(fail_at) {}
  // The tensor that it is given. An exception of the program's own, or that of an op.
  Tensor operator()(const Tensor& tensor) {
    if (++count_ != fail_at_) return tensor;
    if (count_ % 2 == 0) throw std::runtime_error("a step");
    return ops::MatMul(tensor, Tensor(1.f));
  }
  void Stop() { fail_at_ = 0; }
  int count() const { return count_; }

 private:
  int fail_at_, count_ = 0;
};

// Functions in functions, a branch, a loop in a branch, a scan, a map, a tape, gradients, a
// gradient of the program's own and variables, also such as are made in the trace.
struct Program {
  explicit Program(int fail_at) : step(fail_at) {}

  Tensor Run(Tensor x) {
    const NameScope scope("outer");
    if (!local) local.emplace(Tensor(1.f));
    local->Assign(step(x));
    v.AssignAdd(step(x));
    Tensor y = step(x) * step(v) + *local;
    y = square(step(y)) + square(y * 0.1f);
    y = Cond(
        step(y) > 0,
        [&] {
          w.AssignAdd(step(y));
          return While([&](Tensor s) { return step(s) < 1000; },
                       [&](Tensor s) { return square(step(s)) + step(y); }, y);
        },
        [&] { return step(y) * w; });
    const Tensor xs = ops::Pack({step(y), y * 2, y * 3});
    const auto [sums, products] = Scan(
        [&](std::tuple<Tensor, Tensor> carry, Tensor one) {
          const auto [sum, product] = carry;
          return std::make_tuple(step(sum) + one, step(product) * w * one * 1e-3f);
        },
        std::make_tuple(y, y), xs);
    const Tensor mapped = Map([&](Tensor one) { return square(step(one)); }, xs);
    const auto custom = CustomGradient([&](Tensor a) { return step(a) * 2; },
                                       [&](Tensor dy) { return step(dy) * 3; });
    Tensor of_tape;
    {
      GradientTape tape;
      const Tensor loss = ops::Sum((step(sums) + products + mapped + custom(xs)) * w, 0);
      of_tape = tape.Gradient(step(loss), {w, v})[0];
      sgd.Apply({step(of_tape) * 1e-12f}, {&w});
    }
    return Gradients({step(of_tape) * y}, {x})[0] * 0 + step(sums)[2] + w;
  }

  Steps step;
  std::optional<Variable> local;
  Variable v{Tensor(2.f)}, w{Tensor(0.5f)};
  optim::Sgd sgd{{.learning_rate = 0.1f, .momentum = 0.5f}};
  Function<std::function<Tensor(Tensor)>> cube{
      std::function<Tensor(Tensor)>([this](Tensor a) { return step(a) * 2; }), {.name = "cube"}};
  Function<std::function<Tensor(Tensor)>> square{
      std::function<Tensor(Tensor)>([this](Tensor a) { return cube(step(a)) * step(a); }),
      {.name = "square"}};
  Function<std::function<Tensor(Tensor)>> whole{
      std::function<Tensor(Tensor)>([this](Tensor x) { return Run(x); }), {.name = "whole"}};
};

TEST(CppException, LeavesNothingAtAnyOpOfATrace) {
  Program good(0);
  const float expected = good.whole(Tensor(1.5f)).item<float>();
  const int steps = good.step.count();
  ASSERT_GT(steps, 25);
  for (int i = 1; i <= steps; ++i) {
    Program program(i);
    EXPECT_ANY_THROW(program.whole(Tensor(1.5f))) << i;
    EXPECT_EQ(program.whole.trace_count(), 0) << i;
    EXPECT_EQ(program.v.Read().item<float>(), 2) << i;
    EXPECT_EQ(program.w.Read().item<float>(), 0.5f) << i;
    // The thread is outside of all scopes again, and the same function is traced as if nothing had
    // been.
    EXPECT_FALSE((program.v + 1).IsSymbolic()) << i;
    program.step.Stop();
    EXPECT_EQ(program.whole(Tensor(1.5f)).item<float>(), expected) << i;
    EXPECT_EQ(program.whole.trace_count(), 1) << i;
  }
}

}  // namespace
}  // namespace tenon
