// Gradients of the C++ library: in traces, by tapes, given by the program.
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
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

// A structure that was met before is gone back through at once.
std::vector<std::vector<float>> GradientsOf(
    const std::function<Tensor(const Tensor&, const Tensor&)>& f, const Tensor& x,
    const Tensor& y) {
  GradientTape tape;
  tape.Watch(x);
  tape.Watch(y);
  std::vector<std::vector<float>> values;
  for (const Tensor& gradient : tape.Gradient(f(x, y), {x, y}))
    values.push_back(gradient.defined() ? gradient.ToVector<float>() : std::vector<float>());
  return values;
}

TEST(CppTapeRuns, GiveWhatOpsGiveOneByOne) {
  const Tensor x = Tensor::Of<float>({{0.3f, -1.7f}, {2.1f, 0.9f}});
  const Tensor y = Tensor::Of<float>({0.7f, 1.9f});
  const auto f = [](const Tensor& a, const Tensor& b) {
    Tensor c = a * b + ops::Tanh(a);
    for (int i = 0; i < 5; ++i) c = ops::MatMul(c, a) - c * b / (a * a + 1.f);
    return ops::Concat(Tensor(0), {c, a * 2.f, c})[Slice(1, 4)] * b;
  };
  const auto first = GradientsOf(f, x, y);
  const size_t before = internal::RunBackwardTable::Get().size();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(GradientsOf(f, x, y), first);
  EXPECT_EQ(internal::RunBackwardTable::Get().size(), before + 1);
}

TEST(CppTapeRuns, TellStructuresApart) {
  const auto of = [](int64_t n) {
    return Tensor::Of<float>(Shape{n, n}, std::vector<float>(static_cast<size_t>(n * n), 2.f));
  };
  for (int round = 0; round < 4; ++round) {
    // One place and one op, but other attributes, wirings, shapes and lengths.
    for (const bool turn : {false, true}) {
      const auto f = [&](const Tensor& a, const Tensor& b) {
        return ops::MatMul(ops::MatMul(a, b, {.transpose_a = turn}), b);
      };
      Tensor a = Tensor::Of<float>({{1, 2}, {3, 4}}), b = Tensor::Of<float>({{5, 6}, {7, 8}});
      EXPECT_EQ(GradientsOf(f, a, b)[0], turn ? (std::vector<float>{145, 145, 197, 197})
                                              : (std::vector<float>{145, 197, 145, 197}))
          << round;
    }
    for (const bool swap : {false, true}) {
      const auto f = [&](const Tensor& a, const Tensor& b) {
        const Tensor product = a * b;
        return (swap ? a : product) - (swap ? product : a);
      };
      const float sign = swap ? -1.f : 1.f;
      EXPECT_EQ(GradientsOf(f, Tensor(3.f), Tensor(5.f)),
                (std::vector<std::vector<float>>{{sign * 4}, {sign * 3}}));
    }
    for (const int64_t n : {1, 2, 3}) {
      const auto f = [](const Tensor& a, const Tensor& b) { return (a * b) * a; };
      EXPECT_EQ(GradientsOf(f, of(n), of(n))[1],
                std::vector<float>(static_cast<size_t>(n * n), 4.f));
      EXPECT_EQ(GradientsOf(f, of(n), Tensor(1.f))[1],
                std::vector<float>{static_cast<float>(4 * n * n)});
    }
    for (const int times : {2, 3}) {
      const auto f = [&](const Tensor& a, const Tensor& b) {
        Tensor c = a;
        for (int i = 0; i < times; ++i) c = c * b;
        return c;
      };
      EXPECT_EQ(GradientsOf(f, Tensor(1.f), Tensor(2.f))[1][0], times == 2 ? 4.f : 12.f);
    }
    // The types of both inputs.
    for (const bool wide : {false, true}) {
      const Tensor x = wide ? Tensor(2.) : Tensor(2.f);
      GradientTape tape;
      tape.Watch(x);
      EXPECT_EQ(tape.Gradient(x * x * x, {x})[0].dtype(), x.dtype());
    }
  }
}

