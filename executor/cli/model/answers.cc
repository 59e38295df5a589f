#include "executor/cli/model/answers.h"

#include "absl/strings/str_cat.h"
#include "executor/cli/faults/exit_code.h"
#include "executor/cli/options/common_flags.h"
#include "executor/cli/tensors/spec.h"
#include "executor/values/element.h"
#include "executor/values/tensor_text.h"
#include "graph/base/annotate.h"
#include "graph/base/status_macros.h"

namespace tenon::cli {
namespace {

constexpr int64_t kMaxJsonValues = 1024;  // larger tensors go to files

Json FetchJson(const NamedSink& target, const Tensor& value) {
  Json json = Json::Object();
  json.Set("name", target.name)
      .Set("dtype", DataTypeShortName(value.dtype()))
      .Set("shape", Json::ArrayOf(value.shape().dims()));
  const bool printable = IsMemcpyable(value.dtype()) || value.dtype() == DataType::kString;
  if (printable && value.num_elements() <= kMaxJsonValues) {
    Json values = Json::Array();
    for (int64_t i = 0; i < value.num_elements(); ++i) values.Push(ElementJson(value, i));
    json.Set("values", std::move(values));
  }
  json.Set("sink", target.sink);
  return json;
}

Json ComparisonJson(const NamedComparison& c) {
  const bool comparable = c.result.comparable;
  Json json = Json::Object();
  json.Set("name", c.name)
      .Set("ok", c.result.ok)
      .Set("max_abs", comparable ? Json(c.result.max_abs) : Json())
      .Set("max_rel", comparable ? Json(c.result.max_rel) : Json())
      .Set("max_ulp", comparable ? Json(c.result.max_ulp) : Json())
      .Set("mismatches", c.result.mismatches);
  if (c.ignored) json.Set("ignored", true);
  if (!c.result.ok) json.Set("problem", c.result.problem);
  return json;
}

std::string MismatchText(const NamedComparison& c) {
  return absl::StrCat("--expect ", c.name, ": ", c.result.problem, " (",
                      Plural(c.result.mismatches, "mismatch"),
                      c.result.comparable ? absl::StrCat(", max_abs ", c.result.max_abs) : "", ")",
                      c.result.nan_both_sides ? "; --equal-nan lets NaN equal NaN" : "");
}

}  // namespace

// With --max-ulp alone only floating-point steps count: the defaults of --rtol and --atol would let
// more pass than the flag asks for.
Tolerance ToleranceFrom(const ToleranceFlags& flags) {
  Tolerance tolerance;
  const bool ulp_only = flags.max_ulp && !flags.rtol && !flags.atol;
  tolerance.rtol = flags.rtol.value_or(ulp_only ? 0 : tolerance.rtol);
  tolerance.atol = flags.atol.value_or(ulp_only ? 0 : tolerance.atol);
  tolerance.max_ulp = flags.max_ulp;
  tolerance.equal_nan = flags.equal_nan;
  return tolerance;
}

absl::StatusOr<std::vector<NamedComparison>> CompareAll(const RunRequest& request,
                                                        const std::vector<Tensor>& values,
                                                        const ToleranceFlags& flags) {
  const Tolerance tolerance = ToleranceFrom(flags);
  std::vector<NamedComparison> comparisons;
  for (const Expectation& e : request.expectations) {
    NamedComparison comparison{e.name, IsIgnoredSpec(e.spec), {}};
    if (!comparison.ignored) {
      const Tensor& got = values[e.fetch];
      absl::StatusOr<Tensor> want = ParseSpec(e.spec, {got.dtype(), got.shape()});
      if (!want.ok()) return Annotate(want.status(), absl::StrCat("--expect ", e.name, ": "));
      comparison.result = Compare(got, *want, tolerance);
    }
    comparisons.push_back(std::move(comparison));
  }
  return comparisons;
}

absl::Status MismatchStatus(const std::vector<NamedComparison>& comparisons,
                            std::string_view where) {
  int64_t wrong = 0;
  std::string first;
  for (const NamedComparison& c : comparisons) {
    if (c.result.ok) continue;
    const std::string line = absl::StrCat(where, MismatchText(c));
    PrintErrorLine(line);
    if (wrong++ == 0) first = line;
  }
  if (wrong == 0) return absl::OkStatus();
  if (wrong > 1) absl::StrAppend(&first, "; ", wrong, " of ", comparisons.size(), " differ");
  return AlreadyPrinted(WithExit(Exit::kMismatch, absl::FailedPreconditionError(first)));
}

Json FetchesJson(const RunRequest& request, const std::vector<Tensor>& values) {
  Json fetches = Json::Array();
  for (size_t i = 0; i < request.outputs.size(); ++i) {
    if (values[i].initialized()) fetches.Push(FetchJson(request.outputs[i], values[i]));
  }
  return fetches;
}

Json ComparisonsJson(const std::vector<NamedComparison>& comparisons) {
  Json array = Json::Array();
  for (const NamedComparison& c : comparisons) array.Push(ComparisonJson(c));
  return array;
}

std::string ComparisonLine(const NamedComparison& c, const Style& style) {
  if (c.ignored) return absl::StrCat(style.Dim("ignored"), " ", c.name, "\n");
  if (!c.result.ok) return absl::StrCat(style.Red("differs"), " ", c.name, "\n");
  return absl::StrCat(style.Green("matches"), " ", c.name, "  max_abs ", c.result.max_abs,
                      ", max_ulp ", c.result.max_ulp, "\n");
}

}  // namespace tenon::cli
