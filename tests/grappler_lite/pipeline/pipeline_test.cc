// What a run of the pipeline tells those who watch it, and what it does with passes that lie.
#include "grappler_lite/pipeline/pipeline.h"

#include <gmock/gmock.h>

#include "absl/strings/str_cat.h"
#include "graph/ir/colocation.h"
#include "graph/ir/new_attrs.h"
#include "grappler_lite/pipeline/fingerprint.h"
#include "grappler_lite/pipeline/rewriter.h"
#include "tests/grappler_lite/pipeline/pipeline_util.h"

namespace tenon::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Recorder : public PipelineObserver {
 public:
  void BeforePass(const PassRun& run) override {
    log.push_back(absl::StrCat("before ", run.pass, " ", run.before.num_nodes()));
  }
  void OnRewrite(const RewriteEvent& event) override {
    log.push_back(absl::StrCat(event.allowed ? "" : "not ", RewriteKey(event)));
  }
  absl::Status CheckPass(const PassRun&, const Graph& after, const ReplayPass& replay) override {
    if (replay) {
      const Graph first =
          replay([](int64_t number, const RewriteEvent&) { return number == 0; }).value();
      log.push_back(
          absl::StrCat("replayed ", Fingerprint(first) == Fingerprint(after) ? "all" : "some"));
    }
    return refuse ? absl::InternalError("refused") : absl::OkStatus();
  }
  void AfterPass(const PassRun& run, const Graph& after, const PassReport& row) override {
    log.push_back(absl::StrCat("after ", run.pass, " ", after.num_nodes(),
                               row.failed    ? " failed"
                               : row.changed ? " changed"
                                             : ""));
  }
  bool refuse = false;
  std::vector<std::string> log;
};

TEST(Pipeline, ObserversSeePassesAndRewritesInOrder) {
  Graph graph = GraphOf({"n = Neg(a)", "d = Sub(n, b)"});
  PipelineOptions options = Only("break");
  Recorder recorder;
  options.observers = {&recorder};
  const PipelineReport report = Optimize(graph, {"d"}, options).value();
  EXPECT_THAT(recorder.log, ElementsAre("before break 4", "break.negate@n", "break.swap@d",
                                        "replayed some", "after break 4 changed"));
  ASSERT_EQ(report.passes.size(), 1u);
  EXPECT_EQ(report.passes[0].rewrites.size(), 2u);
}

TEST(Pipeline, ThePassesOfOneFieldHaveNamesOfTheirOwn) {
  for (const char* name : {"function_optimization", "function_specialization"}) {
    Graph graph = GraphOf({"d = Neg(a)"});
    EXPECT_THAT(Optimize(graph, {"d"}, Only(name))->passes,
                ElementsAre(Field(&PassReport::name, "function_specialization")));
    PipelineOptions options;
    options.min_graph_nodes = -1;
    options.disabled_passes = {name};
    EXPECT_THAT(Optimize(graph, {"d"}, options)->passes,
                Contains(AllOf(Field(&PassReport::name, "function_specialization"),
                               Field(&PassReport::reason, "disabled"))));
  }
}

TEST(Pipeline, AnObserverRollsBackWhatItRefuses) {
  Graph graph = GraphOf({"d = Sub(a, b)"});
  const uint64_t before = Fingerprint(graph);
  PipelineOptions options = Only("break");
  Recorder recorder;
  recorder.refuse = true;
  options.observers = {&recorder};
  const PipelineReport report = Optimize(graph, {"d"}, options).value();
  EXPECT_EQ(Fingerprint(graph), before);
  EXPECT_TRUE(report.passes[0].failed);
  EXPECT_EQ(report.passes[0].reason, "rolled back: refused");
}

TEST(Pipeline, OneThatWantsOnlyFailuresHearsOfNothingElse) {
  class OnlyFailures : public Recorder {
    bool wants_every_pass() const override { return false; }
  };
  Graph graph = GraphOf({"d = Sub(a, b)"});
  PipelineOptions options = Only("break");
  OnlyFailures observer;
  options.observers = {&observer};
  ASSERT_TRUE(Optimize(graph, {"d"}, options).ok());
  EXPECT_THAT(observer.log, ElementsAre("break.swap@d"));
}

