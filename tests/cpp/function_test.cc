// Functions of the C++ library: what they take, capture and call, and the order of side effects.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "tenon/tenon.h"
#include "tests/cpp/elements.h"

namespace tenon {
namespace {

// What a graph computes of x = 2 without an initializer.
float RunAlone(const ConcreteFunction& function) {
  const std::string path = ::testing::TempDir() + "tenon_frozen.pb";
  function.Save(path);
  const Session session = Session::Load(path);
  std::remove(path.c_str());
  return session.Run({{"arg_0", Tensor(2.f)}}, {"output_0"})[0].item<float>();
}

// A type of a program, for arguments in braces.
struct Dense {
  Tensor weight, bias;
  int times = 1;
  auto Fields() { return std::tie(weight, bias, times); }
};

TEST(CppFunction, TakesArgumentsInBraces) {
  Function sum([](std::vector<Tensor> terms, Tensor last) {
    for (const Tensor& term : terms) last += term;
    return last;
  });
  const Tensor a = 1.f, b = 2.f;
  EXPECT_EQ(sum({a, b}, b).item<float>(), 5);
  EXPECT_EQ(sum({a, b, b}, 4.f).item<float>(), 9);  // the number becomes a tensor, as the list does
  EXPECT_EQ(sum({a, b, a}, 7.f).item<float>(), 11);
  EXPECT_EQ(sum.trace_count(), 2);
  EXPECT_EQ(sum(std::vector<Tensor>{a, b}, b).item<float>(), 5);
  EXPECT_EQ(sum.trace_count(), 2);
  Function difference([](std::pair<Tensor, Tensor> of) { return of.first - of.second; });
  EXPECT_EQ(difference({a, 5.f}).item<float>(), -4);
  Function apply([](Tensor x, Dense layer, std::map<std::string, Tensor> more) {
    for (int i = 0; i < layer.times; ++i) x = x * layer.weight + layer.bias;
    return x + more.at("more");
  });
  EXPECT_EQ(apply(a, {b, 3.f, 2}, {{"more", b}}).item<float>(), 15);
  Variable v(1.f);
  Function count(
      [](Variable& counter, std::array<Tensor, 2> by) { counter.AssignAdd(by[0] * by[1]); });
  count(v, {b, b});
  EXPECT_EQ(v.Read().item<float>(), 5);
  // Errors name the place of such a call.
  try {
    sum({Tensor::Of<float>({1, 2}), Tensor::Of<float>({1, 2, 3})}, b);
    ADD_FAILURE() << "the shapes fit";
  } catch (const Error& error) {
    EXPECT_NE(error.where().find("function_test.cc"), std::string::npos) << error.what();
  }
}

TEST(CppFunction, HasAConcreteFunctionOfItsSignature) {
  const Function product([](Tensor x, Tensor y) { return ops::MatMul(x, y); },
                         {.input_signature = {TensorSpec(DType::kFloat, {-1, 2}, "x"),
                                              TensorSpec(DType::kFloat, {2, 1}, "y")}});
  const ConcreteFunction concrete = product.Concrete();
  ASSERT_EQ(concrete.inputs().size(), 2U);
  EXPECT_EQ(concrete.inputs()[0].name(), "x");
  EXPECT_EQ(concrete.inputs()[1].shape(), (Shape{2, 1}));
  product(Tensor::Of<float>({{1, 2}}), Tensor::Of<float>({{1}, {2}}));
  EXPECT_EQ(product.trace_count(), 1);
  const Tensor row = Tensor::Of<float>({{1, 2}}), column = Tensor::Of<float>({{1}, {2}});
  EXPECT_EQ(Floats(concrete(row, column) * 2 - concrete(row, column)), (std::vector<float>{5}));
  const Function without([](Tensor x) { return x; });
  EXPECT_THROW(without.Concrete(), Error);
  const Function nothing([] { return Tensor(1); });
  EXPECT_EQ(nothing.Concrete().inputs().size(), 0U);
}

TEST(CppConcreteFunction, FreezesVariablesThatBranchesLoopsAndFunctionsRead) {
  Variable w(Tensor(3.f), {.name = "w"}), b(Tensor(1.f), {.name = "b"});
  const TensorSpec scalar(DType::kFloat, {});
  Function inner([&](Tensor x) { return x * w + b; });
  Function calls([&](Tensor x) { return inner(x); });
  EXPECT_EQ(RunAlone(calls.Concrete(scalar)), 7);
  Function branches([&](Tensor x) {
    return Cond(
        x > 1.f, [&] { return inner(x); }, [&] { return x - w; });
  });
  EXPECT_EQ(RunAlone(branches.Concrete(scalar)), 7);
  Function loops([&](Tensor x) {
    return While([&](Tensor y) { return y < 20.f * b; }, [&](Tensor y) { return inner(y); }, x);
  });
  EXPECT_EQ(RunAlone(loops.Concrete(scalar)), 22);
  Function scans([&](Tensor x) {
    const Tensor steps = Scan([&](Tensor carry, Tensor step) { return carry * w + step; }, x,
                              Tensor::Of<float>({1, 1}));
    return steps[-1];
  });
  EXPECT_EQ(RunAlone(scans.Concrete(scalar)), 22);
  // What is assigned stays a variable, also where a function does it.
  Function counts([&](Tensor x) {
    b.AssignAdd(x);
    return b.Read();
  });
  Function mixed([&](Tensor x) { return counts(x) + inner(x) * 0.f + w; });
  const std::string path = ::testing::TempDir() + "tenon_mixed.pbtxt";
  mixed.Concrete(scalar).Save(path);
  const Session session = Session::Load(path);
  std::remove(path.c_str());
  session.Run({}, {"init"});
  for (const float sum : {6.f, 8.f}) {
    EXPECT_EQ(session.Run({{"arg_0", Tensor(2.f)}}, {"output_0"})[0].item<float>(), sum);
  }
}

struct Layer {
  Tensor w, b;
  auto Fields() { return std::tie(w, b); }
};

TEST(CppFunction, TakesAndGivesStructures) {
  using Map = std::map<std::string, Tensor>;
  Function f([](Layer layer, std::vector<Tensor> list, Map map, std::optional<Tensor> maybe,
                std::array<Tensor, 2> pair) {
    Layer out{layer.w + list[0], layer.b + map["k"]};
    return std::make_tuple(out, Map{{"sum", pair[0] + pair[1]}}, maybe.has_value(), 5);
  });
  const auto [layer, map, has, five] = f(
      Layer{Tensor(1.f), Tensor(2.f)}, std::vector<Tensor>{Tensor(10.f)}, Map{{"k", Tensor(20.f)}},
      std::optional<Tensor>(), std::array<Tensor, 2>{Tensor(1.f), Tensor(2.f)});
  EXPECT_EQ(layer.w.item<float>(), 11);
  EXPECT_EQ(layer.b.item<float>(), 22);
  EXPECT_EQ(map.at("sum").item<float>(), 3);
  EXPECT_FALSE(has);
  EXPECT_EQ(five, 5);
}

TEST(CppFunction, CapturesValuesAndVariables) {
  const Tensor small = 3.f;
  const Tensor large = Tensor::Of<float>(Shape{200}, std::vector<float>(200, 1.f));
  Variable v(Tensor(1.f));
  Function f([&](Tensor x) { return x * small + large + v; });
  EXPECT_EQ(Floats(f(Tensor(2.f)))[199], 8);
  v.Assign(Tensor(100.f));
  EXPECT_EQ(Floats(f(Tensor(2.f)))[0], 107);
  EXPECT_EQ(f.Concrete(TensorSpec(DType::kFloat, {})).captures().size(), 2u);
  EXPECT_EQ(f.trace_count(), 1);
}

// A vector of specs is a vector of tensors to the callable. In other structures a spec would take
// the place of the next tensor.
TEST(CppFunction, TakesSpecsInVectors) {
  Function f([](std::vector<Tensor> list, Tensor t) {
    return std::tuple(list[0] * list[0], list[1], t + t);
  });
  (void)f.Concrete(
      std::vector<TensorSpec>{TensorSpec(DType::kFloat, {2}), TensorSpec(DType::kDouble, {})},
      TensorSpec(DType::kInt32, {}));
  const auto [square, same, sum] =
      f(std::vector<Tensor>{Tensor::Of<float>({1, 2}), Tensor(3.0)}, Tensor(4));
  EXPECT_EQ(Floats(square)[1], 4);
  EXPECT_EQ(same.dtype(), DType::kDouble);
  EXPECT_EQ(sum.item<int>(), 8);
  EXPECT_EQ(f.trace_count(), 1);
  Function pair([](const auto&, Tensor t) { return t; });
  try {
    (void)pair.Concrete(std::pair(TensorSpec(DType::kFloat, {2}), 1),
                        TensorSpec(DType::kInt32, {}));
    ADD_FAILURE() << "a spec in a pair was taken";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), TF_UNIMPLEMENTED) << e.what();
  }
}

