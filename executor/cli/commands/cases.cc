#include "executor/cli/commands/cases.h"
#include "executor/cli/passes/pass_report.h"

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "executor/cli/faults/exit_code.h"
#include "executor/cli/faults/interrupt.h"
#include "executor/cli/model/answers.h"
#include "executor/cli/model/model.h"
#include "graph/base/annotate.h"
#include "graph/base/file_bytes.h"
#include "graph/base/status_macros.h"
#include "graph/ir/nodes.h"

namespace tenon::cli {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 28;  // of a file of cases
constexpr std::string_view kCaseForm =
    "a file of cases is an array such as "
    "[{\"feeds\": {\"x\": \"x.npy\"}, \"fetches\": {\"y\": \"y.npy\"}}]";

absl::Status BadCases(const std::string& path, std::string_view message) {
  return WithExit(Exit::kInvalidInput,
                  absl::InvalidArgumentError(absl::StrCat(path, ": ", message)));
}

// The flags of a command line that would run the case alone.
absl::StatusOr<RequestFlags> FlagsOfCase(const Json& json, const RequestFlags& given) {
  const auto wrong = [&](std::string_view key, std::string_view what) {
    return BadCases(given.cases, absl::StrCat("'", key, "' is no ", what));
  };
  const auto spec_of = [&](const std::string& name, const std::string& file) {
    return absl::StrCat(name, "=@",
                        (std::filesystem::path(given.cases).parent_path() / file).string());
  };
  RequestFlags flags = given;
  if (const std::optional<Json> signature = json.Find("signature")) {
    if (!signature->AsString()) return wrong("signature", "name");
    flags.signature = *signature->AsString();
  }
  for (const char* key : {"feeds", "fetches"}) {
    const std::optional<Json> files = json.Find(key);
    if (!files || !files->is_object()) return wrong(key, "object of names and .npy files");
    for (const std::string& name : files->Keys()) {
      const std::optional<std::string> file = files->Find(name)->AsString();
      if (!file) return wrong(absl::StrCat(key, "/", name), "name of a file");
      if (std::string_view(key) == "feeds") {
        flags.inputs.push_back(spec_of(name, *file));
      } else {
        flags.outputs.push_back(name);
        flags.expects.push_back(spec_of(name, *file));
      }
    }
  }
  for (const auto& [key, target] :
       {std::pair("rtol", &flags.rtol), std::pair("atol", &flags.atol)}) {
    const std::optional<Json> number = json.Find(key);
    if (!number || target->has_value()) continue;  // the command line has the last word
    if (!number->AsNumber()) return wrong(key, "number");
    *target = number->AsNumber();
  }
  return flags;
}

struct CaseAnswer {
  RunRequest request;
  std::vector<Tensor> values;
  std::vector<NamedComparison> comparisons;
};

// Runs one case. Results without a value, which no file can hold, are run in every case of the
// signature.
absl::StatusOr<CaseAnswer> RunCase(Workbench& bench, RequestFlags flags) {
  CaseAnswer answer;
  TENON_ASSIGN_OR_RETURN(bench.signature, ChooseSignature(bench.saved, flags, /*needed=*/false));
  for (std::string& name : bench.names().ResultsWithoutValue())
    flags.outputs.push_back(std::move(name));
  TENON_ASSIGN_OR_RETURN(answer.request, ReadRequest(bench.names(), flags));
  TENON_ASSIGN_OR_RETURN(
      Executable * executable,
      PrepareExecutable(bench, flags, answer.request.feed_names, answer.request.fetches));
  TENON_ASSIGN_OR_RETURN(answer.values, bench.session->Run(executable, answer.request.feeds));
  TENON_ASSIGN_OR_RETURN(answer.comparisons, CompareAll(answer.request, answer.values, flags));
  return answer;
}

Json CaseJson(const CaseAnswer& answer, const Signature* signature, bool ok) {
  Json json = Json::Object();
  json.Set("signature", signature == nullptr ? Json() : Json(signature->name))
      .Set("ok", ok)
      .Set("fetches", FetchesJson(answer.request, answer.values))
      .Set("expect", ComparisonsJson(answer.comparisons));
  return json;
}

std::string CaseText(size_t index, const CaseAnswer& answer, const Signature* signature,
                     const Style& style) {
  std::string text = absl::StrCat(style.Dim(absl::StrCat("case ", index)), "  ",
                                  signature == nullptr ? "" : style.Bold(signature->name), "\n");
  for (const NamedComparison& c : answer.comparisons)
    absl::StrAppend(&text, "  ", ComparisonLine(c, style));
  return text;
}

absl::StatusOr<Json> ReadCases(const std::string& path) {
  const absl::StatusOr<FileBytes> file = ReadFile(path, kMaxBytes);
  if (!file.ok()) return WithExit(Exit::kInvalidInput, file.status());
  absl::StatusOr<Json> cases = Json::Parse(file->bytes);
  if (!cases.ok()) {
    return BadCases(path, absl::StrCat("is no JSON: ", cases.status().message(), "; ", kCaseForm));
  }
  if (!cases->is_array()) return BadCases(path, absl::StrCat("is no JSON array; ", kCaseForm));
  return cases;
}

// The begin of messages about a case.
std::string InCase(size_t index, const RequestFlags& flags) {
  return absl::StrCat(flags.cases, ", case ", index, ": ");
}

// The nodes that cases ask for besides results of signatures: no variable that they change may be
// fixed.
std::vector<std::string> NodesAskedFor(const Workbench& bench, const Json& cases,
                                       const RequestFlags& flags) {
  std::vector<std::string> nodes;
  for (size_t i = 0; i < cases.size(); ++i) {
    const absl::StatusOr<RequestFlags> of_case = FlagsOfCase(cases.At(i), flags);
    // RunCases reports it when it comes to the case.
    if (!of_case.ok()) continue;
    for (const std::string& name : of_case->outputs) {
      if (NodeOfOutput(bench.graph(), name) != kNoNode) nodes.push_back(name);
    }
  }
  return nodes;
}

}  // namespace

