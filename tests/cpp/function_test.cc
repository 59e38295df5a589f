// Functions of the C++ library: signatures, captures, side effects, errors.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
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

TEST(CppFunction, TracesOnceForASignature) {
  int runs = 0;
  Function f([&](Tensor x) {
    ++runs;
    return x * 2;
  });
  EXPECT_EQ(Floats(f(Tensor::Of<float>({1, 2}))), (std::vector<float>{2, 4}));
  EXPECT_EQ(Floats(f(Tensor::Of<float>({3, 4}))), (std::vector<float>{6, 8}));
  EXPECT_EQ(runs, 1);
  f(Tensor::Of<float>({1, 2, 3}));         // another shape
  f(Tensor::Of<int32_t>({1, 2}));          // another type
  f(Tensor::Of<float>({{1, 2}, {3, 4}}));  // another rank
  EXPECT_EQ(runs, 4);
  EXPECT_EQ(f.trace_count(), 4);
  EXPECT_NE(f.TraceReport().find("the shape of tensor 0 changed from float32(2,) to float32(3,)"),
            std::string::npos)
      << f.TraceReport();
}

// A program that reads and writes a variable, computes of constants alone, and captures a value.
struct Traced {
  Variable w{Tensor(1.f), {.name = "w"}};
  Tensor large = Tensor::Of<float>(Shape{200}, std::vector<float>(200, 0.5f));
  Function<std::function<Tensor(Tensor)>> step{
      [this](Tensor x) {
        w.AssignAdd(Op("Neg").Input(Tensor(2.f)).Name("minus").RunOne());
        return x * large + w.Read();
      },
      {.name = "step"}};
};

TEST(CppFunction, ReportsWhatATraceHoldsAndCosts) {
  Traced traced;
  traced.step(Tensor(1.f));
  traced.step(Tensor::Of<float>({1}));
  const std::string report = traced.step.TraceReport();
  for (const char* const part :
       {"function step: 2 traces\n", "because the first call\n  takes float32()\n",
        "because the rank of tensor 0 changed from float32() to float32(1,)",
        " 1 control edges for side effects\n", "  captures float32(200,), 800 bytes\n",
        "  captures variable w, float32(), 4 bytes\n", "  constant Const, float32(), 4 bytes, at ",
        "  computes of constants alone: minus at function_test.cc:",
        "  control edge: w/Read at function_test.cc:", " waits for AssignAddVariableOp at ",
        "  the longest path has 4 ops, without these edges 2\n"}) {
    EXPECT_NE(report.find(part), std::string::npos) << part << "\n" << report;
  }
}

// Bytes of attributes, which `graph_run explain` shows.
TEST(CppConcreteFunction, TellsInItsGraphHowItWasTraced) {
  Traced traced;
  Function outer([&](Tensor x) { return traced.step(x) * 2.f; }, {.name = "outer"});
  const std::string graph = outer.Concrete(TensorSpec(DType::kFloat, {})).graph_def();
  for (const char* const part :
       {"_tenon_trace_why", "outer, trace 1", "step, trace 1", "the first call",
        "_tenon_trace_captures", "variable w, float32(), 4 bytes", "_tenon_trace_constant_ops"}) {
    EXPECT_NE(graph.find(part), std::string::npos) << part;
  }
}

