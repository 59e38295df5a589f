// Compares the results of a run with what is expected, and reports both as JSON and text.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/cli/model/feeds.h"
#include "executor/cli/options/request_flags.h"
#include "executor/values/compare.h"
#include "executor/values/json.h"
#include "executor/values/text.h"

namespace tenon::cli {

// The tolerance that --rtol, --atol, --max-ulp and --equal-nan describe.
Tolerance ToleranceFrom(const ToleranceFlags& flags);

// The comparison of one output with its --expect.
struct NamedComparison {
  std::string name;
  bool ignored = false;  // the expectation is "(ignored)"; `result` is then empty and ok
  Comparison result;
};

// Compares `values`, which are those of request.fetches, with the expectations. Errors are those of
// a malformed --expect or its file; a difference is no error.
absl::StatusOr<std::vector<NamedComparison>> CompareAll(const RunRequest& request,
                                                        const std::vector<Tensor>& values,
                                                        const ToleranceFlags& flags);
// OK if all comparisons are. Otherwise prints a line to stderr for each that differs and returns
// kMismatch with the first one, marked as printed. `where` stands in front of each line.
absl::Status MismatchStatus(const std::vector<NamedComparison>& comparisons,
                            std::string_view where = "");

// The outputs of the request; elements only of tensors with at most 1024. Outputs without a value
// are left out.
Json FetchesJson(const RunRequest& request, const std::vector<Tensor>& values);
// An object for each comparison: "name", "ok", "max_abs", "max_rel", "max_ulp", "mismatches",
// "ignored" and "problem". Differences are null where nothing could be compared.
Json ComparisonsJson(const std::vector<NamedComparison>& comparisons);
// One line: matches, differs or ignored.
std::string ComparisonLine(const NamedComparison& comparison, const Style& style);

}  // namespace tenon::cli
