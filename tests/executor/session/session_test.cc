#include "executor/session/session.h"

#include <atomic>
#include <thread>

#include "gmock/gmock.h"
#include "graph/io/io.h"
#include "gtest/gtest.h"
#include "tests/executor/graph_text_util.h"
#include "tests/executor/session/heap_count_util.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using testing::Bool;
using testing::Const;
using testing::Floats;
using testing::MakeSession;
using testing::Node;
using testing::Parse;
using testing::Placeholder;
using testing::Values;

TEST(Session, RunsAChainOnFedValues) {
  auto session = MakeSession(Placeholder("x", "dim { size: 2 }") + Node("a", "AddV2", {"x", "x"}) +
                             Node("b", "Mul", {"a", "x"}) + Node("c", "Neg", {"b"}));
  for (float v : {1.0f, 3.0f}) {
    const auto out = session->Run({{"x", Floats({v, 2}, {2})}}, {"c", "a:0"});
    ASSERT_TRUE(out.ok()) << out.status();
    EXPECT_THAT(Values((*out)[0]), ElementsAre(-2 * v * v, -8));
    EXPECT_THAT(Values((*out)[1]), ElementsAre(2 * v, 4));
  }
}

// Graphs up to producer 21 write [] where they do not know the shape.
TEST(Session, AScalarPlaceholderOfAnOldGraphTakesAnyShape) {
  const auto run = [](int producer) {
    auto session = MakeSession(Placeholder("x", "") + Node("a", "Neg", {"x"}) +
                               absl::StrCat("versions { producer: ", producer, " }"));
    return session->Run({{"x", Floats({1, 2}, {2})}}, {"a"}).status().code();
  };
  EXPECT_EQ(run(21), absl::StatusCode::kOk);
  EXPECT_EQ(run(22), absl::StatusCode::kInvalidArgument);
}

TEST(Session, ReusesMemoryInPlace) {
  std::string text = Placeholder("x", "dim { size: 1000 }") + Node("n0", "Neg", {"x"});
  for (int i = 1; i < 50; ++i)
    text += Node(absl::StrCat("n", i), "Neg", {absl::StrCat("n", i - 1)});
  auto session = MakeSession(text + Node("sum", "AddV2", {"n49", "x"}));
  auto e = session->Prepare({"x"}, {"sum"});
  ASSERT_TRUE(e.ok()) << e.status();
  const auto out = session->Run(*e, {Floats(std::vector<float>(1000, 2), {1000})});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ((*out)[0].flat<float>()[999], 4);
  EXPECT_LE(MemoryOf(**e).arena_bytes, 2 * 4032);
  EXPECT_THAT(PlanText(**e), HasSubstr("in place"));
}

TEST(Session, FetchedValuesOutliveTheSession) {
  auto session = MakeSession(
      Placeholder("x", "dim { size: 2 }") + Node("a", "Neg", {"x"}) + Node("i", "Identity", {"x"}) +
      Const("c", "DT_FLOAT", "tensor_shape { dim { size: 2 } } float_val: 7"));
  auto out = session->Run({{"x", Floats({1, 2}, {2})}}, {"a", "i", "c", "a"});
  ASSERT_TRUE(out.ok()) << out.status();
  (void)session->Run({{"x", Floats({5, 6}, {2})}}, {"a", "i", "c", "a"});
  session.reset();
  EXPECT_THAT(Values((*out)[0]), ElementsAre(-1, -2));
  EXPECT_THAT(Values((*out)[1]), ElementsAre(1, 2));
  EXPECT_THAT(Values((*out)[2]), ElementsAre(7, 7));
  EXPECT_THAT(Values((*out)[3]), ElementsAre(-1, -2));
}

