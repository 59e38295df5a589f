// A SavedModel as a graph that stands alone, for the commands that write graphs.
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

struct Frozen {
  FrozenModel model;
  Signature signature;  // the same arguments and results, as tensors of the frozen graph
};

// What the flags ask for of a model that is a SavedModel: the results that --output names, or all;
// after what --init names. Errors: kUsage for unknown names, kInvalidInput for faults of files,
// else those of Freeze.
absl::StatusOr<Frozen> FreezeModel(const Model& model, const CompileFlags& flags, const Host& host,
                                   SessionOptions session_options);

// The keys "signature", "inputs", "outputs", "variables", "variable_bytes", "kept", "tables" and
// "init".
void AddFrozen(const Frozen& frozen, Json& doc);
// A row for each argument and result. `tensors`: with what they were, where that still is there.
std::string FrozenTable(const FrozenModel& frozen, bool tensors, const Style& style);
// How the written graph is brought to what the model held; empty if it holds nothing.
std::string InitText(const FrozenModel& frozen, const std::string& path);

}  // namespace tenon::cli
