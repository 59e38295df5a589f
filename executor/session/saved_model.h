// What makes a session of a SavedModel's graph hold what the folder holds.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/session/session.h"
#include "graph/saved_model/saved_model.h"

namespace tenon {

// What the kernels of such a session have to be allowed to read: the variables and the assets.
absl::StatusOr<FileAccess> FilesOf(const SavedModel& model);

// What TensorFlow feeds to initializers: the paths of the assets, by the tensors that take them.
absl::StatusOr<std::vector<Session::NamedTensor>> AssetPaths(const SavedModel& model);

// Sees what is about to run; an error ends the work. Empty: nobody does.
using BeforeRun = std::function<absl::Status(const Executable&)>;

// Runs a node for what it does, with the paths of the assets. `session` is one of the model's
// graph.
absl::Status RunInitializer(Session& session, const SavedModel& model, const std::string& node,
                            const BeforeRun& before_run = {});

// Restores the variables from the checkpoint, if there is one, then runs the initializer, if there
// is one. `session` is one of the model's graph. Errors name the file.
absl::Status RestoreState(Session& session, const SavedModel& model,
                          const BeforeRun& before_run = {});

}  // namespace tenon