// What a graph computes of x = 2 without an initializer.
float RunAlone(const ConcreteFunction& function) {
  const std::string path = ::testing::TempDir() + "tenon_frozen.pb";
  function.Save(path);
  const Session session = Session::Load(path);
  std::remove(path.c_str());
  return session.Run({{"arg_0", Tensor(2.f)}}, {"output_0"})[0].item<float>();
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

TEST(CppFunction, KnowsWhereItWasCalled) {
  Function inner([](Tensor x, int) { return x * 2; });
  int line = 0;
  Function outer([&](Tensor x) {
    line = __LINE__ + 1;
    return inner(x, 1);
  });
  const std::string graph = outer.Concrete(TensorSpec(DType::kFloat, {})).graph_def();
  EXPECT_NE(graph.find("function_test.cc:" + std::to_string(line)), std::string::npos);
  const ConcreteFunction concrete = inner.Concrete(TensorSpec(DType::kFloat, {}), 1);
  EXPECT_EQ(concrete(Tensor(2.f))[0].item<float>(), 4);
  try {
    line = __LINE__ + 1;
    concrete(Tensor(2.f), Tensor(3.f));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.where(), "function_test.cc:" + std::to_string(line));
  }
  Function many([](int a, int b, int c, int d, int e, int f, int g, Tensor x) {
    return x + static_cast<float>(a + b + c + d + e + f + g);
  });
  EXPECT_EQ(many(1, 2, 3, 4, 5, 6, 7, Tensor(1.f)).item<float>(), 29);
}

TEST(CppProfile, LeadsFromSlicesToLines) {
  int line = 0;
  Function f([&](Tensor x) {
    line = __LINE__ + 1;
    return Op("Sinh").Input(x).RunOne();
  });
  f(Tensor(1.f));
  const std::string path = ::testing::TempDir() + "tenon_profile.json";
  const auto written = [&](Profile& profile) {
    profile.Write(path);
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  {
    Profile profile;
    f(Tensor(1.f));
    f(Tensor(2.f));
    const std::string trace = written(profile);
    const std::string slice =
        "\"op\":\"Sinh\",\"place\":\"function_test.cc:" + std::to_string(line) + "\"";
    const size_t first = trace.find(slice);
    ASSERT_NE(first, std::string::npos) << trace;
    EXPECT_NE(trace.find(slice, first + 1), std::string::npos) << trace;
    EXPECT_EQ(written(profile).find("Sinh"), std::string::npos) << "it was written before";
    EXPECT_THROW(profile.Write("/nonexistent/trace.json"), Error);
  }
  f(Tensor(1.f));
  Profile profile;
  EXPECT_EQ(written(profile).find("Sinh"), std::string::npos);
  std::remove(path.c_str());
}

TEST(CppFunction, RelaxesLengthsThatDiffer) {
  Function f([](Tensor x) { return x + 1; }, {.name = "relaxed", .reduce_retracing = true});
  for (int n = 1; n < 8; ++n) {
    const std::vector<float> ones(static_cast<size_t>(n), 1.f);
    EXPECT_EQ(f(Tensor::Of<float>(Shape{n}, ones)).shape(), (Shape{n}));
  }
  EXPECT_EQ(f.trace_count(), 2);
}

TEST(CppFunction, HoldsCallsToItsInputSignature) {
  Function f([](Tensor x) { return x * x; },
             {.name = "fixed", .input_signature = {TensorSpec(DType::kFloat, {-1}, "x")}});
  f(Tensor::Of<float>({1, 2}));
  f(Tensor::Of<float>({1, 2, 3}));
  EXPECT_EQ(f.trace_count(), 1);
  EXPECT_THROW(f(Tensor::Of<int32_t>({1})), Error);
  EXPECT_THROW(f(Tensor(1.f)), Error);
}

TEST(CppFunction, TakesCppValuesByValue) {
  Function f([](Tensor x, int n, std::string kind) { return kind == "add" ? x + n : x * n; });
  const Tensor x = 10.f;
  EXPECT_EQ(f(x, 2, "add").item<float>(), 12);
  EXPECT_EQ(f(x, 3, "add").item<float>(), 13);
  EXPECT_EQ(f(x, 3, "mul").item<float>(), 30);
  EXPECT_EQ(f(x, 2, "add").item<float>(), 12);
  EXPECT_EQ(f.trace_count(), 3);
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

TEST(CppFunction, SaysWhereAnOpWasCalled) {
  int line = 0;
  Function f([&](Tensor x) {
    line = __LINE__ + 1;
    return Op("FloorDiv").Input(x).Input(Tensor(0)).RunOne();
  });
  try {
    f(Tensor(1));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.op(), "FloorDiv");
    EXPECT_EQ(error.node(), "FloorDiv");
    EXPECT_EQ(error.where(), "function_test.cc:" + std::to_string(line));
  }
  Function g([&](Tensor x) {
    line = __LINE__ + 1;
    return Op("MatMul").Input(x).Input(x).RunOne();
  });
  try {
    g(Tensor(1.f));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.op(), "MatMul");
    EXPECT_EQ(error.where(), "function_test.cc:" + std::to_string(line));
  }
}

