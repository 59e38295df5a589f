// Gradients of the C++ library that the program gives.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "tenon/tenon.h"
#include "tests/cpp/elements.h"
#include "tests/cpp/slope.h"

namespace tenon {
namespace {

TEST(CppCustomGradient, IsUsedByTapesTracesAndFunctions) {
  const auto twice =
      CustomGradient([](Tensor x) { return x * 2; }, [](Tensor dy) { return dy * 100; });
  const Tensor x = 3.f;
  {
    GradientTape tape;
    tape.Watch(x);
    EXPECT_EQ(tape.Gradient(twice(x) * 3, {x})[0].item<float>(), 300);
  }
  Function in_trace([&](Tensor t) { return Gradients({twice(t) * 3 + t}, {t})[0]; });
  EXPECT_EQ(in_trace(x).item<float>(), 301);
  Function function([&](Tensor t) { return twice(twice(t)); });
  EXPECT_EQ(function(x).item<float>(), 12);
  GradientTape tape;
  tape.Watch(x);
  EXPECT_EQ(tape.Gradient(function(x), {x})[0].item<float>(), 10000);
}

// The gradient that the program gives is the called function's own.
TEST(CppCustomGradient, HoldsThroughCallsOfFunctions) {
  const auto square =
      CustomGradient([](Tensor x) { return x * x; }, [](Tensor dy) { return dy * 100; });
  Function inner([&](Tensor x) { return square(x * 3) * x; });
  Function outer([&](Tensor x) { return inner(x) + x; });
  // 9 x^3: 9 x^2 from the factor x, and 100 * 3 x through the square.
  const Tensor x(2.f);
  const float want = 9 * 4 + 100 * 3 * 2;
  EXPECT_EQ(SlopeOf(inner)(x).item<float>(), want);
  EXPECT_EQ(SlopeOf(outer)(x).item<float>(), want + 1);
  Function traced_inner(SlopeOf(inner));
  Function traced_outer(SlopeOf(outer));
  EXPECT_EQ(traced_inner(x).item<float>(), want);
  EXPECT_EQ(traced_outer(x).item<float>(), want + 1);
  EXPECT_EQ(outer(x).item<float>(), 9 * 8 + 2);
}

// A variable that the called function captures gets its gradient too.
TEST(CppCustomGradient, HoldsForVariablesOfCalledFunctions) {
  Variable v(Tensor(2.f));
  const auto twice =
      CustomGradient([](Tensor x) { return x * 2; }, [](Tensor dy) { return dy * 7; });
  Function inner([&](Tensor x) {
    v.AssignAdd(1.f);
    return twice(x * v) + v;
  });
  Function outer([&](Tensor x) {
    GradientTape tape;
    tape.Watch(x);
    const Tensor y = inner(x);
    auto gradients = tape.Gradient(y, {x, v});
    gradients.push_back(y);
    return gradients;
  });
  const std::vector<Tensor> found = outer(Tensor(5.f));
  EXPECT_EQ(found[0].item<float>(), 7 * 3);
  EXPECT_EQ(found[1].item<float>(), 7 * 5 + 1);
  EXPECT_EQ(found[2].item<float>(), 2 * 15 + 3);
  EXPECT_EQ(v.Read().item<float>(), 3);
}

// What a gradient of the program's own takes from outside.
TEST(CppCustomGradient, MayUseVariablesAndLargeTensorsBehindCalls) {
  Variable w(Tensor::Of<float>({1, 2}));
  const auto same =
      CustomGradient([](Tensor x) { return ops::Identity(x); }, [](Tensor dy) { return dy * 10; });
  Function f([&](Tensor x) { return same(x) * w; });
  Function of_f([&](Tensor x) {
    GradientTape tape;
    tape.Watch(x);
    return tape.Gradient(f(x), {x, w});
  });
  const std::vector<Tensor> found = of_f(Tensor::Of<float>({3, 4}));
  EXPECT_EQ(Floats(found[0]), (std::vector<float>{10, 20}));
  EXPECT_EQ(Floats(found[1]), (std::vector<float>{3, 4}));

  const Tensor large = ops::Fill(Tensor::Of<int32_t>({200}), Tensor(2.f));
  const auto twice =
      CustomGradient([](Tensor x) { return x * 2; }, [&](Tensor dy) { return dy * large; });
  Function q([&](Tensor x) { return twice(x); });
  Function q2([&](Tensor x) { return q(x) * 2; });
  const Tensor ones = ops::Fill(Tensor::Of<int32_t>({200}), Tensor(1.f));
  EXPECT_EQ(Floats(q2(ones))[7], 4);
  for (const bool nested : {false, true}) {
    GradientTape tape;
    tape.Watch(ones);
    EXPECT_EQ(Floats(tape.Gradient(nested ? q2(ones) : q(ones), {ones})[0])[7], nested ? 4 : 2);
  }
}

// A call that nobody differentiates needs no gradient.
TEST(CppCustomGradient, OnlyGradientsFailWhereThereIsNone) {
  const auto square =
      CustomGradient([](Tensor x) { return x * x; }, [](Tensor dy) { return dy * 100; });
  Function branch([&](Tensor x) {
    return Cond(
        x > 0.f, [&] { return square(x); }, [&] { return x; });
  });
  Function f([&](Tensor x) { return branch(x) + 1; });
  EXPECT_EQ(f(Tensor(2.f)).item<float>(), 5);
  const auto bad =
      CustomGradient([](Tensor x) { return x * x; },
                     [](Tensor) -> Tensor { throw std::runtime_error("no way back"); });
  Function g([&](Tensor x) { return bad(x); });
  Function h([&](Tensor x) { return g(x) + 1; });
  EXPECT_EQ(h(Tensor(2.f)).item<float>(), 5);
  Function slope(SlopeOf(h));
  EXPECT_THROW(slope(Tensor(2.f)), std::runtime_error);
  {
    const Tensor x(2.f);
    GradientTape tape;
    tape.Watch(x);
    const Tensor y = h(x);
    EXPECT_EQ(y.item<float>(), 5);
    EXPECT_THROW(tape.Gradient(y, {x}), std::runtime_error);
  }
  Function first([&](Tensor x) {
    GradientTape tape;
    tape.Watch(x);
    return tape.Gradient(Function([&](Tensor t) { return square(t); })(x), {x})[0];
  });
  Function outer([&](Tensor x) { return first(x) * x; });
  EXPECT_EQ(outer(Tensor(1.5f)).item<float>(), 150);
}

TEST(CppCustomGradient, SecondDerivativesThroughCallsHoldOrAreRefused) {
  const auto cube = CustomGradient([](Tensor x) { return x * x * x; },
                                   [](Tensor dy, Tensor x) { return dy * x * x * 3; });
  Function inner([&](Tensor x) { return cube(x); });
  Function hidden([&](Tensor x) { return ops::Exp(cube(x)); });
  Function of_inner(SecondOf(inner));
  EXPECT_EQ(of_inner(Tensor(2.f)).item<float>(), 12);
  // exp(x^3): exp(x^3) (9 x^4 + 6 x).
  Function of_hidden(SecondOf(hidden));
  EXPECT_NEAR(of_hidden(Tensor(1.f)).item<float>(), 15 * std::exp(1.f), 1e-3);
}

// What a gradient of the program's own does to state it does when the gradient is computed.
TEST(CppCustomGradient, MayHaveSideEffects) {
  Variable forth(Tensor(0.f), {.trainable = false}), back(Tensor(0.f), {.trainable = false});
  Function count([&] { back.AssignAdd(1.f); });
  for (const bool by_function : {false, true}) {
    const auto twice = CustomGradient(
        [&](Tensor x) {
          forth.AssignAdd(1.f);
          return x * 2;
        },
        [&](Tensor dy) {
          if (by_function) {
            count();
          } else {
            back.AssignAdd(1.f);
          }
          return dy * 7;
        });
    Function f([&](Tensor x) { return ops::Exp(twice(x)); });
    Function outer([&](Tensor x) { return f(x) + x; });
    Function slope(SlopeOf(f));
    Function outer_slope(SlopeOf(outer));
    const float want = 7 * std::exp(2.f);
    const Tensor x(1.f);
    forth.Assign(0.f);
    back.Assign(0.f);
    EXPECT_FLOAT_EQ(f(x).item<float>(), std::exp(2.f));
    EXPECT_EQ(back.Read().item<float>(), 0);
    EXPECT_EQ(forth.Read().item<float>(), 1);
    int times = 0;
    for (int i = 0; i < 2; ++i) {
      EXPECT_FLOAT_EQ(SlopeOf(f)(x).item<float>(), want);
      EXPECT_FLOAT_EQ(SlopeOf(outer)(x).item<float>(), want + 1);
      EXPECT_FLOAT_EQ(slope(x).item<float>(), want);
      EXPECT_FLOAT_EQ(outer_slope(x).item<float>(), want + 1);
      times += 4;
      EXPECT_EQ(back.Read().item<float>(), static_cast<float>(times));
      EXPECT_EQ(forth.Read().item<float>(), static_cast<float>(times + 1));
    }
    // Where nobody asks for the gradient, nothing is done.
    GradientTape tape;
    tape.Watch(x);
    outer(x);
    EXPECT_EQ(back.Read().item<float>(), static_cast<float>(times));
  }
}

// Also where it gives no gradient.
TEST(CppCustomGradient, MayHaveSideEffectsAndGiveNothing) {
  Variable back(Tensor(0.f), {.trainable = false});
  const auto stop = CustomGradient([](Tensor x) { return x * 2; },
                                   [&](Tensor) {
                                     back.AssignAdd(1.f);
                                     return Tensor();
                                   });
  Function f([&](Tensor x) { return stop(x); });
  Function outer([&](Tensor x) { return f(x) * 3; });
  const Tensor x(1.f);
  float times = 0;
  for (Function<std::function<Tensor(Tensor)>> function :
       {Function(std::function<Tensor(Tensor)>(f)),
        Function(std::function<Tensor(Tensor)>(outer))}) {
    GradientTape tape;
    tape.Watch(x);
    EXPECT_FALSE(tape.Gradient(function(x), {x})[0].defined());
    EXPECT_EQ(back.Read().item<float>(), ++times);
  }
}

// A call by hand of a function goes back as other calls do, and so do branches and loops.
TEST(CppCustomGradient, HoldsForFunctionsAsAttributes) {
  const auto twice =
      CustomGradient([](Tensor x) { return x * 2; }, [](Tensor dy) { return dy * 7; });
  Function f([&](Tensor x) { return ops::Exp(twice(ops::Sin(x))); });
  const ConcreteFunction concrete = f.Concrete(TensorSpec(DType::kFloat, {}));
  const Tensor x(0.5f);
  const float want = SlopeOf(f)(x).item<float>();
  EXPECT_FLOAT_EQ(want, 7 * std::exp(2 * std::sin(0.5f)) * std::cos(0.5f));
  for (const FunctionName& name : {FunctionName(concrete), FunctionName(concrete.name())}) {
    const auto call = [&](Tensor t) {
      return Op("PartitionedCall")
          .Input(std::vector<Tensor>{t})
          .Attr("Tin", std::vector<DType>{DType::kFloat})
          .Attr("Tout", std::vector<DType>{DType::kFloat})
          .Attr("f", name)
          .RunOne();
    };
    EXPECT_FLOAT_EQ(SlopeOf(call)(x).item<float>(), want);
    Function traced(SlopeOf(call));
    EXPECT_FLOAT_EQ(traced(x).item<float>(), want);
    Function outer(call);
    EXPECT_FLOAT_EQ(SlopeOf(outer)(x).item<float>(), want);
  }
  const auto choose = [&](Tensor t) {
    return Op("StatelessIf")
        .Input(Tensor(true))
        .Input(std::vector<Tensor>{t})
        .Attr("Tout", std::vector<DType>{DType::kFloat})
        .Attr("then_branch", concrete)
        .Attr("else_branch", concrete)
        .RunOne();
  };
  Function positive([](Tensor t) { return t < 1.f; });
  const auto repeat = [&](Tensor t) {
    return Op("StatelessWhile")
        .Input(std::vector<Tensor>{t})
        .Attr("cond", positive.Concrete(TensorSpec(DType::kFloat, {})))
        .Attr("body", concrete)
        .Run()[0];
  };
  for (const std::function<Tensor(Tensor)>& run :
       {std::function<Tensor(Tensor)>(choose), std::function<Tensor(Tensor)>(repeat)}) {
    Function traced(run);
    Function slope(SlopeOf(run));
    EXPECT_FLOAT_EQ(traced(x).item<float>(), f(x).item<float>());
    EXPECT_FLOAT_EQ(SlopeOf(run)(x).item<float>(), want);
    EXPECT_FLOAT_EQ(SlopeOf(traced)(x).item<float>(), want);
    EXPECT_FLOAT_EQ(slope(x).item<float>(), want);
  }
}

TEST(CppCustomGradient, RefusesVariablesThatItWouldLose) {
  Variable w(Tensor(3.f), {.name = "weight"}), fixed(Tensor(2.f), {.trainable = false});
  const auto same = [](Tensor dy) { return dy; };
  Function read([&] { return w.Read(); });
  const auto direct = CustomGradient([&](Tensor x) { return x * w; }, same);
  const auto called = CustomGradient([&](Tensor x) { return x * read(); }, same);
  const auto chosen = CustomGradient(
      [&](Tensor x) {
        return Cond(
            x > 0.f, [&] { return x * w; }, [&] { return x; });
      },
      same);
  const auto text_of = [](const auto& call) {
    try {
      call(Tensor(2.f));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), TF_INVALID_ARGUMENT) << error.what();
      EXPECT_TRUE(error.where().starts_with("custom_gradient_test.cc:")) << error.what();
      return error.message();
    }
    return std::string("no error");
  };
  const std::string part = "uses the variable \"weight\"";
  EXPECT_NE(text_of(direct).find(part), std::string::npos);
  EXPECT_NE(text_of(called).find(part), std::string::npos);
  EXPECT_NE(text_of(chosen).find(part), std::string::npos);
  EXPECT_NE(text_of(Function([&](Tensor x) { return direct(x); })).find(part), std::string::npos);
  EXPECT_NE(text_of(Function([&](Tensor x) { return called(x); })).find(part), std::string::npos);
  EXPECT_NE(text_of(Function([&](Tensor x) { return chosen(x); })).find(part), std::string::npos);
  // What is not trainable, assignments, and what is handed over.
  const auto allowed = CustomGradient(
      [&](Tensor x, Tensor v) {
        w.AssignAdd(0.f);
        return x * v * fixed;
      },
      [&](Tensor dy, Tensor x, Tensor v) {
        return std::vector<Tensor>{dy * v * fixed, dy * x * fixed * w * 10};
      });
  Function traced([&](Tensor x) { return allowed(x, w); });
  for (const bool in_function : {false, true}) {
    const Tensor x(5.f);
    GradientTape tape;
    tape.Watch(x);
    const Tensor y = in_function ? traced(x) : allowed(x, w);
    const std::vector<Tensor> gradients = tape.Gradient(y, {x, w});
    EXPECT_EQ(gradients[0].item<float>(), 6);
    EXPECT_EQ(gradients[1].item<float>(), 5 * 2 * 3 * 10);
  }
  GradientTape tape;
  tape.Watch(fixed);
  const auto watched = CustomGradient([&](Tensor x) { return x * fixed; }, same);
  EXPECT_NE(text_of(watched).find("uses the variable"), std::string::npos);
}

