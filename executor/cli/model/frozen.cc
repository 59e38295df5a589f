#include "executor/cli/model/frozen.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/cli/faults/exit_code.h"
#include "executor/cli/model/names.h"
#include "executor/cli/model/workbench.h"
#include "executor/session/saved_model.h"
#include "graph/base/status_macros.h"

namespace tenon::cli {
namespace {

Json TensorsJson(const std::vector<FrozenTensor>& tensors) {
  Json array = Json::Array();
  for (const FrozenTensor& t : tensors) {
    Json json = Json::Object();
    json.Set("name", t.name).Set("node", t.node).Set("tensor", t.tensor);
    array.Push(std::move(json));
  }
  return array;
}

// The tensors of the signature with their names in the frozen graph.
std::vector<SignatureTensor> Renamed(std::vector<SignatureTensor> tensors,
                                     const std::vector<FrozenTensor>& frozen) {
  for (size_t i = 0; i < tensors.size(); ++i) tensors[i].tensor = frozen[i].node;
  return tensors;
}

// Reduces the results of the signature to those that --output names. Returns the names that are no
// result: nodes of the graph to keep.
absl::StatusOr<std::vector<std::string>> KeepRequested(const Names& names,
                                                       const CompileFlags& flags,
                                                       Signature& signature) {
  if (flags.outputs.empty()) return std::vector<std::string>();
  std::vector<std::string> keep;
  std::vector<SignatureTensor> requested;
  for (const std::string& name : flags.outputs) {
    TENON_RETURN_IF_ERROR(names.Result("--output", name).status());
    const auto result = std::find_if(signature.outputs.begin(), signature.outputs.end(),
                                     [&](const SignatureTensor& t) { return t.name == name; });
    if (result == signature.outputs.end()) {
      keep.push_back(name);
    } else {
      requested.push_back(*result);
    }
  }
  signature.outputs = std::move(requested);
  return keep;
}

}  // namespace

absl::StatusOr<Frozen> FreezeModel(const Model& model, const CompileFlags& flags, const Host& host,
                                   SessionOptions session_options) {
  TENON_ASSIGN_OR_RETURN(session_options.files, AllowedFiles(flags, model.saved));
  const Names names(model.graph, model.signature);
  FreezeOptions freeze;
  freeze.keep_state = flags.keep_state;
  std::vector<std::string> fed;
  if (!flags.inits.empty()) {
    TENON_ASSIGN_OR_RETURN(const auto paths, AssetPaths(*model.saved));
    for (const auto& [tensor, path] : paths) fed.push_back(tensor);
  }
  for (const std::string& init : flags.inits) {
    TENON_ASSIGN_OR_RETURN(freeze.inits.emplace_back(), names.Node("--init", init));
    TENON_RETURN_IF_ERROR(CheckInitIsFed(model.graph, freeze.inits.back(), fed));
  }
  Frozen frozen;
  if (model.signature != nullptr) frozen.signature = *model.signature;
  TENON_ASSIGN_OR_RETURN(freeze.keep, KeepRequested(names, flags, frozen.signature));
  absl::StatusOr<FrozenModel> made = Freeze(*model.saved, model.graph, frozen.signature, freeze,
                                            host.devices(), std::move(session_options));
  if (!made.ok()) return FaultOfFreezing(made.status());
  frozen.model = *std::move(made);
  frozen.signature.inputs = Renamed(std::move(frozen.signature.inputs), frozen.model.inputs);
  frozen.signature.outputs = Renamed(std::move(frozen.signature.outputs), frozen.model.outputs);
  return frozen;
}

void AddFrozen(const Frozen& frozen, Json& doc) {
  const FrozenModel& model = frozen.model;
  doc.Set("signature", frozen.signature.name)
      .Set("inputs", TensorsJson(model.inputs))
      .Set("outputs", TensorsJson(model.outputs))
      .Set("variables", model.variables)
      .Set("variable_bytes", model.variable_bytes)
      .Set("kept", Json::ArrayOf(model.kept))
      .Set("tables", Json::ArrayOf(model.tables))
      .Set("files", Json::ArrayOf(model.files))
      .Set("init", model.init.empty() ? Json() : Json(model.init));
}

std::string FrozenTable(const FrozenModel& frozen, bool tensors, const Style& style) {
  std::vector<std::string> titles = {"role", "in the signature", "node"};
  if (tensors) titles.emplace_back("was, and still is");
  Table table(titles);
  const auto add = [&](std::string_view role, const std::vector<FrozenTensor>& of) {
    for (const FrozenTensor& t : of) {
      std::vector<std::string> row = {std::string(role), style.Bold(t.name), t.node};
      if (tensors) row.push_back(t.tensor);
      table.Row(std::move(row));
    }
  };
  add("input", frozen.inputs);
  add("output", frozen.outputs);
  return table.empty() ? "" : table.Text(style);
}

void WarnOfOtherNames(const FrozenModel& frozen, const OutputFlags& flags) {
  const auto warn = [&](std::string_view role, const std::vector<FrozenTensor>& of) {
    for (const FrozenTensor& t : of) {
      if (t.node == t.name || frozen.graph.FindNode(t.name) == kNoNode) continue;
      Warn(flags, absl::StrCat(role, " '", t.name, "' of the signature is node '", t.node,
                               "' of what is written: '", t.name, "' there is another node"));
    }
  };
  warn("argument", frozen.inputs);
  warn("result", frozen.outputs);
}

std::string NeedsText(const FrozenModel& frozen) {
  std::string files = frozen.files.empty()
                          ? ""
                          : absl::StrCat("it may read files, which must stay where they are: ",
                                         absl::StrJoin(frozen.files, ", "), "\n");
  if (frozen.init.empty()) return files;
  std::vector<std::string> state = frozen.kept;
  state.insert(state.end(), frozen.tables.begin(), frozen.tables.end());
  return absl::StrCat(files, "it keeps state (", absl::StrJoin(state, ", "), "), which node '",
                      frozen.init,
                      "' fills: graph_run runs it before all else, as other programs must\n");
}

}  // namespace tenon::cli