TEST(Pipeline, ALimitStopsRewritesAndLetsNamedOnesPass) {
  Graph graph = GraphOf({"n = Neg(a)", "m = Neg(b)", "d = Sub(n, m)"});
  PipelineOptions options = Only("break");
  Recorder recorder;
  options.observers = {&recorder};
  options.bisect_limit = 1;
  options.beyond_limit = {"break.swap@d"};
  ASSERT_TRUE(Optimize(graph, {"d"}, options).ok());
  EXPECT_THAT(recorder.log, ElementsAre("before break 5", "break.negate@n", "not break.negate@m",
                                        "break.swap@d", "replayed some", "after break 5 changed"));
}

TEST(Pipeline, NamesThatNothingHasAreRefusedInEveryList) {
  const auto status = [](auto list, const char* name) {
    Graph graph = GraphOf({"d = Sub(a, b)"});
    PipelineOptions options = Only("break");
    (options.*list) = {name};
    return Optimize(graph, {"d"}, options).status();
  };
  for (const auto list : {&PipelineOptions::disabled_passes, &PipelineOptions::enabled_passes}) {
    EXPECT_EQ(status(list, "brake").code(), absl::StatusCode::kInvalidArgument);
    EXPECT_TRUE(status(list, "break").ok());
  }
  for (const auto list : {&PipelineOptions::disabled_rewrites, &PipelineOptions::beyond_limit})
    EXPECT_EQ(status(list, "break.swop").code(), absl::StatusCode::kInvalidArgument);
  for (const char* key : {"break.swap@d", "break.swap@d@f", "plugin:TEST@"})
    EXPECT_TRUE(status(&PipelineOptions::beyond_limit, key).ok()) << key;
}

TEST(Pipeline, BudgetsStopAPassAndAreReported) {
  for (const auto& [option, says] :
       {std::pair("max_rewrites", "1 rewrite"), std::pair("max_visits", "1 visit of nodes")}) {
    Graph graph = GraphOf({"n = Neg(a)", "m = Neg(b)", "d = Sub(n, m)"});
    PipelineOptions options = Only("break");
    options.passes[0].arguments[option] = 1;
    const PipelineReport report = Optimize(graph, {"d"}, options).value();
    EXPECT_EQ(report.passes[0].budget_spent, says);
    EXPECT_EQ(graph.op_name(graph.FindNode("m")), "Neg");
  }
}

TEST(Pipeline, PassesRunInTheOrderThatIsWritten) {
  Graph graph = GraphOf({"i = Identity(a)", "d = Sub(i, b)"});
  PipelineOptions options = Only("break");
  options.passes = {{"common_subgraph_elimination", {}}, {"break", {}}, {"model_pruning", {}}};
  options.disabled_passes = {"model_pruning"};
  const PipelineReport report = Optimize(graph, {"d"}, options).value();
  std::vector<std::string> names;
  for (const PassReport& row : report.passes) names.push_back(row.name);
  EXPECT_THAT(names, ElementsAre("common_subgraph_elimination", "break", "model_pruning"));
  EXPECT_TRUE(report.passes[2].skipped);
}

TEST(Pipeline, AMarkedNodeStaysWhateverBecomesOfIt) {
  Graph graph = GraphOf({"marked = Neg(a)", "d = Sub(a, b)"});
  graph.SetAttr(graph.FindNode("marked"), "_grappler_do_not_remove", attr::Bool(true));
  PipelineOptions options = Only("break");
  options.passes.push_back({"model_pruning", {}});
  options.iterations = 2;
  ASSERT_TRUE(Optimize(graph, {"d"}, options).ok());
  const NodeId marked = graph.FindNode("marked");
  ASSERT_NE(marked, kNoNode);
  EXPECT_EQ(graph.op_name(marked), "Identity");
}

