// Gradients that the program gives, within branches and loops of a trace.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tenon/tenon.h"
#include "tests/cpp/elements.h"
#include "tests/cpp/slope.h"

namespace tenon {
namespace {

using OneToOne = std::function<Tensor(Tensor)>;

// The slope of the sum of f.
OneToOne SlopeOfSum(const OneToOne& f) {
  return [f](Tensor x) {
    GradientTape tape;
    tape.Watch(x);
    return tape.Gradient(ops::Sum(f(x), 0), {x})[0];
  };
}

Tensor Square(Tensor x) { return x * x; }

// The square, whose derivative the program gives: `factor` times x.
OneToOne SquareOfSlope(float factor) {
  return CustomGradient(Square, [factor](Tensor dy, Tensor x) { return dy * x * factor; });
}

// Functions of a vector that square parts of it in branches and loops.
std::vector<OneToOne> Programs(const OneToOne& square, const Variable& v) {
  return {
      [=](Tensor x) {
        return Cond(
            ops::Sum(x, 0) > 0.f, [&] { return square(x) * square(x) * v; }, [&] { return -x; });
      },
      [=](Tensor x) {
        return Case(Tensor(int32_t{1}) * ops::Size(x) - 2,
                    {[&] { return x; }, [&] { return square(x) * v; }});
      },
      [=](Tensor x) {
        return std::get<1>(
            While([](Tensor i, Tensor) { return i < 3; },
                  [&](Tensor i, Tensor y) { return std::make_tuple(i + 1, square(y) * x * v); },
                  Tensor(0), x));
      },
      [=](Tensor x) {
        return Scan([&](Tensor a, Tensor e) { return square(a) * v + e; }, Tensor(0.5f), x);
      },
      [=](Tensor x) { return Map([&](Tensor e) { return square(e) * e * v; }, x); },
      [=](Tensor x) {
        return Scan(
            [&](Tensor a, Tensor e) {
              return Cond(
                  e > 1.f, [&] { return square(a) * v + e; },
                  [&] {
                    return While([](Tensor q) { return q < 5.f; },
                                 [&](Tensor q) { return square(q) * 0.5f + 1.f; }, a);
                  });
            },
            Tensor(0.5f), x);
      },
  };
}

void ExpectNear(const Tensor& got, const Tensor& want) {
  const std::vector<float> a = Floats(got), b = Floats(want);
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-4f * std::abs(b[i]) + 1e-5f);
}

TEST(CppCustomGradient, HoldsInBranchesAndLoops) {
  Variable v(Tensor(1.3f));
  const Tensor x = Tensor::Of<float>({0.7f, 1.2f, 0.9f});
  const std::vector<OneToOne> given = Programs(SquareOfSlope(2), v), plain = Programs(Square, v);
  for (size_t i = 0; i < given.size(); ++i) {
    SCOPED_TRACE(i);
    const OneToOne once = SlopeOfSum(given[i]), once_plain = SlopeOfSum(plain[i]);
    const Tensor first = Function(once_plain)(x);
    ExpectNear(Function(once)(x), first);
    const Function called(given[i]);
    ExpectNear(SlopeOfSum(called)(x), first);
    ExpectNear(Function(SlopeOfSum(called))(x), first);
    const Tensor second = Function(SlopeOfSum(once_plain))(x);
    ExpectNear(Function(SlopeOfSum(once))(x), second);
    ExpectNear(SlopeOfSum(SlopeOfSum(called))(x), second);
  }
}

// Each derivative goes back through the loops of the one before.
TEST(CppCustomGradient, HoldsInLoopsThreeTimes) {
  Variable v(Tensor(1.3f));
  const Tensor x = Tensor::Of<float>({0.7f, 1.2f, 0.9f});
  const std::vector<OneToOne> given = Programs(SquareOfSlope(2), v), plain = Programs(Square, v);
  const auto third = [](const OneToOne& f) { return SlopeOfSum(SlopeOfSum(SlopeOfSum(f))); };
  for (const size_t i : {2, 3}) {
    SCOPED_TRACE(i);
    const Function called(given[i]);
    const Tensor want = Function(third(plain[i]))(x);
    ExpectNear(Function(third(given[i]))(x), want);
    ExpectNear(third(called)(x), want);
  }
}

// A way back that would not fit the memory is refused.
TEST(CppCustomGradient, LimitsWhatWaysBackCopy) {
  const auto outer = std::make_shared<internal::TraceGraph>(nullptr);
  const auto inner = std::make_shared<internal::TraceGraph>(outer.get());
  inner->CountCopied(90'000, {});
  try {
    outer->CountCopied(20'000, {});
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), TF_RESOURCE_EXHAUSTED);
    EXPECT_NE(error.message().find("have more than 100000 nodes"), std::string::npos);
  }
}

// After such an error the same question is asked anew.
TEST(CppGradients, PathsAreLookedForAgainAfterAnError) {
  Function f([](Tensor x, Tensor y) { return std::make_pair(x * 2.f, y * 3.f); });
  const TensorSpec scalar(DType::kFloat, {});
  const auto rep = f.Concrete(scalar, scalar).rep();
  const auto paths = [&] {
    return internal::PathsFrom(rep, std::string{'\1', '\0'}, std::string{'\1', '\1'}, {});
  };
  {
    const auto full = std::make_shared<internal::TraceGraph>(nullptr);
    full->CountCopied(100'000, {});
    const internal::TraceScope scope(full.get(), nullptr);
    EXPECT_THROW(paths(), Error);
  }
  EXPECT_EQ(paths(), (std::vector<bool>{true, false}));
}

// It is the program's gradient that is used, not that of the ops; variables get theirs.
TEST(CppCustomGradient, IsTheProgramsOwnInBranchesAndLoops) {
  const OneToOne square = SquareOfSlope(20);
  Variable v(Tensor(2.f));
  const auto slopes = [&](const OneToOne& f) {
    return Function([&v, f](Tensor x) {
      GradientTape tape;
      tape.Watch(x);
      return tape.Gradient(f(x), {x, v});
    });
  };
  const auto branch = slopes([&](Tensor x) {
    return Cond(
        x > 0.f, [&] { return square(x) * v; }, [&] { return x; });
  });
  EXPECT_EQ(branch(Tensor(1.5f))[0].item<float>(), 20 * 1.5f * 2);
  EXPECT_EQ(branch(Tensor(1.5f))[1].item<float>(), 1.5f * 1.5f);
  EXPECT_EQ(branch(Tensor(-1.5f))[0].item<float>(), 1);
  EXPECT_EQ(branch(Tensor(-1.5f))[1].item<float>(), 0);
  const auto loop = slopes([&](Tensor x) {
    return std::get<1>(While(
        [](Tensor i, Tensor) { return i < 2; },
        [&](Tensor i, Tensor y) { return std::make_tuple(i + 1, square(y) * v); }, Tensor(0), x));
  });
  const float y = 1.5f * 1.5f * 2;  // after the first step
  EXPECT_EQ(loop(Tensor(1.5f))[0].item<float>(), 20 * y * 2 * 20 * 1.5f * 2);
  EXPECT_EQ(loop(Tensor(1.5f))[1].item<float>(), y * y + 20 * y * 2 * 1.5f * 1.5f);
}

// What would be other numbers, or be done again, when a branch runs again.
TEST(CppCustomGradient, RefusesEffectsInBranchesAndLoops) {
  const OneToOne square = SquareOfSlope(20);
  Function slope(SlopeOfSum([&](Tensor x) {
    return Cond(
        ops::Sum(x, 0) > 0.f,
        [&] { return square(x) * ops::RandomUniform(Tensor::Of<int32_t>({1}), DType::kFloat); },
        [&] { return x; });
  }));
  try {
    slope(Tensor::Of<float>({1.f}));
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), TF_UNIMPLEMENTED) << error.what();
  }
}

