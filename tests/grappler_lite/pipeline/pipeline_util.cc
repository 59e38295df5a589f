#include "tests/grappler_lite/pipeline/pipeline_util.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"

namespace tenon::testing {

Graph GraphOf(std::vector<std::string> lines) {
  Graph graph;
  const std::string type = attr::Type(DataType::kFloat);
  for (const char* name : {"a", "b"})
    EXPECT_TRUE(graph.AddNode(name, "Placeholder", {}, {{"dtype", type}}).ok());
  for (const std::string& line : lines) {
    const std::vector<std::string> sides = absl::StrSplit(line, " = ");
    const std::vector<std::string> call = absl::StrSplit(absl::StripSuffix(sides[1], ")"), '(');
    std::vector<Output> inputs;
    for (std::string_view input : absl::StrSplit(call[1], ", "))
      inputs.push_back(graph.ParseOutput(input).value());
    EXPECT_TRUE(graph.AddNode(sides[0], call[0], inputs, {{"T", type}}).ok()) << line;
  }
  return graph;
}

absl::StatusOr<PipelineReport> Optimize(Graph& graph, const std::vector<std::string>& fetches,
                                        const PipelineOptions& options,
                                        std::vector<FinalPass*> final_passes) {
  NoKernels kernels;
  std::vector<Output> outputs;
  for (const std::string& fetch : fetches) outputs.push_back(graph.ParseOutput(fetch).value());
  PipelineInput input;
  input.fetches = outputs;
  input.evaluator = &kernels;
  input.kernels = &kernels;
  input.final_passes = std::move(final_passes);
  return RunPipeline(graph, input, options);
}

namespace {

class Break : public Pass {
 public:
  std::vector<RewriteInfo> rewrites() const override {
    return {{"swap", Exactness::kExact}, {"negate", Exactness::kToleranced}};
  }
  absl::StatusOr<bool> Run(PassContext& context) override {
    Graph& g = context.graph;
    bool changed = false;
    for (NodeId n = 0; n < g.num_node_ids(); ++n) {
      if (!g.alive(n) || !context.Visit()) continue;
      if (g.op_name(n) == "Sub" && context.Allow("swap", n)) {
        const Output x = g.data_inputs(n)[0], y = g.data_inputs(n)[1];
        g.SetInput(n, 0, y);
        g.SetInput(n, 1, x);
        changed = true;
      }
      if (g.op_name(n) == "Neg" && context.Allow("negate", n)) {
        g.SetKind(n, "Identity", {{"T", attr::Type(DataType::kFloat)}});
        changed = true;
      }
    }
    return changed;
  }
};

}  // namespace

PassEntry BreakingPass() {
  return {"break", []() -> std::unique_ptr<Pass> { return std::make_unique<Break>(); }, "is wrong"};
}

PipelineOptions Only(std::string_view pass) {
  PipelineOptions options;
  options.custom_passes = {BreakingPass()};
  options.min_graph_nodes = -1;
  options.iterations = 1;
  options.passes = {{std::string(pass), {}}};
  return options;
}

}  // namespace tenon::testing
