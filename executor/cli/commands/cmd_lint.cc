// graph_run lint: prints every defect of a graph.
#include "absl/strings/str_cat.h"
#include "executor/cli/faults/exit_code.h"
#include "executor/cli/graphs/missing_kernels.h"
#include "executor/cli/model/model.h"
#include "executor/cli/options/command.h"
#include "executor/cli/options/invocation.h"
#include "executor/cli/options/model_flags.h"
#include "executor/cli/plugins/host.h"
#include "graph/base/status_macros.h"

namespace tenon::cli {
namespace {

std::string_view CodeName(DefectCode code) {
  switch (code) {
    case DefectCode::kLimit:
      return "LIMIT";
    case DefectCode::kName:
      return "NAME";
    case DefectCode::kUnknownOp:
      return "UNKNOWN_OP";
    case DefectCode::kArity:
      return "ARITY";
    case DefectCode::kInput:
      return "INPUT";
    case DefectCode::kType:
      return "TYPE";
    case DefectCode::kAttr:
      return "ATTR";
    case DefectCode::kCycle:
      return "CYCLE";
    case DefectCode::kColocation:
      return "COLOCATION";
    case DefectCode::kDevice:
      return "DEVICE";
    case DefectCode::kConst:
      return "CONST";
    case DefectCode::kShape:
      return "SHAPE";
    case DefectCode::kPlugin:
      return "PLUGIN";
    case DefectCode::kFunction:
      return "FUNCTION";
    case DefectCode::kNoFunction:
      return "NO_FUNCTION";
    case DefectCode::kVersion:
      return "VERSION";
    case DefectCode::kKernel:
      return "NO_KERNEL";
    case DefectCode::kSignature:
      return "SIGNATURE";
  }
  return "DEFECT";
}

Json DefectJson(const Defect& defect) {
  Json json = Json::Object();
  json.Set("where", defect.where)
      .Set("code", CodeName(defect.code))
      .Set("node", defect.node)
      .Set("message", defect.message);
  return json;
}

struct LintFlags : ModelFlags {
  void Declare(Declarer& d) {
    DeclarePlugins(d);
    DeclareTimeout(d);
    DeclareLimits(d);
    DeclareOutput(d);
  }
};

absl::Status Lint(const LintFlags& flags, Invocation& invocation) {
  // A plug-in may bring ops that the graph uses.
  TENON_ASSIGN_OR_RETURN(const std::unique_ptr<Host> host, Host::Open(flags));
  // The document has the key even if the file cannot be read.
  invocation.doc.Set("defects", Json::Array());
  TENON_ASSIGN_OR_RETURN(ImportedModel model, ImportModel(flags.paths.front(), flags));
  AddMissingKernels(host->devices(), model.imported);
  const Imported& imported = model.imported;
  Json defects = Json::Array();
  for (const Defect& defect : imported.defects) {
    PrintErrorLine(defect.ToString());
    if (invocation.json()) defects.Push(DefectJson(defect));
  }
  invocation.doc.Set("defects", std::move(defects)).Set("nodes", imported.graph.num_nodes());
  const std::string size =
      absl::StrCat(Plural(imported.graph.num_nodes(), "node"), ", ",
                   Plural(static_cast<int64_t>(imported.graph.functions().size()), "function"));
  if (imported.defects.empty()) {
    invocation.text = absl::StrCat(flags.paths.front(), ": ", invocation.style.Green("no defects"),
                                   " in ", size, "\n");
    return absl::OkStatus();
  }
  const std::string count = Plural(static_cast<int64_t>(imported.defects.size()), "defect");
  invocation.text =
      absl::StrCat(flags.paths.front(), ": ", invocation.style.Red(count), " in ", size, "\n");
  const bool of_plugin = WorstDefect(imported.defects).code == DefectCode::kPlugin;
  return AlreadyPrinted(
      WithExit(of_plugin ? Exit::kPluginFault : Exit::kInvalidInput,
               absl::InvalidArgumentError(
                   absl::StrCat(count, "; the first: ", imported.defects.front().ToString()))));
}

}  // namespace

extern const Command kLintCommand = {
    .name = "lint",
    .arguments = "MODEL",
    .fewest = 1,
    .most = 1,
    .what = "Every defect of a graph with its place in the file; exit 4 if there is any.",
    .examples = {"graph_run lint tests/golden/models/mlp/graph.pbtxt",
                 "graph_run lint - < tests/golden/models/mlp/graph.pbtxt"},
    .start = Start<LintFlags, Lint>,
};

}  // namespace tenon::cli
