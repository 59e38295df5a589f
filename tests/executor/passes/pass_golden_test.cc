// Each built-in pass on small graphs: tests/golden/passes/<pass>/<case>.in.pbtxt must become
// <case>.out.pbtxt. The first lines of an input say what is fetched and fed (and "fast-math: on",
// "target: tensorflow"). With TENON_WRITE_GOLDEN=1 the outputs are written instead; read them
// before you keep them.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/compile/bodies/optimize_bodies.h"
#include "executor/compile/passes/evaluator.h"
#include "executor/lowering/call_inliner.h"
#include "executor/session/session.h"
#include "graph/functions/function_body.h"
#include "graph/io/io.h"
#include "grappler_lite/pipeline/pipeline.h"
#include "gtest/gtest.h"
#include "tests/executor/passes/golden_passes_util.h"

namespace tenon {
namespace {

// Kernels as the CPU has them; an APU without any.
class Oracle : public KernelOracle {
 public:
  bool HasKernel(std::string_view device, std::string_view op,
                 const AttrSet& attrs) const override {
    if (absl::StrContains(device, "APU")) return false;
    return cpu_.HasKernel(device.empty() ? "/device:CPU:0" : device, op, attrs);
  }

 private:
  std::unique_ptr<Device> host_ = MakeCpuDevice();
  RegistryOracle cpu_{{host_.get()}, KernelRegistry::Global()};
};

std::string AttrsText(const std::vector<Attr>& attrs) {
  std::vector<std::string> texts;
  for (const Attr& a : attrs) texts.push_back(absl::StrCat(a.name, "=", a.value.wire()));
  return absl::StrJoin(texts, "; ");
}

// A node as one line, whatever its id; those of functions too, and what functions give.
std::map<std::string, std::string> Lines(const Graph& g) {
  std::map<std::string, std::string> lines;
  for (NodeId n = 0; n < g.num_node_ids(); ++n) {
    if (!g.alive(n)) continue;
    std::vector<std::string> inputs;
    for (const Output& in : g.inputs(n)) inputs.push_back(g.OutputName(in));
    lines[std::string(g.name(n))] =
        absl::StrCat(g.op_name(n), "(", absl::StrJoin(inputs, ", "), ") @", g.device(n), " ",
                     AttrsText(g.attrs(n).all()));
  }
  for (const FunctionEntry& function : g.functions()) {
    FunctionBody body = ParseFunctionBody(g, function);
    std::sort(body.returns.begin(), body.returns.end(),  // as text files have them
              [](const Attr& a, const Attr& b) { return a.name < b.name; });
    std::vector<std::string> args;
    for (const ArgDef& arg : function.signature->inputs) args.push_back(arg.name);
    lines[absl::StrCat("function ", function.name)] =
        absl::StrCat(absl::StrJoin(args, ", "), " -> ", AttrsText(body.returns), " ^ ",
                     AttrsText(body.control_returns), " ", AttrsText(body.attrs));
    for (const BodyNode& node : body.nodes) {
      lines[absl::StrCat(function.name, ".", node.name)] =
          absl::StrCat(node.op_name(), "(", absl::StrJoin(node.inputs, ", "), ") @", node.device,
                       " ", AttrsText(node.attrs().all()));
    }
  }
  return lines;
}

class PassGolden : public ::testing::TestWithParam<std::string> {
 protected:
  void Optimize(Graph& graph) {
    std::vector<Output> fetches;
    for (const std::string& f : golden_.fetches) fetches.push_back(graph.ParseOutput(f).value());
    CpuEvaluator evaluator(KernelRegistry::Global());
    Oracle oracle;
    const std::unique_ptr<Device> host = MakeCpuDevice();
    PipelineInput input;
    input.fetches = fetches;
    for (const std::string& f : golden_.feeds) input.feeds.insert(graph.FindNode(f));
    input.evaluator = &evaluator;
    input.kernels = &oracle;
    PipelineOptions options;
    options.min_graph_nodes = -1;
    options.verify_each = true;
    options.fast_math = golden_.fast_math;
    options.target = golden_.target;
    options.passes =
        ParsePassSpecs(absl::StrCat("model_pruning,", golden_.pass, ",model_pruning")).value();
    CallSites sites;
    InlineBudget budget;
    LoweringInliner inliner(TopologicalOrder(graph).value(), input, sites, budget);
    input.inliner = &inliner;
    const absl::StatusOr<PipelineReport> unplaced = RunUnplacedPasses(graph, input, options);
    ASSERT_TRUE(unplaced.ok()) << unplaced.status();
    const absl::StatusOr<PipelineReport> report = RunPipeline(graph, input, options);
    ASSERT_TRUE(report.ok()) << report.status();
    const absl::StatusOr<std::vector<PassReport>> bodies = OptimizeBodies(
        graph, input, {{host.get()}, KernelRegistry::Global(), PlacerOptions(), {}}, options);
    ASSERT_TRUE(bodies.ok()) << bodies.status();
    for (const auto* rows : {&unplaced->passes, &report->passes, &*bodies}) {
      for (const PassReport& row : *rows) {
        EXPECT_FALSE(row.failed) << row.name << ": " << row.reason;
        for (const auto& [rewrite, count] : row.rewrites)
          EXPECT_TRUE(CheckRewriteName(absl::StrCat(row.name, ".", rewrite)).ok()) << rewrite;
      }
    }
  }

