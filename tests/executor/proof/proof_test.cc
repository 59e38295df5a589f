// Wrong passes are found out: by comparing numbers after each pass, by bisecting, by reducing.
#include <gmock/gmock.h>

#include <cmath>

#include "absl/strings/str_cat.h"
#include "executor/proof/difference.h"
#include "executor/proof/numeric_verifier.h"
#include "executor/proof/reduce.h"
#include "executor/proof/result_judge.h"
#include "executor/values/element.h"
#include "tests/executor/graph_text_util.h"
#include "tests/executor/proof/planted_pass_util.h"

namespace tenon::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ResultOf;

std::string Planted(std::string_view name, std::string_view input, std::string_view how) {
  return Node(name, "Abs", {std::string(input)},
              absl::StrCat("attr { key: '_plant' value { s: '", how,
                           "' } } attr { key: '_of' value { s: '", name, "' } }"));
}

// y = a1 + a2 + …, each |x²|, and one |-x²|: so many rewrites that change nothing, and one that
// does.
std::string Sum(int count, int bad) {
  std::string text = Placeholder("x", "dim { size: -1 }") + Node("square", "Square", {"x"}) +
                     Node("minus", "Neg", {"square"});
  std::vector<std::string> parts;
  for (int i = 1; i <= count; ++i) {
    parts.push_back(absl::StrCat("a", i));
    text += Planted(parts.back(), i == bad ? "minus" : "square", "drop");
  }
  return text +
         Node("y", "AddN", parts, absl::StrCat("attr { key: 'N' value { i: ", count, " } }"));
}

// |x| twice: either may be replaced by -x below Maximum, but not both.
std::string PairText() {
  return Placeholder("x", "dim { size: 4 }") + Planted("p", "x", "negate") +
         Planted("q", "x", "negate") + Node("square", "Square", {"x"}) +
         Planted("harmless", "square", "drop") + Node("most", "Maximum", {"p", "q"}) +
         Node("y", "Mul", {"most", "harmless"});
}

// The other passes know too much of these small graphs.
const std::vector<PassSpec> kPlantAlone = {{"model_pruning", {}}, {"plant", {}}};

SessionOptions WithPlant(PipelineObserver* observer = nullptr,
                         std::vector<PassSpec> passes = kPlantAlone) {
  SessionOptions options;
  options.threads = 1;
  options.pipeline.min_graph_nodes = -1;
  options.pipeline.custom_passes = {PlantedPass()};
  options.pipeline.passes = std::move(passes);
  if (observer != nullptr) options.pipeline.observers = {observer};
  return options;
}

std::string FailureOf(const Executable& executable) {
  for (const PassReport& row : OptimizerReport(executable).passes) {
    if (row.failed) return absl::StrCat(row.name, ": ", row.reason);
  }
  return "";
}

struct Verified {
  std::string failure;
  int64_t passes, runs;
  std::string not_compared;
};

Verified Verify(const std::string& text, std::vector<std::string> feeds,
                std::vector<PassSpec> passes = kPlantAlone,
                std::vector<Session::NamedTensor> given = {}) {
  GraphRunner runner({}, WithPlant());
  const std::vector<PassEntry> custom = {PlantedPass()};
  NumericVerifier verifier(runner, custom);
  if (!given.empty()) verifier.AddInputs(std::move(given));
  auto session = Session::Create(Parse(text), {}, WithPlant(&verifier, std::move(passes))).value();
  const auto executable = session->Prepare(feeds, {"y"});
  EXPECT_TRUE(executable.ok()) << executable.status();
  return {FailureOf(**executable), verifier.passes_compared(), verifier.runs(),
          verifier.not_compared()};
}

TEST(NumericVerifier, NamesTheFirstWrongRewriteAndRollsItBack) {
  const Verified verified = Verify(Sum(20, 13), {"x"});
  EXPECT_THAT(verified.failure,
              HasSubstr("plant: rolled back: rewrite plant.drop_abs at node 'a13' "
                        "changed what the graph answers to inputs 'ordinary'"));
  EXPECT_THAT(verified.failure, HasSubstr("the first value that differs is that of 'a13'"));
  EXPECT_THAT(verified.failure, HasSubstr("it is declared to keep every bit"));
}

