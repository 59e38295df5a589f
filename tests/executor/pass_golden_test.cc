// Each built-in pass on small graphs: tests/golden/passes/<pass>/<case>.in.pbtxt must become
// <case>.out.pbtxt. The first lines of an input say what is fetched and fed
// (and "fast-math: on", "target: tensorflow"). With
// TENON_WRITE_GOLDEN=1 the outputs are written instead; read them before you keep them.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "executor/body_optimizer.h"
#include "executor/evaluator.h"
#include "executor/lowering/call_inliner.h"
#include "executor/session.h"
#include "graph/function_body.h"
#include "graph/io.h"
#include "grappler_lite/pipeline.h"
#include "gtest/gtest.h"
#include "tests/executor/golden_feeds_util.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;
constexpr char kFolder[] = "tests/golden/passes";

std::string ReadFile(const fs::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// Words after "# key:" in the file's comments.
std::vector<std::string> Header(const std::string& text, const std::string& key) {
  for (std::string_view line : absl::StrSplit(text, '\n')) {
    const std::string prefix = "# " + key + ": ";
    if (line.substr(0, prefix.size()) == prefix)
      return absl::StrSplit(line.substr(prefix.size()), ' ');
  }
  return {};
}

// Kernels as the CPU has them; an APU without any.
class Oracle : public KernelOracle {
 public:
  bool HasKernel(std::string_view device, std::string_view op,
                 const AttrSet& attrs) const override {
    return cpu_.HasKernel(device.empty() ? "/device:CPU:0" : device, op, attrs);
  }

 private:
  std::unique_ptr<Device> host_ = MakeCpuDevice();
  RegistryOracle cpu_{{host_.get()}};
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
          absl::StrCat(node.op_name, "(", absl::StrJoin(node.inputs, ", "), ") @", node.device, " ",
                       AttrsText(node.attrs));
    }
  }
  return lines;
}

class PassGolden : public testing::TestWithParam<std::string> {
 protected:
  PassGolden()
      : path_(GetParam()),
        text_(ReadFile(path_)),
        fetches_(Header(text_, "fetch")),
        feeds_(Header(text_, "feed")) {}

  PipelineReport Optimize(Graph& graph, bool fast_math = false) {
    std::vector<Output> fetches;
    for (const std::string& f : fetches_) fetches.push_back(graph.ParseOutput(f).value());
    Workers workers(1);
    CpuEvaluator evaluator(workers);
    Oracle oracle;
    const std::unique_ptr<Device> host = MakeCpuDevice();
    PipelineInput input;
    input.fetches = fetches;
    for (const std::string& f : feeds_) input.feeds.insert(graph.FindNode(f));
    input.evaluator = &evaluator;
    input.kernels = &oracle;
    PipelineOptions options;
    options.min_graph_nodes = -1;
    options.verify_each = true;
    options.fast_math = fast_math;
    options.target = target_;
    const std::string pass = path_.parent_path().filename().string();
    options.passes = ParsePassSpecs(absl::StrCat("model_pruning,", pass, ",model_pruning")).value();
    CallSites sites;
    LoweringInliner inliner(TopologicalOrder(graph).value(), FetchedNodes(fetches), sites);
    input.inliner = &inliner;
    absl::StatusOr<PipelineReport> unplaced = RunUnplacedPasses(graph, input, options);
    EXPECT_TRUE(unplaced.ok()) << unplaced.status();
    absl::StatusOr<PipelineReport> report = RunPipeline(graph, input, options);
    EXPECT_TRUE(report.ok()) << report.status();
    const absl::StatusOr<std::vector<PassReport>> bodies =
        OptimizeBodies(graph, input, {{host.get()}, PlacerOptions(), {}}, options);
    EXPECT_TRUE(bodies.ok()) << bodies.status();
    report->passes.insert(report->passes.end(), bodies->begin(), bodies->end());
    report->passes.insert(report->passes.begin(), unplaced->passes.begin(), unplaced->passes.end());
    for (const PassReport& row : report->passes) {
      EXPECT_FALSE(row.failed) << row.name << ": " << row.reason;
      for (const auto& [rewrite, count] : row.rewrites)
        EXPECT_TRUE(CheckRewriteName(absl::StrCat(row.name, ".", rewrite)).ok()) << rewrite;
    }
    return report.ok() ? *report : PipelineReport();
  }

  static absl::flat_hash_set<NodeId> FetchedNodes(absl::Span<const Output> fetches) {
    absl::flat_hash_set<NodeId> nodes;
    for (const Output& o : fetches) nodes.insert(o.node);
    return nodes;
  }

  fs::path path_;
  std::string text_;
  std::vector<std::string> fetches_, feeds_;
  bool fast_math_ = !Header(text_, "fast-math").empty();
  Target target_ = Header(text_, "target").empty() ? Target::kTenon : Target::kTensorFlow;
};

TEST_P(PassGolden, GraphBecomesTheExpectedOne) {
  Graph graph = LoadGraph(path_.string()).value();
  Optimize(graph, fast_math_);
  std::string out = path_.string();
  out.replace(out.rfind(".in."), 4, ".out.");
  if (std::getenv("TENON_WRITE_GOLDEN") != nullptr) {
    std::ofstream(out) << ExportText(graph).value();
    return;
  }
  EXPECT_EQ(Lines(graph), Lines(LoadGraph(out).value()));
}

// The same numbers before and after.
TEST_P(PassGolden, NumbersStay) {
  const Graph graph = LoadGraph(path_.string()).value();
  std::unique_ptr<Device> host = MakeCpuDevice();
  std::vector<Session::NamedTensor> feeds;
  for (const std::string& name : feeds_) {
    const NodeId n = graph.FindNode(name);
    feeds.emplace_back(
        name, OrdinaryFeed(graph.output_type({n, 0}), graph.attr(n, "shape")->AsShape().value()));
  }
  std::vector<Tensor> results[2];
  for (int level : {0, 1}) {
    SessionOptions options;
    options.threads = 1;
    options.opt_level = level;
    options.pipeline.min_graph_nodes = -1;
    options.pipeline.fast_math = fast_math_;
    options.pipeline.target = target_;
    std::unique_ptr<Session> session = Session::Create(graph, {host.get()}, options).value();
    absl::StatusOr<std::vector<Tensor>> run = session->Run(feeds, fetches_);
    ASSERT_TRUE(run.ok()) << run.status();
    results[level] = *run;
  }
  if (text_.find("RandomUniform") != std::string::npos && text_.find("seed2") == std::string::npos)
    return;
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
      EXPECT_TRUE(same) << fetches_[i] << "[" << j << "]: " << before << " became " << after;
    }
  }
}

std::vector<std::string> Cases() {
  std::vector<std::string> cases;
  for (const auto& entry : fs::recursive_directory_iterator(kFolder)) {
    const std::string path = entry.path().string();
    if (path.ends_with(".in.pbtxt")) cases.push_back(path);
  }
  std::sort(cases.begin(), cases.end());
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, PassGolden, testing::ValuesIn(Cases()), [](const auto& info) {
  const fs::path path(info.param);
  return absl::StrCat(path.parent_path().filename().string(), "_", path.stem().stem().string());
});

}  // namespace
}  // namespace tenon
