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

// A frozen model and how it is called.
struct Frozen {
  FrozenModel model;
  Signature signature;  // the same arguments and results, as tensors of the frozen graph
};

// Freezes `model`, which must have a SavedModel: the results that --output names, or all, after the
// nodes of --init have run. Errors: kUsage for unknown names, kInvalidInput for faults of files,
// else those of Freeze.
absl::StatusOr<Frozen> FreezeModel(const Model& model, const CompileFlags& flags, const Host& host,
                                   SessionOptions session_options);

// Sets the keys "signature", "inputs", "outputs", "variables", "variable_bytes", "kept", "tables"
// and "init".
void AddFrozen(const Frozen& frozen, Json& doc);
// A row for each argument and result. `tensors`: a column with the tensors of the original graph.
std::string FrozenTable(const FrozenModel& frozen, bool tensors, const Style& style);
// Says how the state of the graph in file `path` is filled; empty if it has no state.
std::string InitText(const FrozenModel& frozen, const std::string& path);

}  // namespace tenon::cli