// A second derivative that needs a value from within the called function.
TEST(CppCustomGradient, SecondAndThirdDerivativesRunTheFunctionAgain) {
  const auto cube = CustomGradient([](Tensor x) { return x * x * x; },
                                   [](Tensor dy, Tensor x) { return dy * x * x * 3; });
  Variable w(Tensor(1.f));
  Function inner([&](Tensor x) { return ops::Exp(ops::Sin(cube(x * w))) * x; });
  Function outer([&](Tensor x) { return ops::Sin(inner(x) * x) * x; });
  const auto plain_inner = [](Tensor x) { return ops::Exp(ops::Sin(x * x * x)) * x; };
  const auto plain_outer = [&](Tensor x) { return ops::Sin(plain_inner(x) * x) * x; };
  const Tensor x(0.7f);
  const auto near = [](const Tensor& a, const Tensor& b) {
    EXPECT_NEAR(a.item<float>(), b.item<float>(), 1e-4f * std::abs(b.item<float>()) + 1e-5f);
  };
  const auto second_inner = SecondOf(inner);
  const auto second_outer = SecondOf(outer);
  const auto plain_second_inner = SecondOf(plain_inner);
  const auto plain_second_outer = SecondOf(plain_outer);
  near(second_inner(x), plain_second_inner(x));
  near(second_outer(x), plain_second_outer(x));
  near(Function(second_inner)(x), plain_second_inner(x));
  near(Function(second_outer)(x), plain_second_outer(x));
  near(SlopeOf(second_inner)(x), SlopeOf(plain_second_inner)(x));
  near(SlopeOf(second_outer)(x), SlopeOf(plain_second_outer)(x));
  near(Function(SlopeOf(second_inner))(x), SlopeOf(plain_second_inner)(x));
  near(Function(SlopeOf(second_outer))(x), SlopeOf(plain_second_outer)(x));
}