TEST(CppTapeRuns, TakeAnyGradientAndGiveThoseWithin) {
  const Tensor x = 3.f;
  for (int round = 0; round < 4; ++round) {
    GradientTape tape;
    tape.Watch(x);
    const Tensor y = x * x;
    const Tensor z = y * y * x;
    const Tensor w = Tensor(2.f) * x;
    const std::vector<Tensor> gradients =
        tape.Gradient(std::vector<Tensor>{z, y}, {x, y, w, z}, {Tensor(10.f), Tensor(1.f)});
    EXPECT_EQ(gradients[0].item<float>(), 10 * 5 * 81 + 6);
    EXPECT_EQ(gradients[1].item<float>(), 10 * 2 * 9 * 3 + 1);
    EXPECT_FALSE(gradients[2].defined());
    EXPECT_EQ(gradients[3].item<float>(), 10);
  }
}

// The derivative of f, as a function of tensors.
template <typename F>
auto SlopeOf(const F& f) {
  return [&f](Tensor x) {
    GradientTape tape;
    tape.Watch(x);
    return tape.Gradient(f(x), {x})[0];
  };
}

// The second derivative, by two tapes around f.
template <typename F>
auto SecondOf(const F& f) {
  return [&f](Tensor x) {
    GradientTape outside;
    outside.Watch(x);
    Tensor first;
    {
      GradientTape inside;
      inside.Watch(x);
      first = inside.Gradient(f(x), {x})[0];
    }
    return outside.Gradient(first, {x})[0];
  };
}

// The ways back that two tapes build of one function meet among the functions of the process.
TEST(CppTapes, OneAndTwoOverOneFunction) {
  Function cube([](Tensor x) { return x * x * x; });
  Function second(SecondOf(cube));
  Function slope(SlopeOf(cube));
  const Tensor x(2.f);
  EXPECT_EQ(second(x).item<float>(), 12);
  GradientTape tape;
  tape.Watch(x);
  EXPECT_EQ(tape.Gradient(slope(x), {x})[0].item<float>(), 12);
}

TEST(CppTapeRuns, StandBetweenFunctionsAndCustomGradients) {
  Variable w(Tensor(2.f));
  Function square([](Tensor t) { return t * t; });
  const auto twice =
      CustomGradient([](Tensor t) { return t * 2; }, [](Tensor dy, Tensor t) { return dy * t; });
  for (int round = 0; round < 4; ++round) {
    const Tensor x = 3.f;
    GradientTape tape;
    tape.Watch(x);
    const Tensor a = x * w * x;          // 18
    const Tensor b = square(a) + a + x;  // 324 + 18 + 3
    const Tensor y = twice(b * x) * w + a * x;
    const std::vector<Tensor> gradients = tape.Gradient(y, {x, w});
    // d twice = b x, so dy/db = w b x x, and dy/dx = w b x b there.
    const float db = 2.f * 345 * 3 * 3, da = db * 37 + 3;
    EXPECT_EQ(gradients[0].item<float>(), 2.f * 345 * 3 * 345 + db + da * 12 + 18) << round;
    EXPECT_EQ(gradients[1].item<float>(), 2 * 345 * 3 + da * 9) << round;
  }
}

TEST(CppTapeRuns, KnowVariablesByTypeAndShape) {
  for (int round = 0; round < 3; ++round) {
    for (const int64_t n : {2, 3}) {
      Variable w(Tensor::Of<float>(Shape{n, 1}, std::vector<float>(static_cast<size_t>(n), 2.f)));
      GradientTape tape;
      const Tensor y =
          ops::ResourceGather(w.handle(), Tensor::Of<int32_t>({0, 1, 1}), DType::kFloat);
      const Tensor gradient = tape.Gradient(y * y * w.Read()[0], {w})[0];
      ASSERT_EQ(gradient.shape(), (Shape{n, 1}));
      EXPECT_EQ(gradient.ToVector<float>()[1], 16);
    }
  }
}

TEST(CppTapeRuns, SecondDerivativesStayWhole) {
  const Tensor x = 2.f;
  for (int round = 0; round < 4; ++round) {
    GradientTape outer;
    outer.Watch(x);
    Tensor first;
    {
      GradientTape inner;
      inner.Watch(x);
      first = inner.Gradient(Cube(x) * x, {x})[0];
    }
    EXPECT_EQ(first.item<float>(), 32);
    EXPECT_EQ(outer.Gradient(first * x, {x})[0].item<float>(), 4 * 32);
  }
}

