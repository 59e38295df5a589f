// Restores the state of a SavedModel's folder in a session of its graph.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/session/session.h"
#include "graph/saved_model/saved_model.h"

namespace tenon {

// The files that the kernels of such a session must be allowed to read: the variables and the
// assets.
absl::StatusOr<FileAccess> FilesOf(const SavedModel& model);

// The feeds of initializers, as in TensorFlow: the path of each asset, by the name of its tensor.
absl::StatusOr<std::vector<Session::NamedTensor>> AssetPaths(const SavedModel& model);

// Called with each executable before it runs. An error ends the restoration. May be empty.
using BeforeRun = std::function<absl::Status(const Executable&)>;

// Runs a node for its effects and feeds it the paths of the assets. `session` must be a session of
// the model's graph.
absl::Status RunInitializer(Session& session, const SavedModel& model, const std::string& node,
                            const BeforeRun& before_run = {});

// Restores the variables from the checkpoint if the model has one, then runs the initializer if the
// model has one. `session` must be a session of the model's graph. Errors name the file.
absl::Status RestoreState(Session& session, const SavedModel& model,
                          const BeforeRun& before_run = {});

}  // namespace tenon
