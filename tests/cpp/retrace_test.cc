// Traces of functions of the C++ library: what asks for one, and what reports say of them.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <tuple>
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

// What a call looks at may be a variable's shape alone. The next variable may then have the address
// of the one before, but not its trace.
TEST(CppFunction, TracesForEachVariable) {
  Function f(
      [](const Variable& v, Tensor x) { return x * static_cast<float>(v.shape().dims()[0]); });
  for (int64_t n = 1; n <= 20; ++n) {
    const Variable v(Op("Fill").Input(Tensor::Of<int64_t>({n})).Input(Tensor(0.f)).RunOne());
    EXPECT_EQ(f(v, Tensor(2.f)).item<float>(), 2.f * static_cast<float>(n));
  }
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
        "  computes of constants alone: minus at retrace_test.cc:",
        "  control edge: w/Read at retrace_test.cc:", " waits for AssignAddVariableOp at ",
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

TEST(CppFunction, TellsHandlesApartByWhatTheyStandFor) {
  const auto read = [](Tensor handle) {
    return ops::Shape(Op("ReadVariableOp").Input(handle).Attr("dtype", DType::kFloat).RunOne());
  };
  const Variable two(Tensor::Of<float>({1, 2})), three(Tensor::Of<float>({1, 2, 3})),
      also_three(Tensor::Of<float>({4, 5, 6})), four(Tensor::Of<float>({1, 2, 3, 4}));
  const auto length = [](const auto& f, const Variable& v) {
    return f(v.handle()).template ToVector<int32_t>();
  };
  Function f(read);
  EXPECT_EQ(length(f, two), (std::vector<int32_t>{2}));
  EXPECT_EQ(length(f, three), (std::vector<int32_t>{3}));
  EXPECT_EQ(length(f, also_three), (std::vector<int32_t>{3}));
  EXPECT_EQ(f.trace_count(), 2);
  EXPECT_TRUE(Reports(f, "the type or shape of what tensor 0 is a handle of changed"))
      << f.TraceReport();
  // One trace for all handles, where that is asked for.
  Function relaxed(read, {.reduce_retracing = true});
  EXPECT_EQ(length(relaxed, two), (std::vector<int32_t>{2}));
  EXPECT_EQ(length(relaxed, three), (std::vector<int32_t>{3}));
  EXPECT_EQ(length(relaxed, four), (std::vector<int32_t>{4}));
  EXPECT_EQ(relaxed.trace_count(), 2);
  Function fixed(read, {.input_signature = {TensorSpec(DType::kResource, {}, "handle")}});
  EXPECT_EQ(length(fixed, two), (std::vector<int32_t>{2}));
  EXPECT_EQ(length(fixed, three), (std::vector<int32_t>{3}));
  EXPECT_EQ(fixed.trace_count(), 1);
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

}  // namespace
}  // namespace tenon