// Functions, branches and loops are put in the places of their calls before a graph runs.
TEST(CppFunction, SaysWhereAnOpOfAnInnerFunctionWasCalled) {
  int line = 0;
  Function inner([&](Tensor x) {
    line = __LINE__ + 1;
    return Op("CheckNumerics").Input(x).Attr("message", "infinite").RunOne();
  });
  const auto place = [](const auto& function, float x) {
    try {
      function(Tensor(x));
    } catch (const Error& error) {
      return error.op() + " " + error.where();
    }
    return std::string();
  };
  Function called([&](Tensor x) { return inner(1.f / x); });
  const std::string called_at = place(called, 0);
  EXPECT_EQ(called_at, "CheckNumerics function_test.cc:" + std::to_string(line));
  Function branch([&](Tensor x) {
    return Cond(
        x > 5.f, [&] { return -x; }, [&] { return inner(1.f / x); });
  });
  EXPECT_EQ(place(branch, 0), called_at);
  Function loop([&](Tensor x) {
    return While([](Tensor i) { return i >= 0.f; },
                 [&](Tensor i) { return inner(1.f / (i - 1.f)); }, x);
  });
  EXPECT_EQ(place(loop, 1), called_at);
  // Which of two nodes of one name it was is not known.
  int cond_line = 0;
  Function either([&](Tensor x) {
    const auto check = [&] { return inner(1.f / x); };
    cond_line = __LINE__ + 1;
    return Cond(x > 5.f, check, check);
  });
  const std::string either_at = place(either, 0);
  EXPECT_EQ(either_at, "CheckNumerics function_test.cc:" + std::to_string(cond_line));
}

// What the graph of a function says of its nodes: name, then places.
std::map<std::string, std::string> PlacesIn(const std::string& explained) {
  std::map<std::string, std::string> places;
  std::istringstream lines(explained);
  for (std::string line; std::getline(lines, line);) {
    const size_t at = line.find(", made at ");
    if (at != std::string::npos) places[line.substr(0, line.find(':'))] = line.substr(at + 10);
  }
  return places;
}

std::string Here(int line) { return "function_test.cc:" + std::to_string(line); }

TEST(CppFunction, ExplainsWhereNodesWereMade) {
  int product = 0, bias = 0;
  Function inner([&](Tensor x, Tensor b) {
    bias = __LINE__ + 1;
    return Op("BiasAdd").Input(x).Input(b).RunOne();
  });
  Function f([&](Tensor x, Tensor w, Tensor b) {
    product = __LINE__ + 1;
    const Tensor y = Op("MatMul").Input(x).Input(w).RunOne();
    return inner(y, b);
  });
  const TensorSpec matrix(DType::kFloat, {2, 2});
  const ConcreteFunction concrete = f.Concrete(matrix, matrix, TensorSpec(DType::kFloat, {2}));
  const std::string text = concrete.Explain();
  // The product and the sum have become one node, which keeps both places.
  bool is_fused = false;
  for (const auto& [node, places] : PlacesIn(text)) {
    if (places == Here(bias) + ", " + Here(product)) is_fused = true;
  }
  EXPECT_TRUE(is_fused) << text;
}

