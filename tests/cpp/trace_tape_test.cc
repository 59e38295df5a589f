// Tapes that begin within a trace: what they record, and what counts as constant.
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "tenon/tenon.h"
#include "tests/cpp/elements.h"

namespace tenon {
namespace {

using Slope = std::function<Tensor(Tensor)>;

// What f(3) gives eagerly; checks that a trace gives the same.
float AtThree(const Slope& f) {
  const float eager = f(Tensor(3.f)).item<float>();
  const Function<Slope> traced(f);
  EXPECT_EQ(eager, traced(Tensor(3.f)).item<float>());
  return eager;
}

TEST(TapeInATrace, WhatWasComputedBeforeItIsConstant) {
  EXPECT_EQ(9, AtThree([](Tensor x) {
              const Tensor square = x * x;
              GradientTape tape;
              tape.Watch(x);
              return tape.Gradient(x * square, {x})[0];
            }));
}

TEST(TapeInATrace, WatchesFromWatchOn) {
  EXPECT_EQ(9, AtThree([](Tensor x) {
              GradientTape tape;
              const Tensor square = x * x;
              tape.Watch(x);
              return tape.Gradient(x * square, {x})[0];
            }));
}

TEST(TapeInATrace, GivesNothingForWhatItDoesNotWatch) {
  EXPECT_EQ(0, AtThree([](Tensor x) {
              const Tensor before = x * 2.f;
              GradientTape tape;
              const Tensor y = x * before;
              const std::vector<Tensor> slopes = tape.Gradient(y, {x, before});
              return Tensor((slopes[0].defined() ? 1.f : 0.f) + (slopes[1].defined() ? 1.f : 0.f));
            }));
}

TEST(TapeInATrace, GivesThoseOfWhatItHasRecorded) {
  EXPECT_EQ(18 + 1, AtThree([](Tensor x) {
              GradientTape tape;
              tape.Watch(x);
              const Tensor square = x * x;
              const std::vector<Tensor> slopes = tape.Gradient(square * square, {square, x * 1.f});
              return slopes[0] + (slopes[1].defined() ? 0.f : 1.f);
            }));
}

TEST(TapeInATrace, ReadsOfVariablesBeforeItAreConstant) {
  const Variable v(5.f);
  EXPECT_EQ(15, AtThree([&](Tensor x) {
              const Tensor before = v.Read() * x;
              GradientTape tape;
              return tape.Gradient(v.Read() * before, {v})[0];
            }));
}

TEST(TapeInATrace, TapesAroundItSeeAll) {
  EXPECT_EQ(6, AtThree([](Tensor x) {
              GradientTape outside;
              outside.Watch(x);
              const Tensor square = x * x;
              Tensor slope;
              {
                GradientTape inside;
                inside.Watch(x);
                slope = inside.Gradient(x * square, {x})[0];
              }
              return outside.Gradient(slope, {x})[0];
            }));
}

TEST(TapeInATrace, GivenGradientsBeforeItAreNotCalled) {
  const auto square =
      CustomGradient([](Tensor x) { return x * x; }, [](Tensor dy) { return dy * 100.f; });
  const Variable calls(0.f, {.trainable = false});
  const auto counted = CustomGradient([](Tensor x) { return x + 1.f; },
                                      [&](Tensor dy) {
                                        calls.AssignAdd(1.f);
                                        return dy;
                                      });
  EXPECT_EQ(9 + 100 * 4 + 4, AtThree([&](Tensor x) {
              const Tensor before = counted(square(x) - 6.f);  // 4
              GradientTape tape;
              tape.Watch(x);
              return tape.Gradient(square(x) * before + x * before, {x})[0] + 9.f;
            }));
  EXPECT_EQ(0, calls.Read().item<float>());
}

TEST(TapeInATrace, SeesWhatBranchesAndCallsTake) {
  const Function cube([](Tensor x) { return x * x * x; });
  EXPECT_EQ(9 * 27 + 9, AtThree([&](Tensor x) {
              const Tensor square = x * x;
              GradientTape tape;
              tape.Watch(x);
              const Tensor y = Cond(
                  x > 0.f, [&] { return cube(x) * square; }, [&] { return x; });
              return tape.Gradient(y + x * square, {x})[0];
            }));
}

// x * square is 3x² in all.
TEST(TapeInATrace, GradientsTakesAllPaths) {
  const Function slope([](Tensor x) {
    const Tensor square = x * x;
    return Gradients({x * square}, {x})[0];
  });
  EXPECT_EQ(27, slope(Tensor(3.f)).item<float>());
}

TEST(TapeInATrace, OfOutsideGivesValuesThatItGivesThere) {
  const Variable v(3.f);
  GradientTape tape;
  const Tensor y = v * v;
  const Function scaled([&](Tensor x) { return x * tape.Gradient(y, {v})[0]; });
  EXPECT_EQ(60, scaled(Tensor(10.f)).item<float>());
}

}  // namespace
}  // namespace tenon