// An argument that is a C++ value, and one that a branch takes from outside.
TEST(CppGradients, OfValuesThatBranchesTake) {
  Function slope(SlopeOf([](Tensor x) {
    return Cond(
        x > 0.f, [&] { return x * x; }, [&] { return x; });
  }));
  EXPECT_EQ(slope(3.f).item<float>(), 6);
  const Tensor small(3.f);
  Function times([&](Tensor x) { return x * small; });
  GradientTape tape;
  tape.Watch(small);
  EXPECT_EQ(tape.Gradient(times(Tensor(2.f)), {small})[0].item<float>(), 2);
}

// A trace that was made before a tape watched the value has it as a constant, and does not serve.
TEST(CppGradients, OfValuesThatFunctionsTook) {
  const Tensor factor(3.f);
  Function times([&](Tensor x) { return x * factor; });
  Function outer([&](Tensor x) { return times(x) + x; });
  const Tensor x(2.f);
  EXPECT_EQ(outer(x).item<float>(), 8);
  EXPECT_EQ(outer(x).item<float>(), 8);
  EXPECT_EQ(outer.trace_count(), 1);
  for (int i = 0; i < 2; ++i) {
    GradientTape tape;
    tape.Watch(factor);
    EXPECT_EQ(tape.Gradient(outer(x) + factor, {factor})[0].item<float>(), 3);
  }
  EXPECT_EQ(outer.trace_count(), 2);
  EXPECT_NE(outer.TraceReport().find("a tape watches a value"), std::string::npos);
  EXPECT_EQ(outer(x).item<float>(), 8);
  EXPECT_EQ(outer.trace_count(), 2);
}