TEST(CppFunction, LeadsFromGradientsToTheOpsThatTheyAreOf) {
  int line = 0;
  Function f([&](Tensor x) {
    line = __LINE__ + 1;
    const Tensor y = Op("Sinh").Input(x).RunOne();
    return Gradients({y}, {x})[0];
  });
  const std::string text = f.Concrete(TensorSpec(DType::kFloat, {2})).Explain();
  int nodes = 0;
  for (const auto& [node, places] : PlacesIn(text)) {
    if (!node.starts_with("gradients/")) continue;
    EXPECT_EQ(places, Here(line)) << node;
    ++nodes;
  }
  EXPECT_GT(nodes, 0) << text;
  // An error of such a node, too: what flows into the check is not finite.
  Function fails([&](Tensor x) {
    line = __LINE__ + 1;
    const Tensor y = Op("CheckNumerics").Input(x).Attr("message", "infinite").RunOne();
    return Gradients({y}, {x}, {x / 0.f})[0];
  });
  try {
    fails(Tensor(1.f));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.where(), Here(line)) << error.what();
    EXPECT_EQ(error.op(), "CheckNumerics");
    EXPECT_TRUE(error.node().starts_with("gradients/")) << error.node();
  }
}

TEST(CppFunction, RefusesToBranchByASymbol) {
  Function f([](Tensor x) { return (x > 0) ? x : -x; });
  try {
    f(Tensor(1.f));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), TF_FAILED_PRECONDITION);
    EXPECT_NE(error.message().find("Cond("), std::string::npos);
    EXPECT_NE(error.where().find("function_test.cc:"), std::string::npos);
  }
  EXPECT_EQ(f.trace_count(), 0);
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

// Whether the report of traces says this of one of them.
template <typename F>
bool Reports(const F& function, const std::string& why) {
  return function.TraceReport().find("because " + why + "\n") != std::string::npos;
}

enum class Mode { kFast, kSlow };
struct Settings {
  int depth = 1;
  float rate = 0.5f;
  auto Fields() { return std::tie(depth, rate); }
};

TEST(CppFunction, SaysWhichArgumentChanged) {
  Function f([](Tensor x, int times, std::string name) {
    return x * times + Tensor(name).ToString().size();
  });
  const Tensor x(1.f);
  f(x, 2, "a");
  f(x, 3, "a");
  EXPECT_TRUE(Reports(f, "argument 1 changed from 2 to 3")) << f.TraceReport();
  f(x, 3, "relu");
  EXPECT_TRUE(Reports(f, "argument 2 changed from \"a\" to \"relu\"")) << f.TraceReport();
  f(Tensor::Of<float>({1}), 4, "relu");
  EXPECT_TRUE(Reports(f,
                      "argument 1 changed from 3 to 4; the rank of tensor 0 changed from"
                      " float32() to float32(1,)"))
      << f.TraceReport();
  // Texts of other lengths are of one type.
  const std::string relu = "relu";
  f(Tensor::Of<float>({1}), 4, relu);
  EXPECT_EQ(f.trace_count(), 4);
}

TEST(CppFunction, SaysWhichPartOfAnArgumentChanged) {
  Function f([](Tensor x, std::vector<int> sizes, Settings settings, Mode mode, bool on) {
    return x * sizes[0] * settings.depth + (mode == Mode::kSlow && on ? 1 : 0);
  });
  const Tensor x(1.f);
  f(x, std::vector<int>{1, 2}, Settings(), Mode::kFast, true);
  f(x, std::vector<int>{1, 5}, Settings(), Mode::kFast, true);
  EXPECT_TRUE(Reports(f, "part 2 of argument 1 changed from 2 to 5")) << f.TraceReport();
  f(x, std::vector<int>{1, 5, 6}, Settings(), Mode::kFast, true);
  EXPECT_TRUE(Reports(f, "part 0 of argument 1 changed from length 2 to length 3"))
      << f.TraceReport();
  f(x, std::vector<int>{1, 5, 6}, Settings{1, 0.1f}, Mode::kSlow, false);
  EXPECT_TRUE(Reports(f,
                      "part 1 of argument 2 changed from 0.5 to 0.1; argument 3 changed from 0"
                      " to 1; argument 4 changed from true to false"))
      << f.TraceReport();
}

