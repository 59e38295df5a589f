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
};

namespace tenon::api {

// The graph of a description, for functions without a status. Null if there is no description; null
// also, and told in the name of the function, if the description was finished or its graph deleted.
inline TF_Graph* GraphOf(const TF_OperationDescription* desc,
                         const char* function = __builtin_FUNCTION()) {
  if (!IsThere(desc, function)) return nullptr;
  TF_Graph* const graph = desc->graph.get();
  if (graph == nullptr) TellOfDeleted(function);
  return graph;
}

}  // namespace tenon::api
