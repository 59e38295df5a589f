// What stands behind TF_GrapplerItem: one graph under optimization, and what must stay of it. Lives
// for one call of a plug-in's pass.
#pragma once

#include <string>
#include <vector>

#include "graph/ir/graph.h"
#include "optimizer_api/plugin_optimizer.h"

struct TF_GrapplerItem {
  const tenon::Graph* graph = nullptr;
  const tenon::OptimizerItem* item = nullptr;
};

namespace tenon {

// Names of the nodes that a pass must keep: fetches, feeds, kept ones, and nodes marked
// _grappler_do_not_remove. Without duplicates.
std::vector<std::string> NodesToPreserve(const TF_GrapplerItem& item);

}  // namespace tenon