TEST(Session, PlansOncePerShape) {
  auto session = MakeSession(Placeholder("x", "dim { size: -1 }") + Node("a", "Neg", {"x"}));
  auto e = session->Prepare({"x"}, {"a"});
  ASSERT_TRUE(e.ok()) << e.status();
  for (int round = 0; round < 3; ++round) {
    for (int64_t n : {1, 4, 0}) {
      const auto out = session->Run(*e, {Floats(std::vector<float>(n, 2), Shape({n}))});
      ASSERT_TRUE(out.ok()) << out.status();
      EXPECT_EQ((*out)[0].shape(), Shape({n}));
    }
  }
  EXPECT_EQ(PlanCacheOf(**e).builds, 3);
  EXPECT_EQ(PlanCacheOf(**e).hits, 6);
}

TEST(Session, KeepsThePlansThatWereUsedLast) {
  SessionOptions options;
  options.max_cached_plans = 3;
  options.threads = 1;
  auto session = Session::Create(
      Parse(Placeholder("x", "dim { size: -1 }") + Node("a", "Neg", {"x"})), {}, options);
  ASSERT_TRUE(session.ok()) << session.status();
  auto e = (*session)->Prepare({"x"}, {"a"});
  ASSERT_TRUE(e.ok()) << e.status();
  auto run = [&](int64_t n) {
    const auto out = (*session)->Run(*e, {Floats(std::vector<float>(n, 2), Shape({n}))});
    EXPECT_TRUE(out.ok()) << out.status();
  };
  for (int64_t n = 1; n <= 20; ++n) run(n);
  EXPECT_EQ(PlanCacheOf(**e).builds, 20);
  EXPECT_EQ(PlanCacheOf(**e).plans, 3);
  EXPECT_EQ(PlanCacheOf(**e).max_plans, 3);
  for (const int64_t n : {18, 1, 18, 19}) run(n);  // 19 left when 1 came
  EXPECT_EQ(PlanCacheOf(**e).hits, 2);
  EXPECT_EQ(PlanCacheOf(**e).builds, 22);
}

TEST(Session, ShapesFromDataNeedNoNewPlan) {
  auto session = MakeSession(Placeholder("x", "dim { size: 100 }") + Node("where", "Where", {"x"}) +
                             Node("rows", "GatherNd", {"x", "where"},
                                  "attr { key: 'Tparams' value { type: DT_FLOAT } }"
                                  "attr { key: 'Tindices' value { type: DT_INT64 } }") +
                             Node("y", "Neg", {"rows"}));
  auto e = session->Prepare({"x"}, {"y"});
  ASSERT_TRUE(e.ok()) << e.status();
  auto run = [&](int64_t n) {
    std::vector<float> x(100, 0.0f);
    std::fill_n(x.begin(), n, 1.0f);
    const auto out = session->Run(*e, {Floats(x, {100})});
    ASSERT_TRUE(out.ok()) << out.status();
    EXPECT_EQ((*out)[0].shape(), Shape({n}));
  };
  for (int round = 0; round < 2; ++round) {
    for (int64_t n = 0; n < 10; ++n) run(n);
  }
  PlanCacheReport report = PlanCacheOf(**e);
  EXPECT_EQ(report.builds, 1);
  EXPECT_EQ(report.late_builds, 2 * 10);  // GatherNd and Neg, for each number of rows
  EXPECT_EQ(report.late_hits, 2 * 10);
  // More shapes than a step keeps: the first ones have left.
  for (int64_t n = 0; n < 100; ++n) run(n);
  for (int64_t n = 99; n > 99 - report.max_late; --n) run(n);
  const int64_t made = PlanCacheOf(**e).late_builds;
  EXPECT_EQ(made, 2 * 100);
  run(0);
  EXPECT_EQ(PlanCacheOf(**e).late_builds, made + 2);
}

TEST(Session, FeedsMayStandInTheMiddle) {
  auto session =
      MakeSession(Placeholder("x", "") + Node("a", "Neg", {"x"}) + Node("b", "Neg", {"a"}));
  const auto out = session->Run({{"a", Floats({3}, {})}}, {"b"});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT(Values((*out)[0]), ElementsAre(-3));
}