TEST(CppTapeRuns, ThrowWhatOpsThrowAndGoOn) {
  const Tensor x = Tensor::Of<float>({1, 2});
  const auto gradient = [&](const Tensor& dy) {
    GradientTape tape;
    tape.Watch(x);
    return tape.Gradient(ops::Exp(x * x) * x, {x}, dy)[0];
  };
  for (int round = 0; round < 4; ++round) {
    EXPECT_THROW(gradient(Tensor::Of<float>({1, 2, 3})), Error);
    EXPECT_EQ(gradient(Tensor::Of<float>({1, 1})).shape(), (Shape{2}));
  }
  const auto without_gradient = [&] {
    GradientTape tape;
    tape.Watch(x);
    try {
      tape.Gradient(ops::Cross(ops::Floor(x * 1.f), x) * x, {x});
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string text = without_gradient();
  EXPECT_EQ(without_gradient(), text);
}

TEST(CppTapeRuns, AreBounded) {
  const Tensor x = 1.f;
  const auto go_back = [&](int times) {
    GradientTape tape;
    tape.Watch(x);
    Tensor y = x;
    for (int i = 0; i < times; ++i) y = y * x;
    return tape.Gradient(y, {x})[0].item<float>();
  };
  using Table = internal::RunBackwardTable;
  // Ever new structures are not kept, those of two calls within the bound.
  const size_t before = Table::Get().size();
  for (int times = 2; times < 40; ++times) EXPECT_EQ(go_back(times), static_cast<float>(times + 1));
  EXPECT_EQ(Table::Get().size(), before);
  for (int round = 0; round < 2; ++round) {
    for (int times = 40; times < 240; ++times)
      ASSERT_EQ(go_back(times), static_cast<float>(times + 1));
  }
  EXPECT_GT(Table::Get().size(), before);
  EXPECT_LE(Table::Get().size(), Table::kMostRuns);
  // One that is longer than any that is kept.
  for (int round = 0; round < 3; ++round) EXPECT_EQ(go_back(2100), 2101.f);
}

TEST(CppTapeRuns, ServeSeveralThreads) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 100; ++i) {
        const Tensor x = static_cast<float>(t + 1);
        GradientTape tape;
        tape.Watch(x);
        Tensor y = x;
        for (int k = 0; k < 3 + i % 5; ++k) y = y * 1.f + x;
        if (tape.Gradient(y, {x})[0].item<float>() != static_cast<float>(4 + i % 5)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

// Bytes that the process has on its heap.
size_t HeapBytes() { return static_cast<size_t>(mallinfo2().uordblks); }

TEST(CppTapeRuns, LeaveNoMemoryBehind) {
  const Tensor x = 1.f;
  const auto go_back = [&] {
    GradientTape tape;
    tape.Watch(x);
    tape.Gradient(Cube(x) * x, {x});
  };
  for (int i = 0; i < 100; ++i) go_back();
  const size_t before = HeapBytes();
  for (int i = 0; i < 5000; ++i) go_back();
  EXPECT_LT(HeapBytes(), before + 20000);
}

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

// A call by hand of a function goes back as other calls do; where none is built, an error says so.
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
    for (const std::function<Tensor()>& ask :
         {std::function<Tensor()>([&] { return SlopeOf(run)(x); }),
          std::function<Tensor()>([&] { return SlopeOf(traced)(x); }),
          std::function<Tensor()>([&] { return slope(x); })}) {
      try {
        ask();
        ADD_FAILURE() << "no error";
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), TF_UNIMPLEMENTED) << error.what();
      }
    }
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
      EXPECT_TRUE(error.where().starts_with("gradient_test.cc:")) << error.what();
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

TEST(CppStopGradient, Stops) {
  const Tensor x = 3.f;
  GradientTape tape;
  tape.Watch(x);
  EXPECT_EQ(tape.Gradient(x * StopGradient(x), {x})[0].item<float>(), 3);
}

}  // namespace
}  // namespace tenon
