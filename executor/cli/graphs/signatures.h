// Reports the signatures of a SavedModel with the words of `saved_model_cli show --all`.
#pragma once

#include <string>

#include "executor/values/json.h"
#include "executor/values/text.h"
#include "graph/saved_model/saved_model.h"

namespace tenon::cli {

// "name", "dtype" and "shape": null for an unknown rank, -1 for an unknown dimension.
Json NamedTypeJson(std::string_view name, DataType dtype, const PartialShape& shape);

// All signatures of all MetaGraphs, as text.
std::string SignaturesText(const SavedModel& model, const Style& style);
// An object for each of them: "name", "tags", "method", "inputs", "outputs".
Json SignaturesJson(const SavedModel& model);

}  // namespace tenon::cli
