// Every case of every self-checking op graph in tests/golden/ops, node by node through the eager C
// API. TENON_OP_CASES names another folder or a file.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "executor/api/base/attr_checks.h"
#include "executor/cli/check/check_case.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/op_defs/op_facts.h"
#include "graph/wire/versions.h"
#include "tensorflow/c/eager/c_api_experimental.h"
#include "tests/executor/api/eager/eager_util.h"
#include "tests/support/paths.h"

namespace tenon::eager {
namespace {

std::vector<std::string> CaseFiles() {
  const char* const place = std::getenv("TENON_OP_CASES");
  const std::string root = place != nullptr ? place : tenon::testing::Golden("ops");
  if (std::filesystem::is_regular_file(root)) return {root};
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(root)) {
    const std::string name = entry.path().filename();
    if (name.find(".pbtxt") != std::string::npos) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// References, and nodes that are alive or dead, are of graphs alone.
bool IsOfGraphsAlone(const Graph& graph, NodeId n) {
  const NodeTypes& types = graph.kind(n).types;
  return IsControlFlow(graph.facts(n)) ||
         std::any_of(types.inputs.begin(), types.inputs.end(), IsRef) ||
         std::any_of(types.outputs.begin(), types.outputs.end(), IsRef);
}

// Executes the nodes of one case, each in its turn.
class CaseRunner {
 public:
  explicit CaseRunner(const Graph& graph) : graph_(graph) {}

  absl::Status AddFunctions() {
    for (const FunctionEntry& function : graph_.functions()) {
      CStatus status;
      TFE_ContextAddFunctionDef(context_.get(), function.wire.data(), function.wire.size(),
                                status.get());
      TENON_RETURN_IF_ERROR(status.ToStatus());
    }
    return absl::OkStatus();
  }

  absl::Status Execute(NodeId n) {
    CStatus status;
    const Op op(TFE_NewOp(context_.get(), std::string(graph_.op_name(n)).c_str(), status.get()));
    TENON_RETURN_IF_ERROR(status.ToStatus());
    for (const Attr& attr : graph_.attrs(n).all()) {
      const std::string_view wire = attr.value.wire();
      TFE_OpSetAttrValueProto(op.get(), std::string(attr.name).c_str(), wire.data(), wire.size(),
                              status.get());
      TENON_RETURN_IF_ERROR(status.ToStatus());
    }
    for (const Output& input : graph_.data_inputs(n)) {
      TFE_OpAddInput(op.get(), values_.at({input.node, input.port}).get(), status.get());
      TENON_RETURN_IF_ERROR(status.ToStatus());
    }
    std::vector<TFE_TensorHandle*> results(graph_.num_outputs(n));
    int count = graph_.num_outputs(n);
    TFE_Execute(op.get(), results.data(), &count, status.get());
    TENON_RETURN_IF_ERROR(status.ToStatus());
    for (int i = 0; i < count; ++i) values_[{n, i}] = Handle(results[i]);
    return absl::OkStatus();
  }

  absl::StatusOr<Tensor> Value(Output output) {
    CStatus status;
    TF_Tensor* const value =
        TFE_TensorHandleResolve(values_.at({output.node, output.port}).get(), status.get());
    TENON_RETURN_IF_ERROR(status.ToStatus());
    Tensor tensor = value->value();
    TF_DeleteTensor(value);
    return tensor;
  }

 private:
  const Graph& graph_;
  const ContextPointer context_ = NewContext();
  std::map<std::pair<NodeId, int>, Handle> values_;
};

// The nodes that the fetches need, in an order of execution.
absl::StatusOr<std::vector<NodeId>> NodesOf(const Graph& graph, const cli::CheckCase& c) {
  TENON_ASSIGN_OR_RETURN(std::vector<NodeId> order, TopologicalOrder(graph));
  std::vector<bool> needed(graph.num_node_ids(), false);
  for (const std::string& fetch : c.fetches) {
    TENON_ASSIGN_OR_RETURN(const Output output, graph.ParseOutput(fetch));
    needed[output.node] = true;
  }
  for (auto n = order.rbegin(); n != order.rend(); ++n) {
    if (!needed[*n]) continue;
    for (const Output& input : graph.inputs(*n)) needed[input.node] = true;
  }
  std::erase_if(order, [&](NodeId n) { return !needed[n]; });
  return order;
}

// What is wrong; empty if the case is right.
std::string RunCase(const Graph& graph, const cli::CheckCase& c) {
  const absl::StatusOr<std::vector<NodeId>> nodes = NodesOf(graph, c);
  if (!nodes.ok()) return c.error.has_value() ? "" : nodes.status().ToString();
  if (std::any_of(nodes->begin(), nodes->end(),
                  [&](NodeId n) { return IsOfGraphsAlone(graph, n); }))
    return "";
  CaseRunner runner(graph);
  absl::Status status = runner.AddFunctions();
  for (size_t i = 0; i < nodes->size() && status.ok(); ++i) status = runner.Execute((*nodes)[i]);
  // Graphs of an old producer may have ops that were removed since: no op that is executed alone
  // is.
  const bool removed = std::any_of(nodes->begin(), nodes->end(), [&](NodeId n) {
    return !api::CheckDeprecation(*graph.op(n), kGraphDefVersion).ok();
  });
  if (removed) return absl::IsUnimplemented(status) ? "" : status.ToString();
  if (c.error.has_value()) return status.ok() ? "it runs, though it should fail" : "";
  if (!status.ok()) return status.ToString();
  for (const auto& [fetch, want] : c.wants) {
    const absl::StatusOr<Tensor> got = runner.Value(*graph.ParseOutput(c.fetches[fetch]));
    if (!got.ok()) return got.status().ToString();
    const cli::Comparison result = cli::Compare(
        *got, *graph.ConstValue(want), c.tolerance.value_or(cli::DefaultTolerance(got->dtype())));
    if (!result.ok) return absl::StrCat(c.fetches[fetch], " ", result.problem);
  }
  return "";
}

class EagerOpCases : public ::testing::TestWithParam<std::string> {};

TEST_P(EagerOpCases, GiveTensorFlowsAnswers) {
  const absl::StatusOr<cli::CheckFile> file = cli::ReadCheckFile(GetParam(), {});
  if (!file.ok()) return;  // the import refuses the file as a whole, as it should
  for (const cli::CheckCase& c : file->cases) {
    if (!c.defects.empty() || !c.malformed.empty()) continue;
    const std::string wrong = RunCase(cli::GraphOfCase(*file, c), c);
    // The ops whose weights must be constants, which an op that is executed alone has not.
    if (absl::StrContains(GetParam(), "TenonCoded") &&
        absl::StartsWith(wrong, "UNIMPLEMENTED: weights that are no constant are not built"))
      continue;
    EXPECT_EQ(wrong, "") << c.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, EagerOpCases, ::testing::ValuesIn(CaseFiles()), [](const auto& info) {
  const std::string name = std::filesystem::path(info.param).filename();
  return name.substr(0, name.find('.'));
});

}  // namespace
}  // namespace tenon::eager