absl::Status RunCases(Workbench& bench, const RequestFlags& flags, Invocation& invocation) {
  if (!flags.inputs.empty() || !flags.input_files.empty() || !flags.outputs.empty() ||
      !flags.expects.empty()) {
    return UsageError(
        "--cases brings its own feeds and fetches; leave out --input, --inputs, "
        "--output and --expect");
  }
  if (!flags.report.empty() || !flags.save_optimized.empty()) {
    return UsageError(absl::StrCat("--cases: each case may run another graph, and ",
                                   flags.report.empty() ? "--save-optimized" : "--report",
                                   " writes one; run the case alone, with --input and --output"));
  }
  TENON_ASSIGN_OR_RETURN(const Json cases, ReadCases(flags.cases));
  TENON_RETURN_IF_ERROR(InitializeState(bench, flags, NodesAskedFor(bench, cases, flags)));
  Json list = Json::Array();
  absl::Status mismatch;
  int64_t differ = 0;
  // A case may be a graph of its own to optimize and plan.
  const StopOnInterrupt stop(60);
  size_t i = 0;
  for (; i < cases.size() && !Interrupted(); ++i) {
    absl::StatusOr<RequestFlags> of_case = FlagsOfCase(cases.At(i), flags);
    absl::StatusOr<CaseAnswer> answer = of_case.ok() ? RunCase(bench, *std::move(of_case))
                                                     : absl::StatusOr<CaseAnswer>(of_case.status());
    if (!answer.ok()) {
      invocation.doc.Set("cases", std::move(list));
      return Annotate(answer.status(), InCase(i, flags));
    }
    const absl::Status right = MismatchStatus(answer->comparisons, InCase(i, flags));
    if (!right.ok() && differ++ == 0) mismatch = right;
    if (invocation.json()) list.Push(CaseJson(*answer, bench.signature, right.ok()));
    invocation.text += CaseText(i, *answer, bench.signature, invocation.style);
  }
  const auto count = static_cast<int64_t>(i);
  invocation.doc.Set("cases", std::move(list));
  absl::StrAppend(&invocation.text, Plural(count, "case"), ", ",
                  differ == 0 ? invocation.style.Green("all match")
                              : invocation.style.Red(absl::StrCat(differ, " differ")),
                  "\n");
  AddVerified(bench.watchers->verifier(), flags, invocation);
  TENON_RETURN_IF_ERROR(EndOfInterrupted());
  return mismatch;
}

}  // namespace tenon::cli