TEST(CppFunction, KeepsTheOrderOfSideEffects) {
  Variable v(Tensor(1.f));
  Function f([&] {
    const Tensor before = v.Read();
    v.Assign(before * 10);
    v.AssignAdd(Tensor(1.f));
    const Tensor between = v.Read();
    v.Assign(Tensor(5.f));
    return std::make_pair(before, between);
  });
  for (const float value : {1.f, 5.f}) {
    const auto [before, between] = f();
    EXPECT_EQ(before.item<float>(), value);
    EXPECT_EQ(between.item<float>(), value * 10 + 1);
    EXPECT_EQ(v.Read().item<float>(), 5);
  }
}

TEST(CppFunction, FollowsAVariableWhoseShapeChanges) {
  const Tensor handle =
      Op("VarHandleOp").Attr("dtype", DType::kFloat).Attr("shape", Shape::Unknown()).RunOne();
  const auto assign = [&](const Tensor& value) {
    Op("AssignVariableOp").Input(handle).Input(value).Attr("dtype", DType::kFloat).RunNone();
  };
  const auto read = [&] {
    return Op("ReadVariableOp").Input(handle).Attr("dtype", DType::kFloat).RunOne();
  };
  Function twice([&] { return read() * 2; });
  Function grow([&] {
    const Tensor before = read();
    assign(Op("ConcatV2").Input(std::vector<Tensor>{before, before}).Input(Tensor(0)).RunOne());
    return read() * 3;
  });
  assign(Tensor::Of<float>({1, 2}));
  EXPECT_EQ(Floats(twice()), (std::vector<float>{2, 4}));
  EXPECT_EQ(Floats(grow()), (std::vector<float>{3, 6, 3, 6}));
  EXPECT_EQ(Floats(twice()), (std::vector<float>{2, 4, 2, 4}));
  assign(Tensor(5.f));
  EXPECT_EQ(twice().item<float>(), 10);
  EXPECT_EQ(twice.trace_count(), 1);
}

