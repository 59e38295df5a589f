// Gradients of the C++ library: in traces and by tapes.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "tenon/tenon.h"
#include "tests/cpp/elements.h"

namespace tenon {
namespace {

Tensor Cube(const Tensor& x) { return x * x * x; }

TEST(CppGradients, AreNodesOfATrace) {
  Variable w(Tensor(3.f));
  Function f([&](Tensor x) { return Gradients({x * x * w}, {x, w, Tensor(1.f)}); });
  const std::vector<Tensor> none = f.Concrete(TensorSpec(DType::kFloat, {}))(Tensor(2.f));
  EXPECT_EQ(none.size(), 2u);  // of a ConcreteFunction: what there is
  const std::vector<Tensor> gradients = f(Tensor(2.f));
  ASSERT_EQ(gradients.size(), 3u);
  EXPECT_EQ(gradients[0].item<float>(), 12);
  EXPECT_EQ(gradients[1].item<float>(), 4);
  EXPECT_FALSE(gradients[2].defined());
  EXPECT_THROW(Gradients({Tensor(1.f)}, {Tensor(1.f)}), Error);
}

TEST(CppGradientTape, GoesBackThroughOps) {
  const Tensor x = 3.f;
  Variable w(Tensor(2.f));
  Variable fixed(Tensor(2.f), {.trainable = false});
  GradientTape tape;
  tape.Watch(x);
  const Tensor y = x * x * w * fixed;
  const std::vector<Tensor> gradients = tape.Gradient(y, {x, w, fixed});
  EXPECT_EQ(gradients[0].item<float>(), 24);
  EXPECT_EQ(gradients[1].item<float>(), 18);
  EXPECT_FALSE(gradients[2].defined());
  EXPECT_THROW(tape.Gradient(y, {x}), Error);
}

TEST(CppGradientTape, TakesVariablesThatBecameTensorsForTheVariables) {
  Variable w(Tensor(3.f));
  const std::vector<Tensor> before = {w};
  {
    GradientTape tape;
    const Tensor y = w * w;
    EXPECT_EQ(tape.Gradient(y, before)[0].item<float>(), 6);
  }
  {
    GradientTape tape;
    const Tensor y = ops::Tanh(w * w) * w;
    const std::vector<Tensor> now = {w};
    const float whole = tape.Gradient(y, now)[0].item<float>();
    GradientTape other;
    const Tensor again = ops::Tanh(w * w) * w;
    EXPECT_EQ(whole, other.Gradient(again, {w})[0].item<float>());
    EXPECT_NE(whole, 0);
  }
  {
    GradientTape tape;
    const Tensor value = w, y = value * w;
    EXPECT_EQ(tape.Gradient(y, {value})[0].item<float>(), 3);
  }
  Function f([&] {
    const Tensor y = w * w, value = w, z = value * w;
    const std::vector<Tensor> now = {w};
    return std::make_tuple(Gradients({y}, {now[0], before[0]}), Gradients({z}, {value}));
  });
  const auto [of_variable, of_value] = f();
  EXPECT_EQ(of_variable[0].item<float>(), 6);
  EXPECT_EQ(of_variable[1].item<float>(), 6);
  EXPECT_EQ(of_value[0].item<float>(), 3);
}

TEST(CppGradientTape, RecordsOnlyWhatItWatches) {
  const Tensor x = 3.f;
  GradientTape tape;
  const Tensor y = x * x;
  EXPECT_FALSE(tape.Gradient(y, {x})[0].defined());
}

TEST(CppGradientTape, NestsForSecondDerivatives) {
  Function cube([](Tensor x) { return Cube(x); });
  const Tensor x = 2.f;
  for (const bool traced : {false, true}) {
    GradientTape outer;
    outer.Watch(x);
    Tensor first;
    {
      GradientTape inner;
      inner.Watch(x);
      const Tensor y = traced ? cube(x) : Cube(x);
      first = inner.Gradient(y, {x})[0];
    }
    EXPECT_EQ(first.item<float>(), 12);
    EXPECT_EQ(outer.Gradient(first, {x})[0].item<float>(), 12);
  }
}

TEST(CppGradientTape, GoesBackThroughItsOwnGradients) {
  Function cube([](Tensor x) { return Cube(x); });
  const Tensor x = 2.f;
  GradientTape tape({.persistent = true});
  tape.Watch(x);
  const Tensor y = cube(x);
  const Tensor first = tape.Gradient(y, {x})[0];
  EXPECT_EQ(tape.Gradient(first, {x})[0].item<float>(), 12);
}

TEST(CppGradientTape, MayBePersistent) {
  const Tensor x = 2.f;
  GradientTape tape({.persistent = true});
  tape.Watch(x);
  const Tensor y = x * x;
  const Tensor z = y * y;
  EXPECT_EQ(tape.Gradient(z, {x})[0].item<float>(), 32);
  EXPECT_EQ(tape.Gradient(y, {x})[0].item<float>(), 4);
  EXPECT_EQ(tape.Gradient(z, {x}, Tensor(10.f))[0].item<float>(), 320);
}

TEST(CppGradientTape, GoesBackThroughFunctionsAndTheirVariables) {
  Variable w(Tensor::Of<float>({{1, 2}, {3, 4}}));
  Variable calls(Tensor(0.f), {.trainable = false});
  Function f([&](Tensor x) {
    calls.AssignAdd(Tensor(1.f));
    return Op("MatMul").Input(x).Input(w).RunOne();
  });
  const Tensor x = Tensor::Of<float>({{5, 6}});
  GradientTape tape;
  const Tensor y = f(x);
  const Tensor gradient = tape.Gradient(y, {w})[0];
  EXPECT_EQ(gradient.ToVector<float>(), (std::vector<float>{5, 5, 6, 6}));
  EXPECT_EQ(calls.Read().item<float>(), 1);
}

TEST(CppGradientTape, WorksInATrace) {
  Variable w(Tensor(3.f));
  Function step([&](Tensor x) {
    GradientTape tape;
    const Tensor loss = x * w * w;
    w.AssignSub(tape.Gradient(loss, {w})[0] * 0.5f);
    return loss;
  });
  EXPECT_EQ(step(Tensor(1.f)).item<float>(), 9);
  EXPECT_EQ(w.Read().item<float>(), 0);
}

TEST(CppGradientTape, OneWayBackServesManyShapes) {
  for (int n = 1; n < 40; ++n) {
    const Tensor x = Tensor::Of<float>(Shape{n}, std::vector<float>(static_cast<size_t>(n), 3.f));
    GradientTape tape;
    tape.Watch(x);
    const Tensor gradient = tape.Gradient(x * x + x[0], {x})[0];
    EXPECT_EQ(gradient.shape(), (Shape{n}));
    EXPECT_EQ(gradient.ToVector<float>()[0], 6.f + static_cast<float>(n));
  }
}

// Values from within a loop or a function that an op runs are computed again.
TEST(CppGradientTape, GoesBackThroughOpsThatRunFunctions) {
  Function below([](Tensor t, Tensor) { return t < 100.f; });
  Function step([](Tensor t, Tensor a) { return std::make_tuple(t * t * a, a); });
  const TensorSpec scalar(DType::kFloat, {});
  const Tensor x(2.f), a(3.f);
  GradientTape tape;
  tape.Watch(x);
  tape.Watch(a);
  const Tensor y = Op("StatelessWhile")
                       .Input(std::vector<Tensor>{x, a})
                       .Attr("cond", below.Concrete(scalar, scalar))
                       .Attr("body", step.Concrete(scalar, scalar))
                       .Run()[0];
  EXPECT_EQ(y.item<float>(), 432);  // a^3 x^4
  const std::vector<Tensor> gradients = tape.Gradient(y, {x, a});
  EXPECT_EQ(gradients[0].item<float>(), 4 * 8 * 27);
  EXPECT_EQ(gradients[1].item<float>(), 3 * 9 * 16);
}

TEST(CppStopGradient, Stops) {
  const Tensor x = 3.f;
  GradientTape tape;
  tape.Watch(x);
  EXPECT_EQ(tape.Gradient(x * StopGradient(x), {x})[0].item<float>(), 3);
}

// As in TensorFlow, whether a function is called or its ops are there.
TEST(CppGradients, ThroughACallThereAreNoneWhereOpsHaveNone) {
  const auto none_of = [](const std::function<Tensor(Tensor, Tensor)>& f) {
    const Function callee(f);
    std::string found;
    const Function caller([&](Tensor x, Tensor w) {
      for (const Tensor& slope : Gradients({callee(x, w)}, {x, w}))
        found += slope.defined() ? "some " : "none ";
      GradientTape tape;
      tape.Watch(x);
      tape.Watch(w);
      for (const Tensor& slope : tape.Gradient(callee(x, w), {x, w}))
        found += slope.defined() ? "some " : "none ";
      return w;
    });
    const Tensor x = Tensor::Of<float>({0.2f, 1.1f}), w = Tensor::Of<float>({2, 3});
    caller(x, w);
    GradientTape tape;
    tape.Watch(x);
    tape.Watch(w);
    for (const Tensor& slope : tape.Gradient(callee(x, w), {x, w}))
      found += slope.defined() ? "some " : "none ";
    return found;
  };
  const std::string second_alone = "none some none some none some ";
  EXPECT_EQ(none_of([](Tensor x, Tensor w) { return ops::Floor(x) * w; }), second_alone);
  EXPECT_EQ(none_of([](Tensor x, Tensor w) { return StopGradient(x) * w; }), second_alone);
  EXPECT_EQ(none_of([](Tensor x, Tensor w) {
              return Cond(
                  ops::Sum(x, 0) > 1.f, [&] { return w * w; }, [&] { return w * 2.f; });
            }),
            second_alone);
  EXPECT_EQ(none_of([](Tensor, Tensor w) { return w * 2.f; }), second_alone);
  EXPECT_EQ(none_of([](Tensor x, Tensor w) { return x * w; }), "some some some some some some ");
}

// One tensor for two arguments takes the gradients of both.
TEST(CppGradients, OfOneTensorForTwoArguments) {
  const auto f = [](Tensor x, Tensor w) { return x * w * w; };
  const Function called(f);
  const Function traced([&](Tensor x) { return Gradients({called(x, x)}, {x})[0]; });
  const auto looped = [](Tensor x, Tensor w) {
    auto [i, y, v] =
        While([](Tensor i, Tensor, Tensor) { return i < 2; },
              [](Tensor i, Tensor y, Tensor v) { return std::make_tuple(i + 1, y * v, v); },
              Tensor(0), x, w);
    return y;
  };
  const Function called_loop(looped);
  const auto custom = CustomGradient(f, [](Tensor dy, Tensor x, Tensor w) {
    return std::make_tuple(dy * w * w, 2.f * dy * x * w);
  });
  const Tensor x = Tensor::Of<float>({2, 3});
  const std::vector<float> wanted = {12, 27};  // 3 x^2
  const auto slope = [&](const auto& g) {
    GradientTape tape;
    tape.Watch(x);
    return Floats(tape.Gradient(Tensor(g(x, x)), {x})[0]);
  };
  EXPECT_EQ(slope(f), wanted);
  EXPECT_EQ(slope(called), wanted);
  EXPECT_EQ(slope(looped), wanted);
  EXPECT_EQ(slope(called_loop), wanted);
  EXPECT_EQ(slope(custom), wanted);
  EXPECT_EQ(Floats(traced(x)), wanted);
  GradientTape tape;
  tape.Watch(x);
  const std::vector<Tensor> twice = tape.Gradient(called(x, x), {x, x});
  EXPECT_EQ(Floats(twice[0]), wanted);
  EXPECT_EQ(Floats(twice[1]), wanted);
}

}  // namespace
}  // namespace tenon