// Answers the wrong thing.
class Liar : public Pass {
 public:
  std::vector<RewriteInfo> rewrites() const override { return {}; }
  absl::StatusOr<bool> Run(PassContext& context) override {
    Graph& g = context.graph;
    const NodeId d = g.FindNode("d");
    if (g.op_name(d) != "Sub") return true;
    g.SetInput(d, 0, g.data_inputs(d)[1]);
    return false;
  }
};

TEST(Pipeline, APassThatLiesAboutItsChangesIsRolledBack) {
  for (const auto& [line, says] : {std::pair("d = Sub(a, b)", "says that it did not"),
                                   std::pair("d = Maximum(a, b)", "which is as it was")}) {
    Graph graph = GraphOf({line});
    const uint64_t before = Fingerprint(graph);
    PipelineOptions options = Only("lie");
    options.custom_passes = {
        {"lie", []() -> std::unique_ptr<Pass> { return std::make_unique<Liar>(); }, "lies"}};
    options.verify_each = true;
    const PipelineReport report = Optimize(graph, {"d"}, options).value();
    EXPECT_TRUE(report.passes[0].failed);
    EXPECT_THAT(report.passes[0].reason, HasSubstr(says));
    EXPECT_EQ(Fingerprint(graph), before);
  }
}

// Lets Neg c wait for what is made of it.
class Knot : public Pass {
 public:
  std::vector<RewriteInfo> rewrites() const override { return {}; }
  absl::StatusOr<bool> Run(PassContext& context) override {
    Graph& g = context.graph;
    if (InferShapes(context) == nullptr) return absl::InternalError("no shapes");
    g.AddControlInput(g.FindNode("c"), g.FindNode("d"));
    return true;
  }
};

// Shapes are known all the same: data go where they went.
TEST(Pipeline, ACycleOfControlEdgesIsRolledBackThoughShapesAreKnown) {
  Graph graph = GraphOf({"c = Neg(a)", "d = Sub(c, b)"});
  const uint64_t before = Fingerprint(graph);
  PipelineOptions options = Only("knot");
  options.custom_passes = {
      {"knot", []() -> std::unique_ptr<Pass> { return std::make_unique<Knot>(); }, "ties"}};
  const PipelineReport report = Optimize(graph, {"d"}, options).value();
  EXPECT_TRUE(report.passes[0].failed);
  EXPECT_THAT(report.passes[0].reason, HasSubstr("cycle"));
  EXPECT_EQ(Fingerprint(graph), before);
}

// Makes d another op at first, then takes c away.
class TakesLater : public Pass {
 public:
  std::vector<RewriteInfo> rewrites() const override { return {}; }
  absl::StatusOr<bool> Run(PassContext& context) override {
    Graph& g = context.graph;
    const NodeId d = g.FindNode("d");
    if (g.op_name(d) == "Sub") {
      g.SetKind(d, "Maximum", AllAttrs(g, d));
      return true;
    }
    if (g.FindNode("c") == kNoNode) return false;
    g.RemoveNode(g.FindNode("c"));
    return true;
  }
};

TEST(Pipeline, ColocationsAreStillThereWhenAPassThatDroppedThemIsRolledBack) {
  struct Losing : FinalPass {
    std::string name() const override { return "plugin:LOSES"; }
    absl::StatusOr<bool> Run(Graph& graph) override {
      graph = GraphOf({"e = Sub(a, b)"});
      return true;
    }
  };
  Graph graph = GraphOf({"c = Neg(a)", "d = Sub(a, b)"});
  graph.SetAttr(graph.FindNode("d"), kColocationAttr,
                attr::StringList(std::vector<std::string_view>{"loc:@c"}));
  PipelineOptions options = Only("takes_later");
  options.custom_passes = {
      {"takes_later", []() -> std::unique_ptr<Pass> { return std::make_unique<TakesLater>(); },
       "takes"}};
  options.passes.push_back({"plugin:*", {}});
  options.iterations = 2;
  Losing losing;
  const PipelineReport report = Optimize(graph, {"d"}, options, {&losing}).value();
  EXPECT_TRUE(report.passes[1].failed);
  EXPECT_EQ(graph.FindNode("c"), kNoNode);
  EXPECT_EQ(graph.attrs(graph.FindNode("d")).Find(kColocationAttr), nullptr);
}

