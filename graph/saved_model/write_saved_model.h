// Writes a SavedModel folder with another graph.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "graph/ir/graph.h"
#include "graph/saved_model/saved_model.h"

namespace tenon {

// Makes `folder` a copy of the folder of `model` in which `graph` stands for the chosen graph. All
// else of saved_model.pb stays: other graphs, signatures, saver, objects. Functions that `graph`
// lacks stay too, as the objects name them; contexts of TensorFlow 1's conditionals and loops go,
// as they name nodes that the graph may lack. Other files are copied, but for fingerprint.pb, which
// tells of the old bytes. The graph's file is saved_model.pb, also where the model's is text.
// Missing folders around `folder` are made. `folder` appears when all is written; until then the
// files are in a folder beside it, ".NAME.PID-N.unfinished", which is removed after an error.
// ALREADY_EXISTS: `folder` exists and is no empty folder. INVALID_ARGUMENT: `folder` is or lies
// within the model's folder, or the model's file is malformed; the message has the file's name.
// UNIMPLEMENTED: a message would be larger than 2 GiB, which protobuf does not read. Else errors of
// files.
absl::Status WriteSavedModel(const SavedModel& model, const Graph& graph,
                             const std::string& folder);

}  // namespace tenon