// On ordinary inputs nothing differs: -0 and NaN do it.
TEST(NumericVerifier, LooksIntoCorners) {
  const std::string text = Placeholder("x", "") + Node("s", "Maximum", {"x", "x"}) +
                           Node("n", "Neg", {"s"}) + Node("m", "Minimum", {"n", "s"}) +
                           Node("z", "Mul", {"m", "m"}) + Planted("a", "z", "drop") +
                           Node("y", "Reciprocal", {"a"});
  EXPECT_EQ(Verify(text, {"x"}).failure, "");
  const std::string zeros = Placeholder("x", "dim { size: 64 }") + Node("s", "Sign", {"x"}) +
                            Node("z", "Sub", {"x", "x"}) + Node("m", "Mul", {"z", "s"}) +
                            Planted("a", "m", "drop") + Node("y", "Reciprocal", {"a"});
  EXPECT_THAT(Verify(zeros, {"x"}).failure, HasSubstr("plant.drop_abs at node 'a'"));
}

TEST(NumericVerifier, BoundsTolerantRewrites) {
  const std::string text =
      Placeholder("x", "dim { size: 8 }") + Planted("a", "x", "slant") + Node("y", "Exp", {"a"});
  EXPECT_THAT(Verify(text, {"x"}).failure, HasSubstr("more than 1024 ulps at the largest value"));
}

// The answer differs for infinities alone, which tolerant rewrites need not keep.
TEST(NumericVerifier, AnInfiniteComplexInputIsNotOrdinary) {
  const std::string text =
      Placeholder("x", "", "DT_COMPLEX64") + Node("imag", "Imag", {"x"}, "", "DT_COMPLEX64") +
      Node("is", "IsInf", {"imag"}) +
      Op("one", "Cast", {"is"}, Type("SrcT", "DT_BOOL") + Type("DstT", "DT_FLOAT")) +
      Planted("a", "one", "slant") + Node("y", "Exp", {"a"});
  const Tensor infinite = *Tensor::Allocate(DataType::kComplex64, Shape());
  cli::StoreComplex(infinite, 0, {1, std::numeric_limits<double>::infinity()});
  EXPECT_EQ(Verify(text, {"x"}, kPlantAlone, {{"x", infinite}}).failure, "");
}

// Of a call that stays, of both branches, and of what a body's call got for itself: the constant
// makes a function of its own of the inner one.
TEST(NumericVerifier, RunsBodiesWhereTheyAreCalled) {
  const auto text = [](std::string_view input) {
    const std::string inner = Function(
        "inner", {"a", "s"}, {"r"},
        Node("square", "Square", {"a"}) + Node("minus", "Neg", {"square:y:0"}) +
            Planted("p", absl::StrCat(input, ":y:0"), "drop") + Node("m", "Mul", {"p:y:0", "s"}),
        Ret("r", "m:z:0"), "attr { key: '_noinline' value { b: true } }");
    const std::string outer = Function(
        "outer", {"a"}, {"r"},
        Const("two", "DT_FLOAT", "tensor_shape {} float_val: 2") + Node("e", "Square", {"a"}) +
            Planted("q", "e:y:0", "drop") + Call("c", "inner", {"q:y:0", "two:output:0"}),
        Ret("r", "c:output:0"), "attr { key: '_noinline' value { b: true } }");
    return Placeholder("x", "dim { size: -1 } dim { size: 2 }") + Call("o", "outer", {"x"}) +
           Node("y", "Neg", {"o"}) + Library({inner, outer});
  };
  const std::vector<PassSpec> passes = {
      {"model_pruning", {}}, {"function_optimization", {}}, {"plant", {}}};
  const Verified right = Verify(text("square"), {"x"}, passes);
  EXPECT_EQ(right.failure, "");
  EXPECT_EQ(right.not_compared, "");
  EXPECT_GE(right.passes, 3);
  EXPECT_THAT(Verify(text("minus"), {"x"}, passes).failure,
              HasSubstr("plant: rolled back: rewrite plant.drop_abs at node 'p' changed what the "
                        "graph answers to inputs 'ordinary': of output y"));
}

