#include "executor/cli/passes/pass_report.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "graph/base/one_line.h"

namespace tenon::cli {
namespace {

std::string Delta(int64_t before, int64_t after) {
  if (before == after) return absl::StrCat(after);
  return absl::StrFormat("%d (%+d)", after, after - before);
}

Json PassJson(const PassReport& pass) {
  Json rewrites = Json::Object();
  for (const auto& [name, count] : pass.rewrites) rewrites.Set(name, count);
  Json json = Json::Object();
  json.Set("name", pass.name)
      .Set("iteration", pass.iteration)
      .Set("changed", pass.changed)
      .Set("skipped", pass.skipped)
      .Set("failed", pass.failed)
      .Set("left_undone", pass.left_undone)
      .Set("reason", OneLine(pass.reason))
      .Set("time_us", pass.time_us)
      .Set("nodes_before", pass.nodes_before)
      .Set("nodes_after", pass.nodes_after)
      .Set("edges_before", pass.edges_before)
      .Set("edges_after", pass.edges_after)
      .Set("bytes_before", pass.bytes_before)
      .Set("bytes_after", pass.bytes_after)
      .Set("budget_spent", pass.budget_spent)
      .Set("rewrites", std::move(rewrites));
  if (!pass.function.empty()) json.Set("function", pass.function);
  return json;
}

std::string WhatText(const PassReport& pass, const Style& style) {
  if (pass.failed) return style.Red(OneLine(pass.reason));
  if (pass.left_undone) return style.Yellow(OneLine(pass.reason));
  if (pass.skipped) return style.Dim(absl::StrCat("skipped: ", OneLine(pass.reason)));
  const std::string rewrites = RewritesText(pass);
  std::string what =
      rewrites.empty() ? (pass.changed ? "changed" : style.Dim("nothing to do")) : rewrites;
  if (pass.budget_spent.empty()) return what;
  return absl::StrCat(what, style.Yellow(absl::StrCat("; stopped after ", pass.budget_spent)));
}

}  // namespace

void AddVerified(const NumericVerifier* verifier, const CompileFlags& flags,
                 Invocation& invocation) {
  if (verifier == nullptr) return;
  Json json = Json::Object();
  json.Set("passes", verifier->passes_compared())
      .Set("cut_short", verifier->passes_cut_short())
      .Set("runs", verifier->runs())
      .Set("not_compared", verifier->not_compared());
  invocation.doc.Set("verified", std::move(json));
  // A proof that ended early says so, as a pass without a complaint would look proved.
  if (verifier->passes_cut_short() > 0) {
    Warn(flags, absl::StrCat("--verify-each=numeric: ", verifier->passes_cut_short(), " of ",
                             Plural(verifier->changes(), "change"),
                             " of the graph not compared, or on fewer inputs: --verify-seconds ",
                             flags.verify_s, " were over"));
  }
  if (flags.quiet) return;
  absl::StrAppend(&invocation.text, "verified: ", verifier->passes_compared(), " of ",
                  Plural(verifier->changes(), "change"), " of the graph, in ",
                  Plural(verifier->runs(), "run"));
  if (!verifier->not_compared().empty())
    absl::StrAppend(&invocation.text, "; not compared: ", verifier->not_compared());
  invocation.text += "\n";
}

std::string RewritesText(const PassReport& pass) {
  std::string text;
  for (const auto& [name, count] : pass.rewrites)
    absl::StrAppend(&text, text.empty() ? "" : ", ", name, " ", count);
  return text;
}

std::string PassTable(const PipelineReport& report, const Style& style) {
  Table table({"pass", ">round", ">time", ">nodes", ">edges", ">constants", "what it did"});
  for (const PassReport& pass : report.passes) {
    const std::string body =
        pass.function.empty() ? "" : absl::StrCat(" in function ", OneLine(pass.function));
    table.Row({style.Bold(absl::StrCat(pass.name, body)), absl::StrCat(pass.iteration + 1),
               pass.skipped ? "-" : Millis(static_cast<double>(pass.time_us) / 1000),
               Delta(pass.nodes_before, pass.nodes_after),
               Delta(pass.edges_before, pass.edges_after), Bytes(pass.bytes_after),
               WhatText(pass, style)});
  }
  if (table.empty()) return "no pass ran\n";
  return table.Text(style);
}

Json PassesJson(const PipelineReport& report) {
  Json passes = Json::Array();
  for (const PassReport& pass : report.passes) passes.Push(PassJson(pass));
  return passes;
}

void AddPasses(const Executable& executable, const WatchFlags& flags, Invocation& invocation) {
  if (!flags.time_passes) return;
  const PipelineReport& report = OptimizerReport(executable);
  if (invocation.json()) {
    invocation.doc.Set("passes", PassesJson(report));
  } else {
    absl::StrAppend(&invocation.text, "\n", PassTable(report, invocation.style));
  }
}

}  // namespace tenon::cli
