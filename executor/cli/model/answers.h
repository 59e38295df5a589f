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

// The tolerance that --rtol, --atol, --max-ulp and --equal-nan describe. If --max-ulp is given, and
// neither --rtol nor --atol, both of these are 0. Otherwise Tolerance has their defaults.
Tolerance ToleranceFrom(const ToleranceFlags& flags);

// The comparison of one output with its --expect.
struct NamedComparison {
  std::string name;      // the output, as --expect names it
  bool ignored = false;  // the expectation is "(ignored)"; `result` is then empty and ok
  Comparison result;
};

// Compares `values`, the values of request.fetches in their order, with request.expectations.
// Returns one comparison for each expectation, in their order. Fetches without an expectation are
// not compared. A difference is no error. Errors name the --expect, and are those of ParseSpec.
absl::StatusOr<std::vector<NamedComparison>> CompareAll(const RunRequest& request,
                                                        const std::vector<Tensor>& values,
                                                        const ToleranceFlags& flags);
// OK if all comparisons are ok. Otherwise prints a line to stderr for each that is not, and returns
// kMismatch, marked as printed. Its message is the first line; if there are more lines, the number
// of all lines and of all comparisons follows: "; 2 of 3 differ".
// Each line begins with `where`, which brings its own separator: "cases.json, case 3: ".
absl::Status MismatchStatus(const std::vector<NamedComparison>& comparisons,
                            std::string_view where = "");

// An array with an object for each of request.outputs: "name", "dtype", "shape", "values" and
// "sink". `values` are the values of request.fetches in their order. "values" is missing if the
// tensor has more than 1024 elements, or resources or variants. An output that is a node without
// outputs has no value; the array leaves it out.
Json FetchesJson(const RunRequest& request, const std::vector<Tensor>& values);
// An array with an object for each comparison: "name", "ok", "max_abs", "max_rel", "max_ulp" and
// "mismatches". An ignored one has "ignored": true too, and one that is not ok has "problem".
// "max_abs", "max_rel" and "max_ulp" are null where types or shapes differ.
Json ComparisonsJson(const std::vector<NamedComparison>& comparisons);
// One line with its line end: "matches", "differs" or "ignored", then the name and, if it matches,
// max_abs and max_ulp.
std::string ComparisonLine(const NamedComparison& comparison, const Style& style);

}  // namespace tenon::cli