// As often as in TensorFlow, whether or not anything changes.
TEST(Pipeline, FinalPassesSeeEveryIterationUntilTheyFail) {
  struct Counting : FinalPass {
    std::string name() const override { return "plugin:COUNTS"; }
    absl::StatusOr<bool> Run(Graph&) override {
      ++calls;
      if (fails) return absl::InternalError("no");
      return false;
    }
    int calls = 0;
    bool fails = false;
  };
  for (const int iterations : {1, 2, 3}) {
    Graph graph = GraphOf({"d = Sub(a, b)"});
    PipelineOptions options;
    options.min_graph_nodes = -1;
    options.iterations = iterations;
    Counting good, failing;
    failing.fails = true;
    const PipelineReport report = Optimize(graph, {"d"}, options, {&good, &failing}).value();
    EXPECT_EQ(good.calls, iterations);
    EXPECT_EQ(failing.calls, 1);
    for (const PassReport& row : report.passes) {
      EXPECT_TRUE(row.iteration == 0 || row.name == "plugin:COUNTS") << row.name;
    }
  }
}

TEST(Fingerprint, SeesEveryKindOfEdit) {
  const Graph graph = GraphOf({"s = Sub(a, b)"});
  const NodeId s = graph.FindNode("s");
  const uint64_t before = Fingerprint(graph);
  EXPECT_EQ(Fingerprint(Graph(graph)), before);
  const auto differs = [&](auto edit) {
    Graph copy = graph;
    edit(copy);
    return Fingerprint(copy) != before;
  };
  EXPECT_TRUE(differs([&](Graph& g) { g.SetInput(s, 0, g.data_inputs(s)[1]); }));
  EXPECT_TRUE(differs([&](Graph& g) { g.AddControlInput(s, 0); }));
  EXPECT_TRUE(differs([&](Graph& g) { g.SetDevice(s, "/device:CPU:0"); }));
  EXPECT_TRUE(differs([&](Graph& g) { g.SetAttr(s, "_x", attr::Int(1)); }));
  EXPECT_TRUE(differs([&](Graph& g) { g.RemoveNode(s); }));
  EXPECT_FALSE(differs([&](Graph& g) {
    g.SetAttr(s, "_x", attr::Int(1));
    g.RemoveAttr(s, "_x");
  }));
}

TEST(PassSpecs, TakeOptionsAndKeepTheOrder) {
  const std::vector<PassSpec> specs =
      ParsePassSpecs(" remapping , constant_folding( max_rewrites=2k, max_visits = 1MiB ),plugin:*")
          .value();
  ASSERT_EQ(specs.size(), 3u);
  EXPECT_EQ(specs[0].name, "remapping");
  EXPECT_THAT(specs[0].arguments, IsEmpty());
  EXPECT_EQ(specs[1].arguments.at("max_rewrites"), 2000);
  EXPECT_EQ(specs[1].arguments.at("max_visits"), 1 << 20);
  EXPECT_EQ(specs[2].name, "plugin:*");
}

TEST(PassSpecs, SayWhatIsWrong) {
  for (const auto& [text, says] :
       {std::pair("remaping", "did you mean 'remapping'?"),
        std::pair("remapping(max_rewrite=1)", "did you mean 'max_rewrites'?"),
        std::pair("remapping(=5)", "takes no option ''"),
        std::pair("(max_rewrites=5)", "there is no pass ''"),
        std::pair("remapping(max_rewrites)", "no NAME=NUMBER"),
        std::pair("remapping(max_rewrites=-1)", "no NAME=NUMBER"),
        std::pair("remapping(max_rewrites=99999999999G)", "no NAME=NUMBER"),
        std::pair("remapping(max_rewrites=1", "has no ')'")}) {
    EXPECT_THAT(ParsePassSpecs(text).status().message(), HasSubstr(says)) << text;
  }
}

}  // namespace
}  // namespace tenon::testing