std::string ReadVariable(std::string_view shape) {
  return Placeholder("x", "") +
         Op("v", "VarHandleOp", {},
            absl::StrCat("attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'shape' value "
                         "{ shape { ",
                         shape, " } } }")) +
         Op("r", "ReadVariableOp", {"v"}, "attr { key: 'dtype' value { type: DT_FLOAT } }") +
         Planted("a", "r", "drop") + Node("y", "AddV2", {"a", "x"});
}

TEST(NumericVerifier, SaysWhatItCouldNotCompare) {
  const Verified verified = Verify(ReadVariable("unknown_rank: true"), {"x"});
  EXPECT_EQ(verified.failure, "");
  EXPECT_EQ(verified.passes, 0);
  EXPECT_THAT(verified.not_compared, HasSubstr("'r'"));
}

// What values that are made up keep in a loop for ever.
TEST(NumericVerifier, EndsLoops) {
  const Verified verified = Verify(
      Placeholder("x", "dim { size: 1 }") +
          Op("w", "StatelessWhile", {"x"},
             Types("T", {"DT_FLOAT"}) + Func("cond", "one") + Func("body", "next")) +
          Planted("a", "w", "drop") + Node("y", "Neg", {"a"}) +
          Library({Function("one", {"a"}, {"r"}, Node("o", "OnesLike", {"a"}), Ret("r", "o:y:0")),
                   Function("next", {"a"}, {"r"}, Node("n", "Neg", {"a"}), Ret("r", "n:y:0"))}),
      {"x"});
  EXPECT_EQ(verified.failure, "");
  EXPECT_EQ(verified.passes, 0);
  EXPECT_THAT(verified.not_compared,
              HasSubstr("node 'w/enter' (Enter): the loops of this run have made 10000 passes"));
}

TEST(NumericVerifier, GivesVariablesValues) {
  const Verified verified = Verify(ReadVariable("dim { size: 8 }"), {"x"});
  EXPECT_THAT(verified.failure, HasSubstr("plant.drop_abs at node 'a'"));
  EXPECT_EQ(verified.not_compared, "");
}

// Real passes on a real graph.
TEST(NumericVerifier, IsContentWithPassesThatAreRight) {
  const Verified verified =
      Verify(Placeholder("x", "dim { size: -1 } dim { size: 2 }") +
                 Const("two", "DT_FLOAT", "tensor_shape {} float_val: 2") +
                 Node("p", "Pow", {"x", "two"}) + Node("i", "Identity", {"p"}) +
                 Node("n", "Neg", {"i"}) + Node("m", "Neg", {"n"}) + Node("y", "AddV2", {"m", "i"}),
             {"x"}, {});
  EXPECT_EQ(verified.failure, "");
  EXPECT_GT(verified.passes, 2);
  EXPECT_EQ(verified.not_compared, "");
}

ResultJudge MakeJudge() {
  return ResultJudge(
      {}, WithPlant(),
      [](const Tensor& right, const Tensor& is) {
        return FindDifference(right, is, Sameness::kBound);
      },
      [](Session&) { return absl::OkStatus(); });
}

FailingCase MakeFailingCase(const std::string& text) {
  FailingCase failing{Parse(text), {}, {"y"}};
  failing.inputs = MakeInputSets(failing.graph, {"x"}).value();
  std::erase_if(failing.inputs, [](const InputSet& set) { return !set.ordinary; });
  return failing;
}

TEST(Bisect, FindsOneRewriteAmongManyInLogarithmicallyManyRuns) {
  const Bisection found = MakeJudge().BisectRewrites(MakeFailingCase(Sum(100, 37))).value();
  EXPECT_THAT(found.faulty, ElementsAre("plant.drop_abs@a37"));
  EXPECT_THAT(found.wrong_with_faulty, HasSubstr("of output y element [0] is "));
  EXPECT_GE(found.steps, 100);
  EXPECT_LE(found.trials, 12);
}

