// Restores the state that the folder of a SavedModel holds in a session of its graph.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/session/session.h"
#include "graph/saved_model/saved_model.h"

namespace tenon {

// For SessionOptions::files of a session of the model's graph: access, for reading only, to the
// files that its kernels must read, which are the checkpoint of the variables and the assets.
// NOT_FOUND if the folder is gone. An asset whose name leads out of the folder `assets` is left
// out.
absl::StatusOr<FileAccess> FilesOf(const SavedModel& model);

// The feeds of initializers, as in TensorFlow: for each asset the name of its tensor and, as a
// string scalar, its path. The path is absolute, since frozen graphs keep it. If the current folder
// is gone, the path stays as relative as `model.folder`. Does not check whether the files exist.
absl::StatusOr<std::vector<Session::NamedTensor>> AssetPaths(const SavedModel& model);

// Called with each executable before it runs, on the calling thread. An error ends the restoration
// or the initializer. May be empty.
using BeforeRun = std::function<absl::Status(const Executable&)>;

// Settings of the runs that a restoration makes.
struct RestoreRuns {
  BeforeRun before_run;
  const RunLimits* limits = nullptr;  // null: the defaults
};

// Runs `node` ("node", "node:0" or "^node") for its effects and feeds the result of AssetPaths.
// `session` must be a session of the model's graph. NOT_FOUND if the graph has no such node. Errors
// of the run start with "running the initializer: ", those of AssetPaths do not.
absl::Status RunInitializer(Session& session, const SavedModel& model, const std::string& node,
                            const RestoreRuns& runs = {});

// Takes three steps:
// 1. Runs the graph's own restore node, if the model has one and its folder has a folder
//    `variables`.
// 2. Fills each variable that functions have captured (CapturedVariables) and that is still empty.
//    The object graph of the model names the variable's value in the checkpoint.
// 3. Runs the initializer, if the model has one.
// `session` must be a session of the model's graph whose SessionOptions::files permit what FilesOf
// does, else PERMISSION_DENIED. NOT_FOUND if the checkpoint has no value for such a variable, even
// if the initializer would give it one; INVALID_ARGUMENT if the value has another type or shape.
// After an error part of the variables may have values. Errors of the restore node start with
// "restoring the variables: ", those of the initializer as in RunInitializer; errors of the
// checkpoint name its file. Errors of the run that fetches the handles of variables are those of
// Session::Run. DATA_LOSS for a damaged object graph. RESOURCE_EXHAUSTED without memory.
absl::Status RestoreState(Session& session, const SavedModel& model, const RestoreRuns& runs = {});

}  // namespace tenon
