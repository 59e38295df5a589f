// The definition of TF_GrapplerItem: one graph under optimization, and the nodes of it that must
// stay. Lives for one call of a plug-in's pass and owns nothing.
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

// Names of the nodes that a pass must keep: fetches, feeds, item.keep, and nodes with the mark
// _grappler_do_not_remove. Without duplicates.
std::vector<std::string> NodesToPreserve(const TF_GrapplerItem& item);

}  // namespace tenon
