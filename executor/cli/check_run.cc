#include "executor/cli/check_run.h"

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"

namespace tenon::cli {
namespace {

// What a case came to before anything is compared.
struct Attempt {
  absl::Status status;
  bool no_kernel = false;  // it could not even be prepared for lack of a kernel
  std::vector<Tensor> values;
};

Attempt Try(const CheckFile& file, const CheckCase& c, const Host& host,
            const SessionOptions& options) {
  Attempt attempt;
  auto session = Session::Create(GraphOfCase(file, c), host.devices(), options);
  if (!session.ok()) return {session.status(), false, {}};
  const absl::StatusOr<Executable*> executable = (*session)->Prepare({}, c.fetches);
  if (!executable.ok()) {
    const absl::Status& status = executable.status();
    return {status, absl::IsUnimplemented(status), {}};
  }
  absl::StatusOr<std::vector<Tensor>> values = (*session)->Run(*executable, {});
  if (!values.ok()) return {values.status(), absl::IsUnimplemented(values.status()), {}};
  attempt.values = *std::move(values);
  return attempt;
}

std::string StatusText(const absl::Status& status) {
  return absl::StrCat(absl::StatusCodeToString(status.code()), ": ", status.message());
}

CaseResult JudgeError(const CheckCase& c, const absl::Status& status) {
  if (!c.error) return {CaseStatus::kFailed, StatusText(status)};
  if (status.code() == *c.error) return {};
  return {CaseStatus::kFailed, absl::StrCat("fails with ", StatusText(status), " where ",
                                            absl::StatusCodeToString(*c.error), " is right")};
}

CaseResult CompareAll(const CheckFile& file, const CheckCase& c,
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
  return {};
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
                   const SessionOptions& options) {
  if (!c.malformed.empty()) return {CaseStatus::kFailed, c.defect.empty() ? c.malformed : c.defect};
  if (c.unknown_op) return {CaseStatus::kUnimplemented, c.defect};
  if (!c.defect.empty()) return JudgeError(c, absl::InvalidArgumentError(c.defect));
  const Attempt attempt = Try(file, c, host, options);
  if (attempt.no_kernel) return {CaseStatus::kUnimplemented, StatusText(attempt.status)};
  if (!attempt.status.ok()) return JudgeError(c, attempt.status);
  if (c.error)
    return {CaseStatus::kFailed,
            absl::StrCat("runs where ", absl::StatusCodeToString(*c.error), " is right")};
  return CompareAll(file, c, attempt.values);
}

}  // namespace tenon::cli