TEST(CppFunction, CallsFunctionsAsNodes) {
  Variable count(Tensor(0));
  Function inner(
      [&](Tensor x) {
        count.AssignAdd(Tensor(1));
        return x + 1;
      },
      {.name = "inner"});
  Function outer([&](Tensor x) { return inner(inner(x)) * 2; }, {.name = "outer"});
  EXPECT_EQ(outer(Tensor(1.f)).item<float>(), 6);
  EXPECT_EQ(count.Read().item<int32_t>(), 2);
  EXPECT_EQ(inner.trace_count(), 1);
  EXPECT_EQ(inner(Tensor(1.f)).item<float>(), 2);
}

TEST(CppFunction, NamesNodesReadably) {
  Function f([](Tensor x) {
    const NameScope outer("model");
    Tensor y;
    {
      const NameScope scope("dense");
      y = Op("MatMul").Input(x).Input(x).RunOne();
      EXPECT_EQ(y.name(), "model/dense/MatMul:0");
    }
    const NameScope scope("dense");
    y = Op("MatMul").Input(x).Input(y).RunOne();
    EXPECT_EQ(y.name(), "model/dense_1/MatMul:0");
    return Op("MatMul").Input(x).Input(y).Name("mine").RunOne();
  });
  EXPECT_EQ(f(Tensor::Of<float>({{2}})).name(), "");
}

TEST(CppFunction, RefusesToCallItselfForEver) {
  Function<std::function<Tensor(Tensor)>>* self = nullptr;
  Function f(std::function<Tensor(Tensor)>([&](Tensor x) { return (*self)(x) + 1; }),
             {.name = "loop"});
  self = &f;
  try {
    f(Tensor(1.f));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("\"loop\" calls itself"), std::string::npos);
  }
}

TEST(CppFunction, AFailedTraceLeavesNothing) {
  bool fail = true;
  Variable v(Tensor(1.f));
  Function f([&](Tensor x) {
    v.Assign(x);
    if (fail) throw std::runtime_error("in the middle");
    return x;
  });
  EXPECT_THROW(f(Tensor(2.f)), std::runtime_error);
  EXPECT_EQ(v.Read().item<float>(), 1);
  EXPECT_EQ(f.trace_count(), 0);
  fail = false;
  EXPECT_EQ(f(Tensor(2.f)).item<float>(), 2);
  EXPECT_EQ(v.Read().item<float>(), 2);
}

TEST(CppFunction, UsesSymbolsOfTheTraceAroundIt) {
  std::optional<ConcreteFunction> kept;
  Function outer([&](Tensor a) {
    Function inner([&](Tensor b) { return a * b; }, {.name = "inner"});
    kept = inner.Concrete(TensorSpec(DType::kFloat, {}));
    return inner(Tensor(2.f)) + inner(a + 1);
  });
  EXPECT_EQ(outer(Tensor(3.f)).item<float>(), 18);
  // Beyond that trace there is no such symbol.
  EXPECT_THROW((*kept)(Tensor(1.f)), Error);
  EXPECT_THROW(kept->graph_def(), Error);
  EXPECT_FALSE(kept->captures()[0].defined());
}

