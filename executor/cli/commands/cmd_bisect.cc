// graph_run bisect: finds the rewrites, or the placed nodes, that change the results of a model.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/cli/bisect/proof_task.h"
#include "executor/cli/options/command.h"
#include "graph/base/status_macros.h"

namespace tenon::cli {
namespace {

// The parts of "pass.rewrite@node@function". The key of a plug-in's pass has no rewrite; the key of
// a rewrite in the graph itself has no function.
struct Culprit {
  std::string pass, rewrite, node, function;
};

Culprit CulpritOf(std::string_view key) {
  const size_t at = key.find('@');
  const std::string_view name = key.substr(0, at);
  const std::string_view where = key.substr(at + 1);
  const size_t end = where.find('@');  // no name of a node has an '@'
  const size_t dot = name.starts_with("plugin:") ? name.npos : name.find('.');
  return {std::string(name.substr(0, dot)),
          std::string(dot == name.npos ? std::string_view() : name.substr(dot + 1)),
          std::string(where.substr(0, end)),
          std::string(end == where.npos ? std::string_view() : where.substr(end + 1))};
}

// The flag that switches the rewrite or pass off.
std::string RemedyOf(const Culprit& culprit) {
  if (culprit.rewrite.empty()) return absl::StrCat("--disable-pass ", culprit.pass);
  return absl::StrCat("--disable-rewrite ", culprit.pass, ".", culprit.rewrite);
}

void Tell(const Bisected& found, Invocation& invocation) {
  Json list = Json::Array();
  std::vector<std::string> lines;
  for (const std::string& key : found.culprits) {
    const Culprit culprit = CulpritOf(key);
    Json json = Json::Object();
    json.Set("pass", culprit.pass).Set("rewrite", culprit.rewrite).Set("node", culprit.node);
    if (!culprit.function.empty()) json.Set("function", culprit.function);
    list.Push(std::move(json));
    lines.push_back(absl::StrCat(
        culprit.rewrite.empty() ? absl::StrCat("pass ", culprit.pass)
                                : absl::StrCat("rewrite ", culprit.pass, ".", culprit.rewrite),
        culprit.node.empty() ? "" : absl::StrCat(" at node '", culprit.node, "'"),
        culprit.function.empty() ? "" : absl::StrCat(" in function '", culprit.function, "'")));
  }
  invocation.doc.Set("culprits", std::move(list)).Set("first_different", found.first_different);
  if (lines.empty()) return;
  const Style& style = invocation.style;
  absl::StrAppend(&invocation.text,
                  style.Red(lines.size() == 1 ? "guilty   " : "guilty only together\n         "),
                  absl::StrJoin(lines, "\n         "), "\n", style.Dim("then     "),
                  found.with_culprits.empty() ? found.wrong : found.with_culprits, "\n",
                  found.first_different.empty()
                      ? ""
                      : absl::StrCat(style.Dim("first    "), "the value of '",
                                     found.first_different, "' is another\n"),
                  style.Dim("without  "), RemedyOf(CulpritOf(found.culprits[0])), "\n");
}

void TellPlacement(const Bisection& found, Invocation& invocation) {
  invocation.doc.Set("nodes", Json::ArrayOf(found.culprits));
  absl::StrAppend(&invocation.text, invocation.style.Red("guilty   "), "the placement of node ",
                  absl::StrJoin(found.culprits, " together with node "), "\n",
                  invocation.style.Dim("then     "),
                  found.with_culprits.empty() ? found.wrong : found.with_culprits, "\n");
}

void TellCounts(std::string_view what, const Bisection& found, Invocation& invocation) {
  invocation.doc.Set("wrong", !found.wrong.empty())
      .Set("what", found.wrong)
      .Set("cause", found.wrong.empty() ? "" : what)
      .Set("steps", found.steps)
      .Set("runs", found.trials);
  absl::StrAppend(&invocation.text, invocation.style.Dim("runs     "), found.trials, ", for ",
                  found.steps, " ", what, "s\n");
}

absl::Status Bisect(const ProofFlags& flags, Invocation& invocation) {
  TENON_ASSIGN_OR_RETURN(const std::unique_ptr<ProofTask> task, OpenProofTask(flags));
  const ResultJudge& judge = *task->judge;
  TENON_ASSIGN_OR_RETURN(const Bisected rewrites, judge.BisectRewrites(task->failing));
  TellRollbacks(*task, invocation);
  if (!rewrites.wrong.empty()) {
    if (rewrites.without_any) {
      return absl::FailedPreconditionError(
          absl::StrCat("two runs without any rewrite differ: ", rewrites.wrong));
    }
    Tell(rewrites, invocation);
    TellCounts("rewrite", rewrites, invocation);
    return absl::OkStatus();
  }
  TENON_ASSIGN_OR_RETURN(const std::optional<Bisection> placement,
                         judge.BisectPlacement(task->failing));
  const bool elsewhere = placement && !placement->wrong.empty();
  Tell(rewrites, invocation);
  if (elsewhere) {
    TellPlacement(*placement, invocation);
  } else {
    absl::StrAppend(&invocation.text, invocation.style.Green("right    "),
                    "all rewrites together, and the placement of all nodes, keep the answers\n");
  }
  TellCounts(elsewhere ? "placed node" : "rewrite", elsewhere ? *placement : rewrites, invocation);
  return absl::OkStatus();
}

}  // namespace

extern const Command kBisectCommand = {
    .name = "bisect",
    .arguments = "MODEL",
    .fewest = 1,
    .most = 1,
    .what =
        "Find the rewrites that change what a model answers: one, or some that do so only "
        "together; or the nodes that answer otherwise where they are placed.",
    .examples = {"graph_run bisect tests/golden/models/mlp/graph.pbtxt",
                 "graph_run bisect tests/golden/models/mlp/graph.pbtxt --input x=4x20xf32=ones "
                 "--max-ulp 0"},
    .start = Start<ProofFlags, Bisect>,
};

}  // namespace tenon::cli