TEST(Session, WhoWaitsForAFedPlaceholderWaitsForItsFeed) {
  for (const int opt_level : {0, 1}) {
    auto session = MakeSession(
        Placeholder("x", "dim { size: 1 }") + Node("a", "Neg", {"x", "^x"}) +
            Const("c", "DT_FLOAT", "tensor_shape {} float_val: 2", "input: '^x'") +
            Node("i", "Identity", {"x", "^x"}) + Node("only", "Neg", {"c", "^i"}) +
            Node("s", "Shape", {"x"}, "attr { key: 'out_type' value { type: DT_INT32 } }"),
        opt_level);
    const auto out = session->Run({{"x", Floats({3}, {1})}}, {"a", "c", "only", "s"});
    ASSERT_TRUE(out.ok()) << out.status();
    EXPECT_THAT(Values((*out)[0]), ElementsAre(-3));
    EXPECT_THAT(Values((*out)[1]), ElementsAre(2));
    EXPECT_THAT(Values((*out)[2]), ElementsAre(-2));
    EXPECT_EQ(*(*out)[3].flat<int32_t>(), 1);
  }
}

TEST(Session, WhoWaitsForAnyOtherFedNodeWaitsForTheNode) {
  for (const int opt_level : {0, 1}) {
    auto session = MakeSession(
        Placeholder("x", "dim { size: 2 }") + Placeholder("y", "") + Node("a", "Neg", {"x"}) +
            Node("waits", "Neg", {"y", "^a"}) + Node("reads", "Neg", {"a"}) +
            Const("axis", "DT_INT32", "tensor_shape {} int_val: 0") +
            Node("s", "Split", {"axis", "x"}, "attr { key: 'num_split' value { i: 2 } }") +
            Node("s0", "Neg", {"s:0", "^s"}) + Node("s1", "Neg", {"s:1", "^s"}),
        opt_level);
    const Session::NamedTensor x{"x", Floats({1, 2}, {2})}, y{"y", Floats({5}, {})};
    const Session::NamedTensor a{"a", Floats({7}, {1})}, s{"s", Floats({9}, {1})};
    auto out = session->Run({a}, {"reads"});
    ASSERT_TRUE(out.ok()) << out.status();
    EXPECT_THAT(Values((*out)[0]), ElementsAre(-7));
    EXPECT_THAT(std::string(session->Run({a, y}, {"waits"}).status().message()), HasSubstr("'x'"));
    EXPECT_TRUE(session->Run({a, y, x}, {"waits"}).ok());
    out = session->Run({s, x}, {"s0", "s1"});
    ASSERT_TRUE(out.ok()) << out.status();
    EXPECT_THAT(Values((*out)[0]), ElementsAre(-9));
    EXPECT_THAT(Values((*out)[1]), ElementsAre(-2));
  }
}