TEST(CppFunction, GivesWhatAConcreteFunctionGives) {
  const Function both([](Tensor x) { return std::pair(x + 1.f, x * 2.f); });
  const ConcreteFunction concrete = both.Concrete(TensorSpec(DType::kFloat, {}));
  const Function twice([&](Tensor x) { return concrete(concrete(x)[1]); });
  const Results results = twice(Tensor(3.f));
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].item<float>(), 7);
  EXPECT_EQ(results[1].item<float>(), 12);
}

// The trace that lends a symbol ends while another thread calls the function that uses it.
TEST(CppFunction, LosesSymbolsWhileOthersCall) {
  for (int round = 0; round < 20; ++round) {
    std::atomic<bool> begun = false, over = false;
    std::thread other;
    Function outer([&](Tensor a) {
      Function inner([&](Tensor b) { return a * b; });
      const ConcreteFunction kept = inner.Concrete(TensorSpec(DType::kFloat, {}));
      other = std::thread([&over, &begun, kept] {
        while (!over) {
          EXPECT_THROW(kept(Tensor(1.f)), Error);
          EXPECT_THROW(kept.graph_def(), Error);
          EXPECT_EQ(kept.captures().size(), 1u);
          begun = true;
        }
        EXPECT_FALSE(kept.captures()[0].defined());
      });
      while (!begun) std::this_thread::yield();
      return kept(a)[0];
    });
    outer(Tensor(3.f));
    over = true;
    other.join();
  }
}

TEST(CppFunction, RefusesSymbolsOfOtherTraces) {
  Tensor leaked;
  Function f([&](Tensor x) {
    leaked = x + 1;
    return x;
  });
  f(Tensor(1.f));
  EXPECT_THROW(leaked + 1, Error);
  EXPECT_THROW(leaked.item<float>(), Error);
  Function g([&](Tensor x) { return x + leaked; });
  EXPECT_THROW(g(Tensor(1.f)), Error);
}

TEST(CppFunction, RunsFromSeveralThreads) {
  Variable v(Tensor(0));
  Function f([&](Tensor x) {
    v.AssignAdd(Tensor(1));
    return x * 2;
  });
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        const std::vector<float> values(static_cast<size_t>(i % 3 + 1), 1.f);
        EXPECT_EQ(Floats(f(Tensor::Of<float>(Shape{i % 3 + 1}, values)))[0], 2);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(f.trace_count(), 3);
  EXPECT_EQ(v.Read().item<int32_t>(), 200);
}

