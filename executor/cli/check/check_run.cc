#include "executor/cli/check/check_run.h"

#include <optional>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "executor/cli/check/case_inputs.h"
#include "graph/base/status_macros.h"

namespace tenon::cli {
namespace {

// What a case came to before anything is compared.
struct Attempt {
  absl::Status status;
  bool no_kernel = false;  // it could not even be prepared for lack of a kernel
  std::vector<Tensor> values;
};

// What plug-ins had to do with it.
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

Attempt Try(const CheckFile& file, const CheckCase& c, const Host& host, const CaseOptions& options,
            bool feed_constants, CaseResult& result) {
  Attempt attempt;
  Graph graph = GraphOfCase(file, c);
  const CaseInputs inputs = feed_constants ? FeedConstants(c, graph) : CaseInputs();
  auto session = Session::Create(std::move(graph), host.devices(), options.session);
  if (!session.ok()) return {session.status(), false, {}};
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

struct Verdict {
  CaseStatus status = CaseStatus::kPassed;
  std::string detail;
};

Verdict JudgeError(const CheckCase& c, const absl::Status& status) {
  if (!c.error) return {CaseStatus::kFailed, StatusText(status)};
  if (status.code() == *c.error) return {};
  return {CaseStatus::kFailed, absl::StrCat("fails with ", StatusText(status), " where ",
                                            absl::StatusCodeToString(*c.error), " is right")};
}

Verdict CompareAll(const CheckFile& file, const CheckCase& c, const std::vector<Tensor>& values) {
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
  return {};
}

// Of a case that cannot be run; null if it can.
std::optional<Verdict> JudgeUnrun(const CheckCase& c) {
  if (!c.malformed.empty())
    return Verdict{CaseStatus::kFailed, c.defect.empty() ? c.malformed : c.defect};
  if (c.unknown_op) return Verdict{CaseStatus::kUnimplemented, c.defect};
  if (!c.defect.empty()) return JudgeError(c, absl::InvalidArgumentError(c.defect));
  return std::nullopt;
}

Verdict Judge(const CheckFile& file, const CheckCase& c, const Attempt& attempt) {
  if (attempt.no_kernel) return {CaseStatus::kUnimplemented, StatusText(attempt.status)};
  if (!attempt.status.ok()) return JudgeError(c, attempt.status);
  if (c.error)
    return {CaseStatus::kFailed,
            absl::StrCat("runs where ", absl::StatusCodeToString(*c.error), " is right")};
  return CompareAll(file, c, attempt.values);
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
  std::optional<Verdict> verdict = JudgeUnrun(c);
  if (!verdict) {
    Attempt attempt = Try(file, c, host, options, options.feed_constants, result);
    // Some kernels ask for an axis that is known.
    if (attempt.no_kernel && options.feed_constants)
      attempt = Try(file, c, host, options, false, result);
    verdict = Judge(file, c, attempt);
  }
  result.status = verdict->status;
  result.detail = std::move(verdict->detail);
  return result;
}

}  // namespace tenon::cli