  const GoldenPass golden_{GetParam()};
};

TEST_P(PassGolden, GraphBecomesTheExpectedOne) {
  Graph graph = LoadGraph(golden_.path.string()).value();
  Optimize(graph);
  std::string out = golden_.path.string();
  out.replace(out.rfind(".in."), 4, ".out.");
  if (std::getenv("TENON_WRITE_GOLDEN") != nullptr) {
    std::ofstream(out) << ExportText(graph).value();
    return;
  }
  const absl::StatusOr<Graph> expected = LoadGraph(out);
  ASSERT_TRUE(expected.ok()) << expected.status() << "; TENON_WRITE_GOLDEN=1 writes the file";
  EXPECT_EQ(Lines(graph), Lines(*expected));
}

// The same numbers before and after.
TEST_P(PassGolden, NumbersStay) {
  const Graph graph = LoadGraph(golden_.path.string()).value();
  std::unique_ptr<Device> host = MakeCpuDevice();
  const std::vector<Session::NamedTensor> feeds = golden_.Feeds(
      graph,
      [](DataType dtype, const PartialShape& shape, int) { return OrdinaryFeed(dtype, shape); });
  std::vector<Tensor> results[2];
  for (int level : {0, 1}) {
    SessionOptions options;
    options.threads = 1;
    options.opt_level = level;
    options.pipeline.min_graph_nodes = -1;
    options.pipeline.fast_math = golden_.fast_math;
    options.pipeline.target = golden_.target;
    std::unique_ptr<Session> session = Session::Create(graph, {host.get()}, options).value();
    absl::StatusOr<std::vector<Tensor>> run = session->Run(feeds, golden_.fetches);
    ASSERT_TRUE(run.ok()) << run.status();
    results[level] = *run;
  }
  const std::string& text = golden_.text;
  if (text.find("RandomUniform") != text.npos && text.find("seed2") == text.npos) return;
  for (size_t i = 0; i < results[0].size(); ++i) {
    const Tensor& a = results[0][i];
    const Tensor& b = results[1][i];
    ASSERT_EQ(a.shape(), b.shape());
    ASSERT_EQ(a.dtype(), b.dtype());
    if (a.dtype() != DataType::kFloat) {
      EXPECT_EQ(std::memcmp(a.data(), b.data(), a.bytes()), 0);
      continue;
    }
    for (int64_t j = 0; j < a.num_elements(); ++j) {
      const float before = a.flat<float>()[j];
      const float after = b.flat<float>()[j];
      const bool same = before == after || (std::isnan(before) && std::isnan(after)) ||
                        std::abs(before - after) <= 1e-5f * std::abs(before) + 1e-6f;
      EXPECT_TRUE(same) << golden_.fetches[i] << "[" << j << "]: " << before << " became " << after;
    }
  }
}

// Passes that one field of RewriterConfig switches share a folder of pairs.
TEST(PassGoldenPairs, EachPassHasOneThatChangesAndOneThatStays) {
  if (std::getenv("TENON_WRITE_GOLDEN") != nullptr) GTEST_SKIP() << "the outputs are not there yet";
  std::map<std::string, std::pair<int, int>> pairs;  // by pass: how many change, how many stay
  for (const std::string& path : GoldenPasses()) {
    std::string out = path;
    out.replace(out.rfind(".in."), 4, ".out.");
    const absl::StatusOr<Graph> after = LoadGraph(out);
    ASSERT_TRUE(after.ok()) << after.status() << "; TENON_WRITE_GOLDEN=1 writes the file";
    const bool same = Lines(LoadGraph(path).value()) == Lines(*after);
    ++(same ? pairs[GoldenPass(path).pass].second : pairs[GoldenPass(path).pass].first);
  }
  for (const PassEntry& entry : PassOrder()) {
    if (!entry.field.empty() || entry.make()->rewrites().empty()) continue;
    EXPECT_GT(pairs[std::string(entry.name)].first, 0) << entry.name;
    EXPECT_GT(pairs[std::string(entry.name)].second, 0) << entry.name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, PassGolden, ::testing::ValuesIn(GoldenPasses()),
                         [](const auto& info) { return GoldenPass(info.param).Name(); });

}  // namespace
}  // namespace tenon
