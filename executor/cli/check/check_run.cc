// Runs a case in a session of its own. A kernel that is missing is neither right nor wrong: the
// case then counts as unimplemented.

#include "executor/cli/check/check_run.h"

#include <algorithm>
#include <optional>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "executor/cli/check/case_gradients.h"
#include "executor/cli/check/case_inputs.h"
#include "graph/base/status_macros.h"

namespace tenon::cli {
namespace {

// The outcome of a case before anything is compared.
struct Attempt {
  absl::Status status;
  bool no_kernel = false;  // the case needs a kernel that is missing
  std::vector<Tensor> values;
};

// Notes the kernels and passes of plug-ins that took part.
void NotePlugins(Executable& executable, CaseResult& result) {
  std::set<std::pair<std::string, std::string>> kernels;
  for (const PluginKernelReport& kernel : PluginKernelsThatRan(executable))
    kernels.emplace(kernel.plugin, kernel.op);
  result.plugin_kernels.assign(kernels.begin(), kernels.end());
  std::set<std::string> changing;
  for (const PassReport& pass : OptimizerReport(executable).passes) {
    if (!absl::StartsWith(pass.name, "plugin:")) continue;
    if (pass.changed) changing.insert(pass.name);
    if (pass.failed && result.failed_pass.empty())
      result.failed_pass = absl::StrCat(pass.name, ": ", pass.reason);
  }
  result.changing_passes.assign(changing.begin(), changing.end());
}

// The expected gradients are of the second step of a session, after one that computed the loss:
// random ops are at their next numbers then, and variables have been assigned once.
absl::Status RunLoss(Session& session, const GradientTask& task, const CaseInputs& inputs) {
  TENON_ASSIGN_OR_RETURN(Executable* const executable, session.Prepare(inputs.feeds, {task.loss}));
  return session.Run(executable, inputs.values).status();
}

Attempt Try(Graph graph, const CheckCase& c, const Host& host, const CaseOptions& options,
            bool feed_constants, CaseResult& result) {
  Attempt attempt;
  const CaseInputs inputs = feed_constants ? FeedConstants(c, graph) : CaseInputs();
  auto session = Session::Create(std::move(graph), host.devices(), options.session);
  if (!session.ok()) return {session.status(), false, {}};
  if (c.gradients) {
    const absl::Status status = RunLoss(**session, *c.gradients, inputs);
    if (!status.ok()) return {status, absl::IsUnimplemented(status), {}};
  }
  const absl::StatusOr<Executable*> executable = (*session)->Prepare(inputs.feeds, c.fetches);
  if (!executable.ok()) {
    const absl::Status& status = executable.status();
    return {status, absl::IsUnimplemented(status), {}};
  }
  absl::StatusOr<std::vector<Tensor>> values = (*session)->Run(*executable, inputs.values);
  NotePlugins(**executable, result);
  if (!values.ok()) return {values.status(), absl::IsUnimplemented(values.status()), {}};
  attempt.values = *std::move(values);
  return attempt;
}

std::string StatusText(const absl::Status& status) {
  return absl::StrCat(absl::StatusCodeToString(status.code()), ": ", status.message());
}

struct CaseOutcome {
  CaseStatus status = CaseStatus::kPassed;
  std::string detail;
};

// Whether an error's message is about this node: "node 'c000/op' (Conv2D): …", "called at node
// 'c000/op': …", "fetch 'c000/op:0' …". Nodes that a loop is lowered to have names that begin with
// that of the loop.
bool IsAbout(std::string_view message, std::string_view node) {
  return absl::StrContains(message, absl::StrCat("node '", node, "'")) ||
         absl::StrContains(message, absl::StrCat("node '", node, "/")) ||
         absl::StrContains(message, absl::StrCat("fetch '", node, "'")) ||
         absl::StrContains(message, absl::StrCat("fetch '", node, ":"));
}

CaseOutcome JudgeError(const CheckFile& file, const CheckCase& c, const absl::Status& status) {
  if (!c.error) return {CaseStatus::kFailed, StatusText(status)};
  if (status.code() != c.error->code) {
    return {CaseStatus::kFailed,
            absl::StrCat("fails with ", StatusText(status), " where ",
                         absl::StatusCodeToString(c.error->code), " is right")};
  }
  const std::vector<NodeId>& nodes = c.error->nodes;
  if (std::ranges::any_of(nodes,
                          [&](NodeId n) { return IsAbout(status.message(), file.graph.name(n)); }))
    return {};
  const std::string right =
      c.error->any_node || nodes.empty()
          ? "an error of a node that is fetched"
          : absl::StrCat(
                "an error of node '", file.graph.name(nodes[0]), "' (",
                file.graph.op_name(nodes[0]), ")",
                nodes.size() > 1 ? " or of one that shares its state or depends on it" : "");
  return {CaseStatus::kFailed,
          absl::StrCat("fails with ", StatusText(status), " where ", right, " is right")};
}

// Whether the expected message may be about this defect: the shape function refuses the node, the
// value of a Const does not decode, or the message names the same attribute of the node. What else
// import finds, such as inputs that are missing or of another type, is a fault of the file.
bool MayBeExpected(const Graph& graph, const ExpectedError& error, const Defect& defect) {
  if (defect.code == DefectCode::kShape || defect.code == DefectCode::kConst) return true;
  const NodeId n = graph.FindNode(defect.node);
  if (defect.code != DefectCode::kAttr || n == kNoNode || graph.op(n) == nullptr) return false;
  return std::ranges::any_of(graph.op(n)->attrs, [&](const AttrDef& attr) {
    const std::string quoted = absl::StrCat("'", attr.name, "'");
    return absl::StrContains(defect.message, quoted) && absl::StrContains(error.message, quoted);
  });
}

// Judges a case by its defects. A defect of the node that must fail is the expected error; any
// other defect is a failure.
CaseOutcome JudgeDefects(const CheckFile& file, const CheckCase& c) {
  for (const Defect& defect : c.defects) {
    CaseOutcome outcome = JudgeError(file, c, absl::InvalidArgumentError(defect.ToString()));
    if (outcome.status != CaseStatus::kPassed) return outcome;
    if (MayBeExpected(file.graph, *c.error, defect)) continue;
    return {CaseStatus::kFailed,
            absl::StrCat("has the defect ", defect.ToString(), " where ",
                         absl::StatusCodeToString(c.error->code), " of another kind is right")};
  }
  return {};
}

CaseOutcome CompareAll(const CheckFile& file, const CheckCase& c,
                       const std::vector<Tensor>& values) {
  for (const auto& [fetch, node] : c.wants) {
    const absl::StatusOr<Tensor> want = file.graph.ConstValue(node);
    if (!want.ok())
      return {CaseStatus::kFailed,
              absl::StrCat(file.graph.name(node), ": ", want.status().message())};
    const Comparison comparison =
        Compare(values[fetch], *want, c.tolerance.value_or(DefaultTolerance(want->dtype())));
    if (comparison.ok) continue;
    return {CaseStatus::kFailed,
            absl::StrCat(c.fetches[fetch], " ", comparison.problem, " (", comparison.mismatches,
                         " of ", want->num_elements(), " differ)")};
  }
  for (const size_t fetch : c.zeros) {
    if (!IsAllZeros(values[fetch]))
      return {CaseStatus::kFailed,
              absl::StrCat(c.fetches[fetch], " is not zero where there is no gradient")};
  }
  return {};
}

// The result of a case that cannot be run; nothing if it can be run.
std::optional<CaseOutcome> JudgeUnrun(const CheckFile& file, const CheckCase& c) {
  if (!c.malformed.empty())
    return CaseOutcome{CaseStatus::kFailed,
                       c.defects.empty() ? c.malformed : c.defects[0].ToString()};
  if (c.unknown_op) return CaseOutcome{CaseStatus::kUnimplemented, c.defects[0].ToString()};
  if (!c.defects.empty()) return JudgeDefects(file, c);
  return std::nullopt;
}

CaseOutcome Judge(const CheckFile& file, const CheckCase& c, const Attempt& attempt) {
  // Before the expected error is looked at: a missing kernel cannot have failed as expected.
  if (attempt.no_kernel) return {CaseStatus::kUnimplemented, StatusText(attempt.status)};
  if (!attempt.status.ok()) return JudgeError(file, c, attempt.status);
  if (c.error)
    return {CaseStatus::kFailed,
            absl::StrCat("runs where ", absl::StatusCodeToString(c.error->code), " is right")};
  return CompareAll(file, c, attempt.values);
}

// Prepares the graph of a case: adds gradients if it is about them.
absl::StatusOr<Graph> PreparedGraph(const CheckFile& file, CheckCase& c) {
  Graph graph = GraphOfCase(file, c);
  if (c.gradients) TENON_RETURN_IF_ERROR(AddCaseGradients(graph, c));
  return graph;
}

CaseOutcome RunAndJudge(const CheckFile& file, const CheckCase& original, const Host& host,
                        const CaseOptions& options, CaseResult& result) {
  CheckCase c = original;
  const absl::StatusOr<Graph> graph = PreparedGraph(file, c);
  if (!graph.ok()) {
    // An op without a gradient is as one without a kernel.
    const bool missing =
        absl::IsUnimplemented(graph.status()) || (c.gradients && absl::IsNotFound(graph.status()));
    return Judge(file, c, {graph.status(), missing, {}});
  }
  if (c.fetches.empty()) return {};  // no gradient, as is right
  Attempt attempt = Try(*graph, c, host, options, options.feed_constants, result);
  // Some kernels need an axis that is a constant.
  if (attempt.no_kernel && options.feed_constants) {
    result = CaseResult();  // what plug-ins did counts for the attempt that is judged
    attempt = Try(*graph, c, host, options, false, result);
  }
  return Judge(file, c, attempt);
}

}  // namespace

std::string_view CaseStatusName(CaseStatus status) {
  switch (status) {
    case CaseStatus::kPassed:
      return "passed";
    case CaseStatus::kFailed:
      return "failed";
    case CaseStatus::kUnimplemented:
      return "unimplemented";
    case CaseStatus::kCrashed:
      return "crashed";
  }
  return "failed";
}

CaseResult RunCase(const CheckFile& file, const CheckCase& c, const Host& host,
                   const CaseOptions& options) {
  CaseResult result;
  std::optional<CaseOutcome> outcome = JudgeUnrun(file, c);
  if (!outcome) outcome = RunAndJudge(file, c, host, options, result);
  result.status = outcome->status;
  result.detail = std::move(outcome->detail);
  return result;
}

}  // namespace tenon::cli
