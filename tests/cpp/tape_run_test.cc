// Tapes of the C++ library that go back through many ops at once, and stand between other tapes.
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "tenon/tenon.h"
#include "tests/cpp/elements.h"
#include "tests/cpp/slope.h"

namespace tenon {
namespace {

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
      first = inner.Gradient(x * x * x * x, {x})[0];
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
    tape.Gradient(x * x * x * x, {x});
  };
  for (int i = 0; i < 100; ++i) go_back();
  const size_t before = HeapBytes();
  for (int i = 0; i < 5000; ++i) go_back();
  EXPECT_LT(HeapBytes(), before + 20000);
}

}  // namespace
}  // namespace tenon
