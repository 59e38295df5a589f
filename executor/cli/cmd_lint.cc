// graph_run lint: every defect of a graph.
#include "absl/strings/str_cat.h"
#include "executor/cli/exit_code.h"
#include "executor/cli/host.h"
#include "executor/cli/invocation.h"
#include "executor/cli/missing_kernels.h"
#include "executor/cli/model.h"
#include "graph/status_macros.h"

namespace tenon::cli {
namespace {

std::string_view CodeName(DefectCode code) {
  switch (code) {
    case DefectCode::kSyntax:
      return "SYNTAX";
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

}  // namespace

absl::Status LintCommand(Invocation& invocation) {
  const Options& options = invocation.options;
  // A plug-in may bring ops that the graph uses.
  TENON_ASSIGN_OR_RETURN(const std::unique_ptr<Host> host, Host::Open(options));
  invocation.doc.Set("defects", Json::Array());
  TENON_ASSIGN_OR_RETURN(ImportedModel model, ImportModel(options.paths.front(), options));
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
    invocation.text = absl::StrCat(options.paths.front(), ": ",
                                   invocation.style.Green("no defects"), " in ", size, "\n");
    return absl::OkStatus();
  }
  const std::string count = Plural(static_cast<int64_t>(imported.defects.size()), "defect");
  invocation.text =
      absl::StrCat(options.paths.front(), ": ", invocation.style.Red(count), " in ", size, "\n");
  const bool of_plugin = WorstDefect(imported.defects).code == DefectCode::kPlugin;
  return AlreadyPrinted(
      WithExit(of_plugin ? Exit::kPluginFault : Exit::kInvalidInput,
               absl::InvalidArgumentError(
                   absl::StrCat(count, "; the first: ", imported.defects.front().ToString()))));
}

}  // namespace tenon::cli