TEST(Session, SaysWhatIsWrongWithFeedsAndFetches) {
  auto session = MakeSession(Placeholder("x", "dim { size: 2 }") + Node("a", "Neg", {"x"}));
  auto message = [](const auto& result) { return std::string(result.status().message()); };
  EXPECT_THAT(message(session->Prepare({"x"}, {"b"})), HasSubstr("fetch 'b'"));
  EXPECT_THAT(message(session->Prepare({"y"}, {"a"})), HasSubstr("feed 'y'"));
  EXPECT_THAT(message(session->Prepare({"x"}, {"a:1"})), HasSubstr("a:1"));
  EXPECT_EQ(session->Prepare({}, {"a"}).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(message(session->Prepare({}, {"a"})), HasSubstr("'x'"));
  EXPECT_THAT(message(session->Run({{"x", Floats({1}, {1})}}, {"a"})), HasSubstr("[1]"));
  EXPECT_THAT(message(session->Run({{"x", Bool(true)}}, {"a"})), HasSubstr("DT_BOOL"));
  EXPECT_EQ(session->Prepare({"x", "x"}, {"a"}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(Session, ControlInputsAndNoOpsRun) {
  auto session =
      MakeSession(Placeholder("x", "") + Node("a", "Neg", {"x"}) +
                  Node("done", "NoOp", {"^a"}, "", "") + Node("b", "Neg", {"x", "^done"}));
  const auto out = session->Run({{"x", Floats({3}, {})}}, {"b", "done"});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT(Values((*out)[0]), ElementsAre(-3));
  EXPECT_FALSE((*out)[1].initialized());
}

TEST(Session, ConstantSubgraphsAreComputedOnce) {
  auto session = MakeSession(
      Placeholder("x", "") + Const("c", "DT_FLOAT", "tensor_shape {} float_val: 4") +
      Node("d", "Neg", {"c"}) + Node("e", "Neg", {"d"}) + Node("f", "AddV2", {"x", "e"}));
  auto e = session->Prepare({"x"}, {"f"});
  ASSERT_TRUE(e.ok()) << e.status();
  const auto out = session->Run(*e, {Floats({1}, {})});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT(Values((*out)[0]), ElementsAre(5));
  EXPECT_THAT(PlanText(**e), HasSubstr("plan: 1 steps"));
}

TEST(Session, ShapesThatTheRunTells) {
  // Reshape(x, s) with a fed s: only the run knows the shape.
  auto session = MakeSession(
      Placeholder("x", "dim { size: 6 }") + Placeholder("s", "dim { size: 2 }", "DT_INT32") +
      Node("r", "Reshape", {"x", "s"}, "attr { key: 'Tshape' value { type: DT_INT32 } }") +
      Node("n", "Neg", {"r"}) + Node("m", "AddV2", {"n", "n"}));
  for (int round = 0; round < 2; ++round) {
    for (int32_t rows : {2, 3, 1}) {
      const int32_t dims[] = {rows, -1};
      const auto out =
          session->Run({{"x", Floats({1, 2, 3, 4, 5, 6}, {6})},
                        {"s", Tensor::CopyOf(DataType::kInt32, {2}, dims, sizeof(dims))}},
                       {"m", "r"});
      ASSERT_TRUE(out.ok()) << out.status();
      EXPECT_EQ((*out)[0].shape(), Shape({rows, 6 / rows}));
      EXPECT_THAT(Values((*out)[0]), ElementsAre(-2, -4, -6, -8, -10, -12));
      EXPECT_THAT(Values((*out)[1]), ElementsAre(1, 2, 3, 4, 5, 6));
    }
  }
  const int32_t bad[] = {4, 4};
  const auto out = session->Run({{"x", Floats({1, 2, 3, 4, 5, 6}, {6})},
                                 {"s", Tensor::CopyOf(DataType::kInt32, {2}, bad, sizeof(bad))}},
                                {"m"});
  EXPECT_THAT(std::string(out.status().message()), HasSubstr("node 'r' (Reshape)"));
}

std::string Conditional() {
  return Placeholder("x", "dim { size: 2 }") + Placeholder("p", "", "DT_BOOL") +
         Node("s", "Switch", {"x", "p"}) + Node("no", "Neg", {"s"}) +
         Node("yes", "AddV2", {"s:1", "s:1"}) +
         Node("m", "Merge", {"no", "yes"}, "attr { key: 'N' value { i: 2 } }") +
         Node("after", "AddV2", {"m", "x"}) + Node("pivot", "Identity", {"s:1"}) +
         Const("k", "DT_FLOAT", "tensor_shape { dim { size: 2 } } float_val: 9",
               "input: '^pivot'") +
         Node("m2", "Merge", {"no", "k"}, "attr { key: 'N' value { i: 2 } }") +
         Node("both", "AddV2", {"no", "yes"});
}

TEST(Session, DeadBranchesDoNotRun) {
  auto session = MakeSession(Conditional());
  for (bool p : {true, false}) {
    const auto out = session->Run({{"x", Floats({1, 2}, {2})}, {"p", Bool(p)}},
                                  {"m", "m:1", "after", "m2", "m2:1"});
    ASSERT_TRUE(out.ok()) << out.status();
    EXPECT_EQ(Values((*out)[0])[1], p ? 4 : -2);
    EXPECT_EQ(*(*out)[1].flat<int32_t>(), p ? 1 : 0);
    EXPECT_EQ(Values((*out)[2])[1], p ? 6 : 0);
    EXPECT_EQ(Values((*out)[3])[0], p ? 9 : -1);
    EXPECT_EQ(*(*out)[4].flat<int32_t>(), p ? 1 : 0);
  }
}

TEST(Session, AFetchOfADeadValueIsAnError) {
  auto session = MakeSession(Conditional());
  for (const char* fetch : {"yes", "both", "s:1", "k"}) {
    const auto out = session->Run({{"x", Floats({1, 2}, {2})}, {"p", Bool(false)}}, {fetch});
    EXPECT_EQ(out.status().code(), absl::StatusCode::kInvalidArgument) << fetch;
    EXPECT_THAT(std::string(out.status().message()), HasSubstr(absl::StrCat("'", fetch, "'")));
  }
  EXPECT_TRUE(session->Run({{"x", Floats({1, 2}, {2})}, {"p", Bool(true)}}, {"yes", "k"}).ok());
}

TEST(Session, ErrorsInBranchesThatAreNotTakenDoNotCount) {
  auto session =
      MakeSession(Placeholder("x", "dim { size: 2 }") + Placeholder("y", "dim { size: -1 }") +
                  Placeholder("p", "", "DT_BOOL") + Node("s", "Switch", {"x", "p"}) +
                  Node("bad", "AddV2", {"s:1", "y"}) +
                  Node("m", "Merge", {"s", "bad"}, "attr { key: 'N' value { i: 2 } }"));
  const Tensor x = Floats({1, 2}, {2}), y = Floats({1, 2, 3}, {3});
  EXPECT_TRUE(session->Run({{"x", x}, {"y", y}, {"p", Bool(false)}}, {"m"}).ok());
  const auto out = session->Run({{"x", x}, {"y", y}, {"p", Bool(true)}}, {"m"});
  EXPECT_THAT(std::string(out.status().message()), HasSubstr("node 'bad' (AddV2)"));
}

TEST(Session, OptimizationKeepsErrors) {
  const std::string text =
      Const("whole", "DT_FLOAT", "tensor_shape { dim { size: 3 } } float_val: 1") +
      Placeholder("begin", "dim { size: 1 }", "DT_INT32") +
      Const("size", "DT_INT32", "tensor_shape { dim { size: 1 } } int_val: 3") +
      Node("part", "Slice", {"whole", "begin", "size"},
           "attr { key: 'Index' value { type: DT_INT32 } }") +
      Node("a", "Neg", {"part"}) + Node("b", "Exp", {"a"});
  for (int level : {0, 1}) {
    auto session = MakeSession(text, level);
    for (int32_t begin : {0, 1}) {
      const Tensor feed = Tensor::CopyOf(DataType::kInt32, {1}, &begin, sizeof(begin));
      EXPECT_EQ(session->Run({{"begin", feed}}, {"b"}).ok(), begin == 0) << level;
    }
  }
}

TEST(Session, APredicateWhoseShapeIsFoundLateMustBeAScalar) {
  auto session = MakeSession(
      Placeholder("x", "dim { size: -1 }") + Placeholder("shape", "dim { size: -1 }", "DT_INT32") +
      Node("nan", "IsNan", {"x"}) + Node("p", "Reshape", {"nan", "shape"}, "", "DT_BOOL") +
      Node("s", "Switch", {"x", "p"}));
  const int32_t dims[] = {1};
  const Tensor x = Floats({1}, {1});
  const Tensor scalar = Tensor::CopyOf(DataType::kInt32, {0}, dims, 0);
  const Tensor vector = Tensor::CopyOf(DataType::kInt32, {1}, dims, sizeof(dims));
  EXPECT_TRUE(session->Run({{"x", x}, {"shape", scalar}}, {"s"}).ok());
  const auto out = session->Run({{"x", x}, {"shape", vector}}, {"s"});
  EXPECT_EQ(out.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(out.status().message()), HasSubstr("must be a scalar"));
}

std::string ChainBehindUnique(int length) {
  std::string text = Placeholder("x", "dim { size: 4 }") + Node("a0", "Unique", {"x"});
  for (int i = 1; i <= length; ++i) {
    const std::string last = absl::StrCat("a", i - 1);
    text += Node(absl::StrCat("a", i), "AddV2", {last, last});
  }
  return text;
}

TEST(Session, ShapesThatAreFoundLateMayChangeFromRunToRun) {
  auto session = MakeSession(ChainBehindUnique(2));
  for (int i = 0; i < 3; ++i) {
    const auto two = session->Run({{"x", Floats({1, 2, 2, 1}, {4})}}, {"a2"});
    ASSERT_TRUE(two.ok()) << two.status();
    EXPECT_THAT(Values((*two)[0]), ElementsAre(4, 8));
    const auto three = session->Run({{"x", Floats({3, 2, 2, 1}, {4})}}, {"a2"});
    EXPECT_THAT(Values((*three)[0]), ElementsAre(12, 8, 4));
  }
}

// As many for a long chain as for a short one: those of the call of Run and of Unique.
TEST(Session, KernelsWhoseShapesAreFoundLateAllocateNothingOnceWarm) {
  if (!testing::HeapAllocations()) GTEST_SKIP() << "no heap of our own";
  std::vector<int64_t> counts;
  for (const int length : {1, 40}) {
    auto session = MakeSession(ChainBehindUnique(length));
    const auto e = session->Prepare({"x"}, {absl::StrCat("a", length)});
    ASSERT_TRUE(e.ok()) << e.status();
    const std::vector<Tensor> feeds = {Floats({1, 2, 2, 1}, {4})};
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(session->Run(*e, feeds).ok());
    const int64_t before = *testing::HeapAllocations();
    ASSERT_TRUE(session->Run(*e, feeds).ok());
    counts.push_back(*testing::HeapAllocations() - before);
  }
  EXPECT_EQ(counts[0], counts[1]);
}

// Kernels that go over the rows of what has no elements never run.
TEST(Session, TensorsThatAreLongThoughEmptyTakeNoTime) {
  const std::string nodes = Node("gather", "Gather", {"x", "index"},
                                 "attr { key: 'Tparams' value { type: DT_FLOAT } } "
                                 "attr { key: 'Tindices' value { type: DT_INT64 } }",
                                 "") +
                            Node("round", "QuantizeAndDequantizeV2", {"x", "low", "low"},
                                 "attr { key: 'axis' value { i: 0 } }") +
                            Node("sums", "UnsortedSegmentSum", {"rows", "index", "count"},
                                 "attr { key: 'Tindices' value { type: DT_INT64 } } "
                                 "attr { key: 'Tnumsegments' value { type: DT_INT64 } }");
  const std::string constants =
      Const("index", "DT_INT64", "tensor_shape { dim { size: 1 } } int64_val: 3") +
      Const("count", "DT_INT64", "tensor_shape { } int64_val: 1099511627776") +
      Const("low", "DT_FLOAT", "tensor_shape { dim { size: 0 } }") +
      Const("rows", "DT_FLOAT", "tensor_shape { dim { size: 1 } dim { size: 0 } }");
  const Shape shape({int64_t{1} << 40, 1 << 20, 0});
  const auto session = MakeSession(Placeholder("x", "unknown_rank: true") + constants + nodes);
  const auto out = session->Run({{"x", Floats({}, shape)}}, {"gather", "round", "sums"});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ((*out)[0].shape(), Shape({1, 1 << 20, 0}));
  EXPECT_EQ((*out)[1].shape(), shape);
  EXPECT_EQ((*out)[2].shape(), Shape({int64_t{1} << 40, 0}));
}

TEST(Session, ValuesThatAreTooLargeAreNamed) {
  const std::string size = "tensor_shape { dim { size: 1 } } int64_val: 1099511627776";
  auto session = MakeSession(
      Const("n", "DT_INT64", size) + Const("v", "DT_FLOAT", "tensor_shape {} float_val: 1") +
      Node("fill", "Fill", {"n", "v"}, "attr { key: 'index_type' value { type: DT_INT64 } }") +
      Const("axis", "DT_INT32", "tensor_shape {} int_val: 0") +
      Node("sum", "Sum", {"fill", "axis"}));
  for (const char* fetch : {"fill", "sum"}) {
    const auto out = session->Run({}, {fetch});
    EXPECT_EQ(out.status().code(), absl::StatusCode::kResourceExhausted) << out.status();
    EXPECT_THAT(std::string(out.status().message()), HasSubstr("node 'fill' (Fill)")) << fetch;
  }
}

// Four times 2^62 bytes are 0 in 64 bits.
TEST(Session, ValuesThatAreTooLargeTogetherAreNamed) {
  const std::string reshape = "attr { key: 'Tshape' value { type: DT_INT64 } }";
  const std::string two = "tensor_shape { dim { size: 2 } } int64_val: ";
  auto session = MakeSession(
      Const("n", "DT_INT64", "tensor_shape { dim { size: 1 } } int64_val: 1073741824") +
      Placeholder("v", "") +
      Node("fill", "Fill", {"n", "v"}, "attr { key: 'index_type' value { type: DT_INT64 } }") +
      Const("row", "DT_INT64", two + "1 int64_val: 1073741824") +
      Const("column", "DT_INT64", two + "1073741824 int64_val: 1") +
      Node("r", "Reshape", {"fill", "row"}, reshape) +
      Node("c", "Reshape", {"fill", "column"}, reshape) + Node("a", "AddV2", {"r", "c"}) +
      Node("b", "Sub", {"r", "c"}) + Node("d", "Mul", {"r", "c"}) +
      Node("e", "Maximum", {"r", "c"}) + Node("ab", "AddV2", {"a", "b"}) +
      Node("de", "AddV2", {"d", "e"}) + Node("all", "AddV2", {"ab", "de"}) +
      Const("axes", "DT_INT32", "tensor_shape { dim { size: 2 } } int_val: 0 int_val: 1") +
      Node("sum", "Sum", {"all", "axes"}));
  const auto out = session->Run({{"v", Floats({1}, {})}}, {"sum"});
  EXPECT_EQ(out.status().code(), absl::StatusCode::kResourceExhausted) << out.status();
  EXPECT_THAT(std::string(out.status().message()), HasSubstr("too large for one arena"));
}

TEST(Session, ManyThreadsRunAtOnce) {
  std::string text = Placeholder("x", "dim { size: -1 }") + Node("n0", "Neg", {"x"});
  for (int i = 1; i < 40; ++i)
    text +=
        Node(absl::StrCat("n", i), i % 2 == 1 ? "AddV2" : "Sub", {absl::StrCat("n", i - 1), "x"});
  auto session = MakeSession(text);
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const int64_t n = 1 + (i + t) % 5;
        const auto out = session->Run(
            {{"x", Floats(std::vector<float>(n, static_cast<float>(t)), Shape({n}))}}, {"n39"});
        if (!out.ok() || (*out)[0].flat<float>()[n - 1] != 0) ++failures;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(failures, 0);
}

TEST(Session, AChainOf100000NodesRuns) {
  Graph graph = Parse(Placeholder("x", "") + Placeholder("y", ""));
  Output last{graph.FindNode("x"), 0};
  const Output y{graph.FindNode("y"), 0};
  for (int i = 0; i < 100000; ++i) {
    const Output inputs[] = {last, y};
    std::vector<Graph::NewAttr> attrs;
    attrs.push_back({"T", attr::Type(DataType::kFloat)});
    last = {*graph.AddNode(absl::StrCat("a", i), "AddV2", inputs, std::move(attrs)), 0};
  }
  SessionOptions options;
  options.opt_level = 0;
  options.threads = 1;
  auto session = Session::Create(std::move(graph), {}, options);
  ASSERT_TRUE(session.ok());
  const auto out = (*session)->Run({{"x", Floats({0}, {})}, {"y", Floats({1}, {})}}, {"a99999"});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT(Values((*out)[0]), ElementsAre(100000));
}

}  // namespace
}  // namespace tenon