TEST(CppFunction, SaysWhichVariableOrTypeChanged) {
  Function f([](const auto& value) { return Tensor(value) + 1; });
  Variable v(1.f, {.name = "v"}), w(1.f, {.name = "w"}), other(1.f, {.name = "w"});
  f(v);
  f(w);
  EXPECT_TRUE(Reports(f, "argument 0 changed from the variable \"v\" to the variable \"w\""))
      << f.TraceReport();
  f(other);
  EXPECT_TRUE(Reports(f, "the C++ type of an argument, or a variable of the same name, changed"))
      << f.TraceReport();
  Function g([](auto value) { return Tensor(value) + 1; });
  g(2);
  g(int64_t{2});
  EXPECT_TRUE(Reports(g, "argument 0 changed from 2 (int32) to 2 (int64)")) << g.TraceReport();
  g(Tensor(2));
  EXPECT_TRUE(Reports(g,
                      "argument 0 changed from 2 to a tensor; the number of tensors changed"
                      " from 0 to 1"))
      << g.TraceReport();
}

TEST(CppFunction, UsesAGeneralTraceThatItHas) {
  Function f([](Tensor x) { return ops::Sum(x, 0); });
  const ConcreteFunction any = f.Concrete(TensorSpec(DType::kFloat, Shape::Unknown()));
  const ConcreteFunction rows = f.Concrete(TensorSpec(DType::kFloat, {-1, 2}));
  EXPECT_EQ(f.trace_count(), 2);
  EXPECT_EQ(Floats(f(Tensor::Of<float>({{1, 2}, {3, 4}}))), (std::vector<float>{4, 6}));
  EXPECT_EQ(Floats(f(Tensor::Of<float>({{1, 2}}))), (std::vector<float>{1, 2}));
  EXPECT_EQ(Floats(f(Tensor::Of<float>({1, 2, 3}))), (std::vector<float>{6}));
  EXPECT_EQ(f.trace_count(), 2);
  // The trace with the fewest unknown lengths serves a call.
  EXPECT_EQ(f.Concrete(Tensor::Of<float>({{1, 2}})).name(), rows.name());
  EXPECT_EQ(f.Concrete(Tensor::Of<float>({{1}})).name(), any.name());
  // A spec asks for a trace as it says.
  EXPECT_NE(f.Concrete(TensorSpec(DType::kFloat, {3, 2})).name(), rows.name());
  EXPECT_EQ(f.trace_count(), 3);
  f(Tensor::Of<double>({1}));
  EXPECT_EQ(f.trace_count(), 4);
}

TEST(CppFunction, RelaxesRanks) {
  Function f(
      [](Tensor x) { return ops::Sum(x * 2.f, ops::Range(Tensor(0), ops::Rank(x), Tensor(1))); },
      {.name = "any_rank", .reduce_retracing = true});
  const auto ones = [](const Shape& shape) {
    return Tensor::Of<float>(shape,
                             std::vector<float>(static_cast<size_t>(shape.num_elements()), 1.f));
  };
  EXPECT_EQ(f(ones({2})).item<float>(), 4);
  EXPECT_EQ(f(ones({2, 3})).item<float>(), 12);
  EXPECT_EQ(f.trace_count(), 2);
  EXPECT_EQ(f(ones({3, 3, 2})).item<float>(), 36);
  EXPECT_EQ(f(ones({})).item<float>(), 2);
  EXPECT_EQ(f(ones({2})).item<float>(), 4);
  EXPECT_EQ(f.trace_count(), 2);
  const Tensor x = ones({4, 1});
  GradientTape tape;
  tape.Watch(x);
  EXPECT_EQ(tape.Gradient(f(x), {x})[0].ToVector<float>(), (std::vector<float>{2, 2, 2, 2}));
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

}  // namespace
}  // namespace tenon
