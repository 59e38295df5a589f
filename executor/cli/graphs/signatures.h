// Reports the signatures of a SavedModel with the words of `saved_model_cli show --all`.
#pragma once

#include <string>

#include "executor/values/json.h"
#include "executor/values/text.h"
#include "graph/saved_model/saved_model.h"

namespace tenon::cli {

// An object of "name", "dtype" (the short name, "f32") and "shape". The dtype is null for kInvalid.
// The shape is null if the rank is unknown; an unknown dimension is -1.
Json NamedTypeJson(std::string_view name, DataType dtype, const PartialShape& shape);

// All signatures of all MetaGraphs, as text.
std::string SignaturesText(const SavedModel& model, const Style& style);
// An array with an object for each signature of each MetaGraph: "name", "tags", "method", "inputs",
// "outputs". Inputs and outputs are arrays of NamedTypeJson with the key "tensor" and, for an input
// with a default, "has_default". Composite tensors, which the text shows, are left out.
Json SignaturesJson(const SavedModel& model);

}  // namespace tenon::cli
