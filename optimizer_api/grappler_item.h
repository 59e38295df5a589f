// The definition of TF_GrapplerItem: one graph under optimization, and the facts about it that a
// pass may ask for. Lives for one call of a plug-in's pass and owns nothing. Immutable, so a
// plug-in may ask from several threads.
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

// The names of the nodes that a pass must keep: fetches, feeds, item.keep, and nodes with the mark
// _grappler_do_not_remove. Each name once, in no particular order.
std::vector<std::string> NodesToPreserve(const TF_GrapplerItem& item);

}  // namespace tenon