// `backward` may use tensors of the function that it stands in.
TEST(CppCustomGradient, MayUseTensorsOfTheTrace) {
  const auto of_limit = [](Tensor x) {
    const Tensor limit = x * 3;
    return CustomGradient([](Tensor y) { return y * y; },
                          [limit](Tensor dy) { return dy * limit; });
  };
  Function plain([&](Tensor x) { return of_limit(x)(x); });
  Function branch([&](Tensor x) {
    const auto square = of_limit(x);
    return Cond(
        x > 0.f, [&] { return square(x); }, [&] { return x; });
  });
  const Tensor x(2.f);
  for (const OneToOne& f : {OneToOne(plain), OneToOne(branch)}) {
    EXPECT_EQ(SlopeOf(f)(x).item<float>(), 6);
    EXPECT_EQ(Function(SlopeOf(f))(x).item<float>(), 6);
    EXPECT_EQ(Function(SlopeOf(Function(f)))(x).item<float>(), 6);
  }
}

// A `backward` that holds a symbol of its own trace goes with the function.
TEST(CppCustomGradient, GoesWithTheFunctionOfWhoseTraceItHoldsASymbol) {
  const auto token = std::make_shared<int>(0);
  const auto of_limit = [&](Tensor x) {
    const Tensor limit = x * 3;
    return CustomGradient([](Tensor y) { return y * y; },
                          [limit, token](Tensor dy) { return dy * limit; });
  };
  {
    Function plain([&](Tensor x) { return of_limit(x)(x); });
    Function branch([&](Tensor x) {
      const auto square = of_limit(x);
      return Cond(
          x > 0.f, [&] { return square(x); }, [&] { return x; });
    });
    Function loop([&](Tensor x) {
      const auto square = of_limit(x);
      return While([](Tensor y) { return y < 100.f; }, [&](Tensor y) { return square(y); }, x);
    });
    Function fails([&](Tensor x) -> Tensor {
      of_limit(x)(x);
      throw std::runtime_error("no trace");
    });
    const Tensor x(2.f);
    for (const OneToOne& f : {OneToOne(plain), OneToOne(branch), OneToOne(loop)}) {
      f(x);
      EXPECT_TRUE(Function(SlopeOf(Function(f)))(x).defined());
    }
    EXPECT_THROW(fails(x), std::runtime_error);
    EXPECT_GT(token.use_count(), 1);
  }
  EXPECT_EQ(token.use_count(), 1);
}

// An exception of `backward` in the trace of a function around it is over with that trace.
TEST(CppCustomGradient, AsksAgainAfterAnException) {
  bool fails = true;
  const auto square = CustomGradient(Square, [&](Tensor dy) {
    if (fails) throw std::runtime_error("no way back");
    return dy * 100;
  });
  Function inner([&](Tensor x) { return square(x); });
  Function outer([&](Tensor x) { return inner(x) + x; });
  const Tensor x(2.f);
  EXPECT_EQ(outer(x).item<float>(), 6);
  Function slope(SlopeOf(outer));
  EXPECT_THROW(slope(x), std::runtime_error);
  EXPECT_THROW(SlopeOf(outer)(x), std::runtime_error);
  fails = false;
  EXPECT_EQ(slope(x).item<float>(), 101);
  EXPECT_EQ(SlopeOf(outer)(x).item<float>(), 101);
}

