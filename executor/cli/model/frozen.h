// Makes one graph of a SavedModel, for the commands that write graphs.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/cli/model/model.h"
#include "executor/cli/options/compile_flags.h"
#include "executor/cli/plugins/host.h"
#include "executor/freeze/freeze.h"
#include "executor/values/json.h"
#include "executor/values/text.h"

namespace tenon::cli {

// A frozen model and how it is called. Borrows nothing.
struct Frozen {
  FrozenModel model;
  // The arguments and the frozen results of the model's signature, as tensors of the frozen graph.
  // All members are empty if the model has no signature.
  Signature signature;
};

// Freezes the signature of `model`, which must have a SavedModel. The values are those after the
// nodes of --init have run. Without --output all results are frozen. With --output only these
// results are; a name that is a node of the graph and no result stays in the frozen graph, but is
// not in Frozen::signature. With --keep-state, variables that the frozen results write stay
// variables. `session_options` are for the session that restores the values; FreezeModel sets their
// `files` itself, by AllowedFiles.
//
// Errors are those of Names, such as kUsage for unknown names, those of AllowedFiles, AssetPaths
// and CheckInitIsFed, and those of Freeze, after FaultOfFreezing.
absl::StatusOr<Frozen> FreezeModel(const Model& model, const CompileFlags& flags, const Host& host,
                                   SessionOptions session_options);

// Sets the key "signature" to the signature's name, and the keys "inputs", "outputs", "variables",
// "variable_bytes", "kept", "tables", "files" and "init" to the members of FrozenModel of these
// names. "init" is null if that member is empty.
void AddFrozen(const Frozen& frozen, Json& doc);
// A row for each argument and result; empty if there are none. `tensors`: with one more column, the
// tensors of the original graph.
std::string FrozenTable(const FrozenModel& frozen, bool tensors, const Style& style);
// Warns of each argument and result that could not keep its name, since a node of the graph has it:
// who asks the frozen graph for the name would get that node.
void WarnOfOtherNames(const FrozenModel& frozen, const OutputFlags& flags);
// What the frozen graph needs besides itself: a line that names frozen.files, and a line that names
// its state and the node that fills it. The first line is left out if there are no files, the
// second if frozen.init is empty.
std::string NeedsText(const FrozenModel& frozen);

}  // namespace tenon::cli