TEST(Bisect, FindsAPairThatIsWrongOnlyTogether) {
  const Bisection found = MakeJudge().BisectRewrites(MakeFailingCase(PairText())).value();
  EXPECT_THAT(found.faulty, ElementsAre("plant.negate_abs@q", "plant.negate_abs@p"));
  EXPECT_THAT(found.wrong_with_faulty, HasSubstr("of output y"));
}

TEST(Bisect, FindsNothingWhereNothingIsWrong) {
  const Bisection found = MakeJudge().BisectRewrites(MakeFailingCase(Sum(5, 0))).value();
  EXPECT_THAT(found.faulty, IsEmpty());
  EXPECT_EQ(found.wrong, "");
  EXPECT_EQ(found.trials, 1);
}

// Three that are wrong only together, and names that change.
TEST(Bisect, GoesOnUntilTheCulpritsAreEnough) {
  const RunTrial three = [](int64_t limit, absl::Span<const std::string> beyond) {
    Trial trial;
    int have = 0;
    for (int i = 0; i < 1000; ++i) {
      trial.asked.push_back(absl::StrCat(i));
      const bool done =
          i < limit || std::find(beyond.begin(), beyond.end(), trial.asked.back()) != beyond.end();
      have += done && (i == 17 || i == 400 || i == 999) ? 1 : 0;
    }
    trial.wrong = have == 3 ? "wrong" : "";
    return absl::StatusOr<Trial>(trial);
  };
  const Bisection found = Bisect(three).value();
  EXPECT_THAT(found.faulty, ElementsAre("999", "400", "17"));
  EXPECT_LE(found.trials, 40);
}

TEST(Reduce, LeavesOnlyWhatFails) {
  const ResultJudge judge = MakeJudge();
  const FailingCase failing = MakeFailingCase(Sum(100, 37));
  const Reduction reduction =
      Reduce(failing, GraphRunner({}, WithPlant()), [&](const FailingCase& smaller) {
        return !judge.OptimizedIsWrong(smaller).empty();
      }).value();
  EXPECT_LE(reduction.failing.graph.num_nodes(), 3);
  EXPECT_NE(reduction.failing.graph.FindNode("a37"), kNoNode);
  EXPECT_EQ(reduction.failing.inputs.size(), 1u);
  EXPECT_LE(reduction.trials, 60);
  EXPECT_NE(judge.OptimizedIsWrong(reduction.failing), "");
}

// A planted rewrite is wrong about what was assigned before, and right about all else; what runs
// before asks for rewrites of its own.
FailingCase OfAVariable() {
  const std::string dtype = Type("dtype", "DT_FLOAT");
  FailingCase failing = {
      Parse(Placeholder("x", "dim { size: 2 }") +
            Const("value", "DT_FLOAT", "tensor_shape { dim { size: 2 } } float_val: -3") +
            Const("other", "DT_FLOAT", "tensor_shape { dim { size: 2 } } float_val: 5") +
            VarHandle("v", "v") + VarHandle("w", "w") + Node("positive", "Square", {"value"}) +
            Planted("same", "positive", "drop") + Node("minus", "Neg", {"same"}) +
            Op("set", "AssignVariableOp", {"v", "minus"}, dtype) +
            Op("set_other", "AssignVariableOp", {"w", "other"}, dtype) +
            Op("read", "ReadVariableOp", {"v"}, dtype) + Node("square", "Square", {"x"}) +
            Planted("right", "square", "drop") + Planted("wrong", "read", "drop") +
            Node("y", "AddV2", {"right", "wrong"})),
      {},
      {"y"},
      {"set", "set_other"}};
  failing.inputs = MakeInputSets(failing.graph, {"x"}).value();
  std::erase_if(failing.inputs, [](const InputSet& set) { return !set.ordinary; });
  return failing;
}

TEST(Bisect, TakesWhatRunsFirstAsGiven) {
  const Bisection found = MakeJudge().BisectRewrites(OfAVariable()).value();
  EXPECT_THAT(found.faulty, ElementsAre("plant.drop_abs@wrong"));
}