// A function with effects is not run again for a second derivative.
TEST(CppGradientTape, SecondDerivativesOfFunctionsWithEffects) {
  Variable count(Tensor(0.f), {.trainable = false});
  const OneToOne square = SquareOfSlope(2);
  // exp(x^2) times the number of runs: (2 + 4 x^2) exp(x^2).
  const float first = std::exp(0.25f), second = 3 * std::exp(0.25f);
  const Tensor x(0.5f);
  for (const OneToOne& of : {OneToOne(Square), square}) {
    Function f([&](Tensor t) {
      count.AssignAdd(1.f);
      return ops::Exp(of(t)) * count;
    });
    count.Assign(0.f);
    GradientTape tape({.persistent = true});
    tape.Watch(x);
    const Tensor slope = tape.Gradient(f(x), {x})[0];
    EXPECT_FLOAT_EQ(slope.item<float>(), first);
    EXPECT_FLOAT_EQ(tape.Gradient(slope, {x})[0].item<float>(), second);
    EXPECT_EQ(count.Read().item<float>(), 1);
    count.Assign(0.f);
    EXPECT_FLOAT_EQ(SecondOf(f)(x).item<float>(), second);
    count.Assign(0.f);
    EXPECT_FLOAT_EQ(Function(SecondOf(f))(x).item<float>(), second);
    EXPECT_EQ(count.Read().item<float>(), 1);
  }
}

TEST(CppGradientTape, GoesBackThreeTimes) {
  Function f([](Tensor x) { return ops::Exp(x * x); });
  const Tensor x(0.5f);
  GradientTape tape({.persistent = true});
  tape.Watch(x);
  const Tensor first = tape.Gradient(f(x), {x})[0];
  const Tensor second = tape.Gradient(first, {x})[0];
  const float e = std::exp(0.25f);
  EXPECT_FLOAT_EQ(first.item<float>(), e);
  EXPECT_FLOAT_EQ(second.item<float>(), 3 * e);
  EXPECT_FLOAT_EQ(tape.Gradient(second, {x})[0].item<float>(), 7 * e);
}

// What comes to a variable through a branch of a called function counts once, whatever else is in
// the function: f = x²·v² + x·v² and g = (x²·v)² for a positive x.
TEST(CustomControlFlow, SecondDerivativesByAVariableBesideABranch) {
  const Variable v(0.5f);
  const auto square = SquareOfSlope(2);
  const Function f([&](Tensor x) {
    const Tensor branch = Cond(
        x > 0.f, [&] { return square(x) * v * v; }, [&] { return x * v; });
    return branch + x * v * v;
  });
  const Function g([&](Tensor x) {
    return square(Cond(
        x > 0.f, [&] { return square(x) * v; }, [&] { return x; }));
  });
  const Function slopes([&](Tensor x) {
    const std::vector<Tensor> of_f = Gradients({f(x)}, {x, v});
    return std::make_tuple(of_f[0], of_f[1], Gradients({g(x)}, {x})[0]);
  });
  const GradientTapeOptions keeps = {.persistent = true};
  GradientTape tape(keeps);
  const auto [f_by_x, f_by_v, g_by_x] = slopes(Tensor(0.75f));
  const auto by_v = [&](const Tensor& slope) { return tape.Gradient(slope, {v})[0].item<float>(); };
  EXPECT_FLOAT_EQ(4 * 0.75f * 0.5f + 2 * 0.5f, by_v(f_by_x));
  EXPECT_FLOAT_EQ(2 * 0.5625f + 2 * 0.75f, by_v(f_by_v));
  EXPECT_FLOAT_EQ(8 * 0.421875f * 0.5f, by_v(g_by_x));
}

}  // namespace
}  // namespace tenon
