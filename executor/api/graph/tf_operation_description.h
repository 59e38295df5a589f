// The struct behind TF_OperationDescription. Private to executor/api/graph/.
#pragma once

#include "executor/api/graph/operation_builder.h"

struct TF_OperationDescription {
  using Pool = tenon::Handles<TF_OperationDescription, tenon::HandlePool>;
  TF_OperationDescription(TF_Graph& g, std::string_view op, std::string_view name)
      : graph(&g), builder(g, op, name) {}

  // Once the graph is deleted, the description can only be finished, which fails.
  const tenon::WeakHandle<TF_Graph> graph;
  tenon::api::OperationBuilder builder;
  bool lacks_memory = false;  // for a part of the node, so that the node cannot be finished
};

namespace tenon::api {

// The graph of a description, for functions of the C interface without a status: null stops them.
// Null if `desc` is null. Null, and a warning in the name of `function` (TellOfDeleted), if the
// description was finished or its graph deleted. `function` is the caller if it is left out.
inline TF_Graph* GraphOf(const TF_OperationDescription* desc,
                         const char* function = __builtin_FUNCTION()) {
  if (!IsThere(desc, function)) return nullptr;
  TF_Graph* const graph = desc->graph.get();
  if (graph == nullptr) TellOfDeleted(function);
  return graph;
}

}  // namespace tenon::api