TEST(Reduce, KeepsWhatMustRunFirst) {
  const ResultJudge judge = MakeJudge();
  const Reduction reduction =
      Reduce(OfAVariable(), GraphRunner({}, WithPlant()), [&](const FailingCase& smaller) {
        return !judge.OptimizedIsWrong(smaller).empty();
      }).value();
  EXPECT_THAT(reduction.failing.inits, ElementsAre("set"));
  const Graph& small = reduction.failing.graph;
  EXPECT_NE(small.FindNode("set"), kNoNode);
  EXPECT_EQ(small.FindNode("set_other"), kNoNode);
  EXPECT_EQ(small.FindNode("x"), kNoNode);
}

// A long chain with one rewrite that is wrong: |-x²| becomes -x².
std::string ChainOfLength(int length, int bad) {
  std::string text = Placeholder("x", "dim { size: 2 }");
  std::string last = "x";
  for (int i = 0; i < length; ++i) {
    const std::string name = absl::StrCat("n", i);
    text += Node(name, "Neg", {last});
    last = name;
    if (i != bad) continue;
    text += Node("square", "Square", {last}) + Node("minus", "Neg", {"square"}) +
            Planted("bad", "minus", "drop");
    last = "bad";
  }
  return text + Node("y", "Identity", {last});
}

TEST(Reduce, TakesLogarithmicallyManyTrials) {
  const ResultJudge judge = MakeJudge();
  const auto fails = [&](const FailingCase& smaller) {
    return !judge.OptimizedIsWrong(smaller).empty();
  };
  const FailingCase failing = MakeFailingCase(ChainOfLength(1000, 700));
  const GraphRunner runner({}, WithPlant());
  const Reduction reduction = Reduce(failing, runner, fails).value();
  EXPECT_LE(reduction.failing.graph.num_nodes(), 2);
  EXPECT_FALSE(reduction.stopped);
  EXPECT_LE(reduction.trials, 40);
  int64_t heard = 0;
  ReduceOptions few{5, [&](const FailingCase&) { ++heard; }};
  const Reduction stopped = Reduce(failing, runner, fails, few).value();
  EXPECT_TRUE(stopped.stopped);
  EXPECT_EQ(stopped.trials, 5);
  EXPECT_GT(heard, 0);
  EXPECT_LT(stopped.failing.graph.num_nodes(), failing.graph.num_nodes());
  EXPECT_TRUE(fails(stopped.failing));
}

TEST(Difference, SeesBitsAndBounds) {
  const auto differ = [](std::vector<float> was, std::vector<float> is, Sameness sameness) {
    const Shape shape({static_cast<int64_t>(was.size())});
    return FindDifference(Floats(was, shape), Floats(is, shape), sameness);
  };
  const float next = std::nextafter(1.0f, 2.0f);
  EXPECT_FALSE(differ({1, NAN}, {1, -NAN}, Sameness::kBits));
  EXPECT_EQ(differ({1}, {next}, Sameness::kBits),
            "element [0] is 1.0000001 where 1 is right, 1 ulps away");
  EXPECT_TRUE(differ({0.0f}, {-0.0f}, Sameness::kBits));
  EXPECT_FALSE(differ({0.0f}, {1e-42f}, Sameness::kBits));
  EXPECT_TRUE(differ({0.0f}, {-1e-42f}, Sameness::kBits));
  EXPECT_TRUE(differ({0.0f}, {2e-38f}, Sameness::kBits));
  EXPECT_FALSE(differ({0.0f}, {-0.0f}, Sameness::kBound));
  EXPECT_FALSE(differ({0.0f}, {1e-42f}, Sameness::kBound));
  EXPECT_FALSE(differ({1}, {next}, Sameness::kBound));
  EXPECT_FALSE(differ({1000, 1e-3f}, {1000, 2e-3f}, Sameness::kBound));
  EXPECT_TRUE(differ({1000, 1}, {1000, 2}, Sameness::kBound));
  EXPECT_FALSE(differ({8, 1}, {8.9f, 1.9f}, Sameness::kRounded));
  EXPECT_TRUE(differ({8, 1}, {8, 2.1f}, Sameness::kRounded));
  EXPECT_TRUE(differ({8, 1}, {8, NAN}, Sameness::kRounded));
  EXPECT_FALSE(FindDifference(Floats({1}, {1}), Floats({1, 2}, {2}), Sameness::kRounded));
  EXPECT_TRUE(FindDifference(Floats({1}, {1}), Floats({1}, Shape()), Sameness::kRounded));
  EXPECT_TRUE(differ({1, 1}, {1, NAN}, Sameness::kBound));
  EXPECT_TRUE(differ({1, 1}, {1, INFINITY}, Sameness::kBound));
  EXPECT_EQ(FindDifference(Floats({1}, {1}), Floats({1}, Shape()), Sameness::kBound),
            "it is f32 where f32[1] is right");
}