// What the way back captures, a tape that goes back through its own gradients hands over too.
TEST(CppCustomGradient, HoldsForTapesThatGoBackThroughTheirOwnGradients) {
  Variable count(0.f, {.trainable = false});
  const auto twice = CustomGradient([](Tensor x) { return x * 2; },
                                    [&](Tensor dy) {
                                      count.AssignAdd(1.f);
                                      return dy * 3;
                                    });
  Function f([&](Tensor x) { return twice(x) * x; });
  const Tensor x(2.f);
  GradientTape tape({.persistent = true});
  tape.Watch(x);
  const Tensor first = tape.Gradient(f(x), {x})[0];
  EXPECT_EQ(first.item<float>(), 2 * 2 + 3 * 2);
  EXPECT_EQ(count.Read().item<float>(), 1);
  EXPECT_EQ(tape.Gradient(first, {x})[0].item<float>(), 3 + 3);
}

TEST(CppCustomGradient, GetsTheInputs) {
  const auto product = CustomGradient(
      [](Tensor a, Tensor b) { return a * b; },
      [](Tensor dy, Tensor a, Tensor b) { return std::make_tuple(dy * b * 10, dy * a * 10); });
  const Tensor a = 2.f, b = 5.f;
  GradientTape tape;
  tape.Watch(a);
  tape.Watch(b);
  const std::vector<Tensor> gradients = tape.Gradient(product(a, b), {a, b});
  EXPECT_EQ(gradients[0].item<float>(), 50);
  EXPECT_EQ(gradients[1].item<float>(), 20);
}

}  // namespace
}  // namespace tenon
