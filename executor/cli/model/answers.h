// What a run answered: compared with what is expected, and told as JSON and text.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/cli/model/feeds.h"
#include "executor/cli/options/request_flags.h"
#include "executor/cli/tensors/expect.h"
#include "executor/values/json.h"
#include "executor/values/text.h"

namespace tenon::cli {

// What --rtol, --atol, --max-ulp and --equal-nan say.
Tolerance ToleranceFrom(const ToleranceFlags& flags);

struct NamedComparison {
  std::string name;
  bool ignored = false;
  Comparison result;
};

// The values of request.fetches with the expectations, as --rtol, --atol, --max-ulp and --equal-nan
// say.
absl::StatusOr<std::vector<NamedComparison>> CompareAll(const RunRequest& request,
                                                        const std::vector<Tensor>& values,
                                                        const ToleranceFlags& flags);
// kMismatch with the first that differs; a line on stderr for each. `where` is what they begin
// with.
absl::Status Verdict(const std::vector<NamedComparison>& comparisons, std::string_view where = "");

// The outputs of the request, with their elements where they are few.
Json FetchesJson(const RunRequest& request, const std::vector<Tensor>& values);
Json ComparisonsJson(const std::vector<NamedComparison>& comparisons);
std::string ComparisonLine(const NamedComparison& comparison, const Style& style);

}  // namespace tenon::cli