TEST(InputSets, HaveCornersAndOpenSizes) {
  const Graph open = Parse(Placeholder("x", "dim { size: -1 } dim { size: 40 }"));
  const std::vector<InputSet> sets = MakeInputSets(open, {"x"}).value();
  std::vector<std::string> names;
  for (const InputSet& set : sets) names.push_back(set.name);
  EXPECT_THAT(
      names, ElementsAre("ordinary", "zeros", "infinities", "NaN", "extremes", "size 1", "size 0"));
  EXPECT_EQ(sets[6].feeds[0].second.shape(), Shape({0, 40}));
  int nans = 0;
  for (float v : Values(sets[3].feeds[0].second)) nans += std::isnan(v) ? 1 : 0;
  EXPECT_GT(nans, 0);
  EXPECT_LT(nans, 60);
  EXPECT_EQ(MakeInputSets(Parse(Placeholder("x", "dim { size: 4 }")), {"x"})->size(), 5u);
  for (int size : {1, 2, 3}) {
    const Graph small = Parse(Placeholder("x", absl::StrCat("dim { size: ", size, " }")));
    const auto values = [&, made = *MakeInputSets(small, {"x"})](size_t set) {
      return Values(made[set].feeds[0].second);
    };
    EXPECT_THAT(values(2), Contains(ResultOf([](float v) { return std::isinf(v); }, true)));
    EXPECT_THAT(values(3), Contains(ResultOf([](float v) { return std::isnan(v); }, true)));
    EXPECT_THAT(values(4), Contains(ResultOf([](float v) { return std::fabs(v) > 1e38f; }, true)));
  }
  const std::vector<InputSet> four =
      *MakeInputSets(Parse(Placeholder("x", "dim { size: 4 }")), {"x"});
  int minus = 0, denormal = 0;
  for (float v : Values(four[1].feeds[0].second)) {
    minus += std::signbit(v) ? 1 : 0;
    denormal += v != 0 ? 1 : 0;
  }
  EXPECT_EQ(minus, 2);
  EXPECT_EQ(denormal, 2);
  EXPECT_THAT(MakeInputSets(Parse(Placeholder("r", "", "DT_RESOURCE")), {"r"}).status().message(),
              HasSubstr("no values can be made up for node 'r' (Placeholder)"));
}

TEST(Compare, AnErrorIsHiddenOnlyWhereTheWholeRunSucceeds) {
  const std::vector<std::string> fetches = {"x", "y"};
  const Tensor value = Tensor::Of<float>(DataType::kFloat, {1}, Shape({1}));
  const absl::Status error = absl::InvalidArgumentError("out of range");
  const auto same = [](size_t) -> std::optional<std::string> { return std::nullopt; };
  const auto differs = [&](const Answer& right, const Answer& is) {
    return CompareAnswers(right, is, fetches, same).has_value();
  };
  EXPECT_FALSE(differs({error, error}, {value, error}));
  EXPECT_TRUE(differs({error, error}, {value, value}));
  EXPECT_TRUE(differs({error, value}, {value, value}));
  EXPECT_TRUE(differs({error, value}, {value, error}));
  EXPECT_FALSE(differs({error, value}, {error, value}));
  const absl::Status exhausted = absl::ResourceExhaustedError("passes");
  EXPECT_FALSE(differs({exhausted, value}, {value, value}));
  EXPECT_TRUE(differs({value, value}, {exhausted, value}));
}

}  // namespace
}  // namespace tenon::testing
