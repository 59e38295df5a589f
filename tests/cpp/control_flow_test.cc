// Branches and loops of the C++ library, eagerly and in traces.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tenon/tenon.h"
#include "tests/cpp/elements.h"

namespace tenon {
namespace {

TEST(CppCond, RunsOneBranchEagerlyAndTraced) {
  Variable taken(Tensor(0.f));
  const auto choose = [&](Tensor x) {
    return Cond(
        x > 0.f,
        [&] {
          taken.AssignAdd(Tensor(1.f));
          return x * 2;
        },
        [&] { return -x; });
  };
  Function f(choose);
  EXPECT_EQ(f(Tensor(3.f)).item<float>(), 6);
  EXPECT_EQ(f(Tensor(-3.f)).item<float>(), 3);
  EXPECT_EQ(choose(Tensor(3.f)).item<float>(), 6);
  EXPECT_EQ(choose(Tensor(-3.f)).item<float>(), 3);
  EXPECT_EQ(taken.Read().item<float>(), 2);
}

TEST(CppCond, GivesStructuresAndGradients) {
  Variable w(Tensor(2.f));
  Function f([&](Tensor x) {
    const auto [y, z] = Cond(
        x > 0.f, [&] { return std::make_pair(x * x * w, x); },
        [&] { return std::make_pair(-x, w.Read()); });
    return Gradients({y, z}, {x, w});
  });
  std::vector<Tensor> gradients = f(Tensor(3.f));
  EXPECT_EQ(gradients[0].item<float>(), 13);
  EXPECT_EQ(gradients[1].item<float>(), 9);
  gradients = f(Tensor(-3.f));
  EXPECT_EQ(gradients[0].item<float>(), -1);
  EXPECT_EQ(gradients[1].item<float>(), 1);
}

TEST(CppCond, RefusesBranchesOfOtherTypes) {
  Function f([](Tensor x) {
    return Cond(
        x > 0.f, [&] { return x; }, [&] { return Tensor(1); });
  });
  EXPECT_THROW(f(Tensor(1.f)), Error);
}

TEST(CppCond, TakesBranchesThatGiveNothing) {
  Variable v(Tensor(0.f));
  const auto traced = [&](Tensor x) {
    Cond(
        x > 0, [&] { v.AssignAdd(10); }, [&] { v.AssignSub(1); });
    Case(ops::Cast(x > 5, DType::kInt32),
         std::vector<std::function<void()>>{[] {}, [&] { v.Assign(0); }});
  };
  Function f(traced);
  for (const bool eager : {false, true}) {
    const auto call = [&](float x) { eager ? traced(Tensor(x)) : f(Tensor(x)); };
    v.Assign(0);
    call(1);
    EXPECT_EQ(v.Read().item<float>(), 10);
    call(-1);
    EXPECT_EQ(v.Read().item<float>(), 9);
    call(6);
    EXPECT_EQ(v.Read().item<float>(), 0);
  }
}

TEST(CppCond, RefusesBranchesThatGiveOtherValuesThanTensors) {
  Variable v(Tensor(1.f)), w(Tensor(2.f));
  Function numbers([](Tensor p) {
    return Cond(
        p, [] { return 1.5f; }, [] { return 2.5f; });
  });
  EXPECT_THROW(numbers(Tensor(true)), Error);
  Function variables([&](Tensor p) {
    return Cond(
        p, [&] { return v; }, [&] { return w; });
  });
  EXPECT_THROW(variables(Tensor(true)), Error);
  using Named = std::map<std::string, Tensor>;
  Function keys([](Tensor p) {
    return Cond(
        p,
        [&] {
          return Named{{"a", p}};
        },
        [&] {
          return Named{{"b", p}};
        });
  });
  EXPECT_THROW(keys(Tensor(true)), Error);
  Function same([](Tensor p) {
    return Cond(
        p, [&] { return std::make_pair(Tensor(1), 7); },
        [&] { return std::make_pair(Tensor(2), 7); });
  });
  EXPECT_EQ(same(Tensor(false)).first.item<int32_t>(), 2);
  EXPECT_EQ(same(Tensor(false)).second, 7);
}

TEST(CppCase, TakesBranchesInBraces) {
  Function f([](Tensor i, Tensor x) { return Case(i, {[&] { return x; }, [&] { return -x; }}); });
  EXPECT_EQ(f(Tensor(0), Tensor(3.f)).item<float>(), 3);
  EXPECT_EQ(f(Tensor(1), Tensor(3.f)).item<float>(), -3);
  using Two = std::pair<Tensor, Tensor>;
  const auto two = [](Tensor i, Tensor x) {
    return Case<Two>(i, {[&] { return Two(x, 1); }, [&] { return Two(-x, 2); }});
  };
  Function g(two);
  for (const int i : {0, 1, 7}) {
    const float expected = i == 0 ? 3 : -3;
    EXPECT_EQ(two(Tensor(i), Tensor(3.f)).first.item<float>(), expected);
    EXPECT_EQ(g(Tensor(i), Tensor(3.f)).first.item<float>(), expected);
    EXPECT_EQ(g(Tensor(i), Tensor(3.f)).second.item<int32_t>(), i == 0 ? 1 : 2);
  }
}

TEST(CppWhile, SaysWhatItsBodyChanges) {
  const auto error_of = [](const auto& function) {
    try {
      function();
    } catch (const Error& error) {
      return error.where() + " " + error.message();
    }
    return std::string();
  };
  const auto here = [](int line) { return "control_flow_test.cc:" + std::to_string(line) + " "; };
  Function change([](Tensor n) {
    return While([](Tensor v) { return v < 9; },
                 [](Tensor v) { return ops::Cast(v, DType::kFloat); }, n);
  });
  const int line = __LINE__ - 2;
  EXPECT_EQ(error_of([&] { change(Tensor(1)); }),
            here(line) + "Variable 0 of While is of type int32, the body gives it float32");
  Function rank([](Tensor n) {
    return While([](Tensor v) { return v < 3; }, [](Tensor v) { return ops::Pack({v, v}); }, n);
  });
  EXPECT_EQ(error_of([&] { rank(Tensor(1)); }),
            here(__LINE__ - 3) +
                "Variable 0 of While has shape (), the body gives it another rank: (2,)");
  Function number([](Tensor n) {
    return While([](Tensor v) { return v + 1; }, [](Tensor v) { return v - 1; }, n);
  });
  EXPECT_EQ(error_of([&] { number(Tensor(1)); }),
            here(__LINE__ - 3) + "The condition of While is of type int32, not bool");
  Function scan(
      [](Tensor xs) { return Scan([](Tensor, Tensor x) { return x > 0; }, Tensor(0.f), xs); });
  const int scan_line = __LINE__ - 1;
  const Tensor two = Tensor::Of<float>({1, 2});
  EXPECT_EQ(error_of([&] { scan(two); }),
            here(scan_line) +
                "Scan: tensor 0 of the carry is of type float32, the function gives it bool");
}

TEST(CppCase, TakesTheLastBranchForOtherNumbers) {
  const auto choose = [](Tensor i) {
    return Case(i, std::vector<std::function<Tensor()>>{[] { return Tensor(10.f); },
                                                        [] { return Tensor(20.f); }});
  };
  Function f(choose);
  for (const int i : {0, 1, 5, -1}) {
    EXPECT_EQ(f(Tensor(i)).item<float>(), i == 0 ? 10 : 20);
    EXPECT_EQ(choose(Tensor(i)).item<float>(), i == 0 ? 10 : 20);
  }
}

TEST(CppWhile, GivesAllVariables) {
  const auto power = [](Tensor x, Tensor n) {
    const auto [i, y] = While([&](Tensor i, Tensor) { return i < n; },
                              [&](Tensor i, Tensor y) { return std::make_tuple(i + 1, y * x); },
                              Tensor(0), Tensor(1.f));
    return y;
  };
  Function f(power);
  EXPECT_EQ(f(Tensor(2.f), Tensor(10)).item<float>(), 1024);
  EXPECT_EQ(f(Tensor(2.f), Tensor(0)).item<float>(), 1);
  EXPECT_EQ(power(Tensor(2.f), Tensor(10)).item<float>(), 1024);
  Function one([](Tensor x) {
    return While([](Tensor x) { return x < 100; }, [](Tensor x) { return x * 2; }, x);
  });
  EXPECT_EQ(one(Tensor(3)).item<int32_t>(), 192);
}

TEST(CppWhile, LetsShapesGrow) {
  Function f([](Tensor x) {
    const auto [i, y] = While(
        [](Tensor i, Tensor) { return i < 3; },
        [](Tensor i, Tensor y) {
          return std::make_tuple(
              i + 1, Op("ConcatV2").Input(std::vector<Tensor>{y, y}).Input(Tensor(0)).RunOne());
        },
        Tensor(0), x);
    return y;
  });
  EXPECT_EQ(f(Tensor::Of<float>({1})).shape(), (Shape{8}));
}

TEST(CppWhile, HasGradients) {
  Variable w(Tensor(2.f));
  const auto loop = [&](Tensor x) {
    const auto [i, y] = While([](Tensor i, Tensor) { return i < 3; },
                              [&](Tensor i, Tensor y) { return std::make_tuple(i + 1, y * x * w); },
                              Tensor(0), Tensor(1.f));
    return y;
  };
  Function in_trace([&](Tensor x) { return Gradients({loop(x)}, {x, w}); });
  Function function(loop);
  const Tensor x = 3.f;
  GradientTape traced, eager;
  traced.Watch(x);
  const Tensor y = function(x);
  eager.Watch(x);
  const Tensor z = loop(x);
  for (const std::vector<Tensor>& gradients :
       {in_trace(x), eager.Gradient(z, {x, w}), traced.Gradient(y, {x, w})}) {
    EXPECT_EQ(gradients[0].item<float>(), 216);
    EXPECT_EQ(gradients[1].item<float>(), 324);
  }
}

// The gradients of a list meet where several loops read it. Those of a list of bools are zeros.
TEST(CppWhile, ListsOfBoolsThatLoopsReadHaveSecondDerivatives) {
  const auto fill = [](Tensor list, Tensor x) {
    auto [i, filled, y] =
        While([](Tensor i, Tensor, Tensor) { return i < 2; },
              [](Tensor i, Tensor list, Tensor y) {
                return std::make_tuple(i + 1, ops::TensorListPushBack(list, y > 0.5f), y * y);
              },
              Tensor(0), list, x);
    return std::make_pair(filled, y);
  };
  const auto drain = [](Tensor list, Tensor x) {
    auto [i, rest, y] =
        While([](Tensor i, Tensor, Tensor) { return i < 2; },
              [](Tensor i, Tensor list, Tensor y) {
                auto [rest, big] = ops::TensorListPopBack(list, Tensor(-1), DType::kBool);
                return std::make_tuple(i + 1, rest, ops::SelectV2(big, y * y, y * 3.f));
              },
              Tensor(0), list, x);
    return y;
  };
  const auto nested = [&](Tensor x) {
    const Tensor empty = ops::EmptyTensorList(Tensor(-1), Tensor(-1), DType::kBool);
    auto [i, list, y] = While(
        [](Tensor i, Tensor, Tensor) { return i < 2; },
        [&](Tensor i, Tensor list, Tensor y) {
          const auto [filled, power] = fill(list, y);
          return std::make_tuple(i + 1, filled, ops::Tanh(drain(filled, y) * drain(filled, power)));
        },
        Tensor(0), empty, x);
    return y;
  };
  const Function slope([&](Tensor x) { return Gradients({nested(x)}, {x})[0]; });
  const Function second([&](Tensor x) { return Gradients({slope(x)}, {x})[0]; });
  const Tensor x = Tensor::Of<float>({0.2f, 0.72f});
  const std::vector<float> found = Floats(second(x));
  const float step = 1e-3f;
  const std::vector<float> above = Floats(slope(x + step)), below = Floats(slope(x - step));
  for (size_t i = 0; i < found.size(); ++i) {
    const float wanted = (above[i] - below[i]) / (2 * step);
    EXPECT_NEAR(found[i], wanted, 2e-2f * std::abs(wanted) + 1e-3f) << i;
  }
}

TEST(CppScan, StacksCarries) {
  Variable w(Tensor(2.f));
  const auto scan = [&](Tensor xs) {
    return Scan([&](Tensor c, Tensor x) { return c * w + x; }, Tensor(0.f), xs);
  };
  Function f(scan);
  const Tensor xs = Tensor::Of<float>({1, 2, 3, 4});
  const std::vector<float> carries = {1, 4, 11, 26};
  EXPECT_EQ(Floats(f(xs)), carries);
  EXPECT_EQ(Floats(scan(xs)), carries);
  EXPECT_EQ(scan(xs[Slice(0, 0)]).shape(), (Shape{0}));
  GradientTape tape;
  EXPECT_EQ(tape.Gradient(f(xs), {w})[0].item<float>(), 30);
}

TEST(CppScan, TakesStructures) {
  using State = std::tuple<Tensor, Tensor>;
  const auto scan = [&](Tensor xs) {
    return Scan([](State s, Tensor x) { return State(std::get<0>(s) + x, std::get<1>(s) * x); },
                State(Tensor(0.f), Tensor(1.f)), xs);
  };
  Function f(scan);
  const Tensor xs = Tensor::Of<float>({1, 2, 3});
  for (const State& state : {f(xs), scan(xs)}) {
    EXPECT_EQ(Floats(std::get<0>(state)), (std::vector<float>{1, 3, 6}));
    EXPECT_EQ(Floats(std::get<1>(state)), (std::vector<float>{1, 2, 6}));
  }
}

TEST(CppWhile, ABodyMayHaveACaseOfOneBranch) {
  Function f([](Tensor p, Tensor n) {
    const auto [i, a] = While(
        [&](Tensor i, Tensor) { return i < n; },
        [](Tensor i, Tensor a) { return std::make_tuple(i + 1, Case(i, {[&] { return a + 1; }})); },
        Tensor(0), p);
    return a;
  });
  EXPECT_EQ(f(Tensor(1.5f), Tensor(3)).item<float>(), 4.5f);
}

TEST(CppMap, StacksResults) {
  const auto map = [](Tensor xs) {
    return Map([](Tensor x) { return std::make_pair(x * x, x > 2); }, xs);
  };
  Function f(map);
  const Tensor xs = Tensor::Of<float>({1, 2, 3});
  for (const auto& [squares, large] : {f(xs), map(xs)}) {
    EXPECT_EQ(Floats(squares), (std::vector<float>{1, 4, 9}));
    EXPECT_EQ(large.ToVector<bool>(), (std::vector<bool>{false, false, true}));
  }
}

TEST(CppScopes, PlaceAndOrderNodes) {
  Function f([](Tensor x) {
    const Device device("/CPU:0");
    const Tensor a = x + 1;
    EXPECT_EQ(a.device(), "/device:CPU:0");
    const ControlDependencies after({a});
    const Tensor b = x + 2;
    EXPECT_EQ(TF_OperationNumControlInputs(b.output().oper), 1);
    return a + b;
  });
  EXPECT_EQ(f(Tensor(1.f)).item<float>(), 5);
}

}  // namespace
}  // namespace tenon
