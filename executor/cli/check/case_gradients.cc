// The gradients become the fetches of the case.
#include "executor/cli/check/case_gradients.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "executor/values/compare.h"
#include "graph/base/status_macros.h"
#include "graph/gradients/gradients.h"

namespace tenon::cli {
namespace {

absl::StatusOr<Output> OutputNamed(const Graph& graph, const std::string& name) {
  absl::StatusOr<Output> output = graph.ParseOutput(name);
  if (output.ok()) return output;
  return absl::InvalidArgumentError(output.status().message());
}

}  // namespace

absl::Status AddCaseGradients(Graph& graph, CheckCase& c) {
  const GradientTask& task = *c.gradients;
  GradientRequest request;
  TENON_ASSIGN_OR_RETURN(request.ys.emplace_back(), OutputNamed(graph, task.loss));
  for (const std::string& name : task.wrt) {
    TENON_ASSIGN_OR_RETURN(request.xs.emplace_back(), OutputNamed(graph, name));
  }
  TENON_ASSIGN_OR_RETURN(GraphShapes shapes, GraphShapes::Infer(graph));
  TENON_ASSIGN_OR_RETURN(const std::vector<Output> gradients,
                         AddDenseGradients(graph, shapes, {}, request));
  std::vector<size_t> fetch_of(gradients.size());
  c.fetches.clear();
  for (size_t i = 0; i < gradients.size(); ++i) {
    fetch_of[i] = c.fetches.size();
    if (gradients[i].node != kNoNode) {
      if (!task.exists[i]) c.zeros.push_back(c.fetches.size());
      c.fetches.push_back(graph.OutputName(gradients[i]));
    } else if (task.exists[i]) {
      return absl::FailedPreconditionError(
          absl::StrCat("there is no gradient for '", task.wrt[i], "' where one is right"));
    }
  }
  for (auto& [index, node] : c.wants) index = fetch_of[index];
  return absl::OkStatus();
}

bool IsAllZeros(const Tensor& tensor) {
  absl::StatusOr<Tensor> zeros = Tensor::Allocate(tensor.dtype(), tensor.shape());
  if (!zeros.ok() || !IsMemcpyable(tensor.dtype())) return false;
  if (zeros->bytes() > 0) std::memset(zeros->data(), 0, zeros->bytes());
  return Compare(tensor, *zeros, Tolerance{.rtol = 0, .atol = 0}).ok;
}

}  // namespace tenon::cli
