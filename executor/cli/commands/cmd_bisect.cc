// graph_run bisect: finds the rewrites, or the placed nodes, that change the results of a model.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/cli/bisect/proof_task.h"
#include "executor/cli/options/command.h"
#include "executor/cli/options/ticker.h"
#include "graph/base/status_macros.h"

namespace tenon::cli {
namespace {

// The parts of "pass.rewrite@node@function". The key of a plug-in's pass has no rewrite; the key of
// a rewrite in the graph itself has no function.
struct FaultyRewrite {
  std::string pass, rewrite, node, function;
};

FaultyRewrite ParseRewriteKey(std::string_view key) {
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
std::string RemedyOf(const FaultyRewrite& faulty) {
  if (faulty.rewrite.empty()) return absl::StrCat("--disable-pass ", faulty.pass);
  return absl::StrCat("--disable-rewrite ", faulty.pass, ".", faulty.rewrite);
}

void Tell(const Bisected& found, Invocation& invocation) {
  Json list = Json::Array();
  std::vector<std::string> lines;
  for (const std::string& key : found.faulty) {
    const FaultyRewrite faulty = ParseRewriteKey(key);
    Json json = Json::Object();
    json.Set("pass", faulty.pass).Set("rewrite", faulty.rewrite).Set("node", faulty.node);
    if (!faulty.function.empty()) json.Set("function", faulty.function);
    list.Push(std::move(json));
    lines.push_back(absl::StrCat(
        faulty.rewrite.empty() ? absl::StrCat("pass ", faulty.pass)
                               : absl::StrCat("rewrite ", faulty.pass, ".", faulty.rewrite),
        faulty.node.empty() ? "" : absl::StrCat(" at node '", faulty.node, "'"),
        faulty.function.empty() ? "" : absl::StrCat(" in function '", faulty.function, "'")));
  }
  invocation.doc.Set("culprits", std::move(list)).Set("first_different", found.first_different);
  if (lines.empty()) return;
  const Style& style = invocation.style;
  absl::StrAppend(&invocation.text,
                  style.Red(lines.size() == 1 ? "faulty   " : "faulty only together\n         "),
                  absl::StrJoin(lines, "\n         "), "\n", style.Dim("then     "),
                  found.wrong_with_faulty.empty() ? found.wrong : found.wrong_with_faulty, "\n",
                  found.first_different.empty()
                      ? ""
                      : absl::StrCat(style.Dim("first    "), "the value of '",
                                     found.first_different, "' is another\n"),
                  style.Dim("without  "), RemedyOf(ParseRewriteKey(found.faulty[0])), "\n");
}

void TellPlacement(const Bisection& found, Invocation& invocation) {
  invocation.doc.Set("nodes", Json::ArrayOf(found.faulty));
  absl::StrAppend(&invocation.text, invocation.style.Red("faulty   "), "the placement of node ",
                  absl::StrJoin(found.faulty, " together with node "), "\n",
                  invocation.style.Dim("then     "),
                  found.wrong_with_faulty.empty() ? found.wrong : found.wrong_with_faulty, "\n");
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
  const Ticker ticker(flags, [&](double seconds) { return task->ProgressText("bisect", seconds); });
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
  const bool is_placement = placement && !placement->wrong.empty();
  Tell(rewrites, invocation);
  if (is_placement) {
    TellPlacement(*placement, invocation);
  } else {
    absl::StrAppend(&invocation.text, invocation.style.Green("right    "),
                    "all rewrites together, and the placement of all nodes, keep the answers\n");
  }
  TellCounts(is_placement ? "placed node" : "rewrite", is_placement ? *placement : rewrites,
             invocation);
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
