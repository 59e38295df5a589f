// The struct behind TF_OperationDescription. Private to executor/api/graph/.
#pragma once

#include "executor/api/graph/operation_builder.h"

struct TF_OperationDescription {
  TF_OperationDescription(TF_Graph& g, std::string_view op, std::string_view name)
      : graph(&g), builder(g, op, name) {}

  TF_Graph* const graph;
  tenon::api::OperationBuilder builder;
};