// One thread calls a function while others trace functions that call it.
TEST(CppFunction, RunsWhileOthersAreTracedOfIt) {
  Function inner([](Tensor x) { return x * 2; });
  inner(Tensor(1.f));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 30; ++i) {
        if (t % 2 == 0) {
          EXPECT_EQ(inner(Tensor(3.f)).item<float>(), 6);
        } else {
          Function outer([&](Tensor x) { return inner(x) + 1; });
          EXPECT_EQ(outer(Tensor(3.f)).item<float>(), 7);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(CppConcreteFunction, NamesItsInputsAsAskedFor) {
  Function f([](Tensor x) { return x * 2; });
  f(Tensor(1.f));
  EXPECT_EQ(f.Concrete(Tensor(1.f)).inputs()[0].name(), "arg_0");
  EXPECT_EQ(f.Concrete(TensorSpec(DType::kFloat, {}, "x")).inputs()[0].name(), "x");
  EXPECT_EQ(f.Concrete(TensorSpec(DType::kFloat, {}, "y")).inputs()[0].name(), "y");
  EXPECT_EQ(f.Concrete(TensorSpec(DType::kFloat, {}, "x")).inputs()[0].name(), "x");
  EXPECT_EQ(f.trace_count(), 3);
  f(Tensor(2.f));
  EXPECT_EQ(f.trace_count(), 3);
}

TEST(CppConcreteFunction, TellsWhatItTakesAndGives) {
  Function f([](Tensor x, Tensor y) { return Op("MatMul").Input(x).Input(y).RunOne(); });
  const ConcreteFunction concrete =
      f.Concrete(TensorSpec(DType::kFloat, {-1, 3}, "x"), TensorSpec(DType::kFloat, {3, 4}, "y"));
  ASSERT_EQ(concrete.inputs().size(), 2u);
  EXPECT_EQ(concrete.inputs()[0].name(), "x");
  EXPECT_EQ(concrete.inputs()[0].shape(), (Shape{-1, 3}));
  EXPECT_EQ(concrete.outputs()[0].name(), "output_0");
  EXPECT_EQ(concrete.outputs()[0].shape(), (Shape{-1, 4}));
  const Tensor x = Tensor::Of<float>({{1, 1, 1}});
  const Tensor y = Tensor::Of<float>(Shape{3, 4}, std::vector<float>(12, 2.f));
  const Tensor product = concrete(x, y);
  EXPECT_EQ(Floats(product), (std::vector<float>(4, 6.f)));
  EXPECT_THROW(concrete(x), Error);
}

// A function as a member, and several of one type.
class Scaler {
 public:
  explicit Scaler(float scale)
      : scale_(Tensor(scale)),
        forward_([this](Tensor x) { return Forward(x); }, {.name = "scaler"}) {}
  Scaler(const Scaler&) = delete;  // forward_ knows this object
  Scaler& operator=(const Scaler&) = delete;
  Tensor operator()(const Tensor& x) const { return forward_(x); }
  int trace_count() const { return forward_.trace_count(); }

 private:
  Tensor Forward(const Tensor& x) const { return x * scale_; }
  Variable scale_;
  Function<std::function<Tensor(Tensor)>> forward_;
};

TEST(CppFunction, MayBeAMemberAndStandInAVector) {
  Scaler twice(2.f), thrice(3.f);
  EXPECT_EQ(twice(Tensor(5.f)).item<float>(), 10);
  EXPECT_EQ(thrice(Tensor(5.f)).item<float>(), 15);
  EXPECT_EQ(twice(Tensor(6.f)).item<float>(), 12);
  EXPECT_EQ(twice.trace_count(), 1);
  using Step = Function<std::function<Tensor(Tensor, Tensor)>>;
  std::vector<Step> steps;
  steps.emplace_back([](Tensor a, Tensor b) { return a + b; });
  steps.push_back(Step([](Tensor a, Tensor b) { return a * b; }, {.name = "product"}));
  steps.emplace_back([](Tensor a, Tensor b) { return ops::Maximum(a, b); });
  Tensor sum(0.f);
  for (const Step& step : steps) sum += step(Tensor(3.f), Tensor(4.f));
  EXPECT_EQ(sum.item<float>(), 7 + 12 + 4);
}

// Each function knows those that the ones it calls call: no walk goes down every path.
TEST(CppFunction, CallsThatNestDeeplyAreTracedAtOnce) {
  using OneToOne = std::function<Tensor(Tensor)>;
  std::deque<Function<OneToOne>> functions;
  functions.emplace_back([](Tensor x) { return x + 1; });
  for (int i = 0; i < 60; ++i) {
    const Function<OneToOne> inner = functions.back();
    functions.emplace_back([inner](Tensor x) { return inner(x) + 1; });
  }
  EXPECT_EQ(functions.back()(Tensor(1.f)).item<float>(), 62);
  // An error in the innermost one says where it is.
  Function<OneToOne> f([](Tensor x) { return ops::Reshape(x, ops::Cast(x, DType::kInt32)); });
  for (int i = 0; i < 60; ++i) f = Function<OneToOne>([inner = f](Tensor x) { return inner(x); });
  try {
    f(Tensor::Of<float>({3, 3}));
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.op(), "Reshape") << error.what();
  }
}

TEST(CppFunction, ReportSaysThatItCallsItself) {
  std::optional<Function<std::function<Tensor(Tensor, int)>>> power;
  power.emplace([&](Tensor x, int n) { return n == 0 ? x : (*power)(x, n - 1) * 2; });
  EXPECT_EQ((*power)(Tensor(1.f), 2).item<float>(), 4);
  EXPECT_NE(power->TraceReport().find("because it calls itself"), std::string::npos);
}

// What kernels have packed of the constants of a function goes with it: constants of another one
// may come to lie where its own lay.
TEST(CppFunction, MultipliesByItsOwnConstants) {
  const Tensor x = Tensor::Of<float>(Shape{8, 64}, std::vector<float>(8 * 64, 1));
  for (int i = 1; i <= 30; ++i) {
    Function f([i](Tensor in) {
      return ops::MatMul(
          in, Tensor::Of<float>(Shape{64, 64}, std::vector<float>(64 * 64, static_cast<float>(i))));
    });
    ASSERT_EQ(Floats(f(x))[0], 64.f * static_cast<float>(i));
  }
}

}  // namespace
}  // namespace tenon
