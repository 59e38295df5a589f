// A functional node with the functions that it calls: what function_specialization changes.
// Private to grappler_lite/passes/function_specialization/.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "graph/functions/function_graph.h"
#include "graph/ir/graph.h"

namespace tenon {

// A functional node with the functions that it calls.
struct FunctionSite {
  NodeId node = kNoNode;
  bool loop = false;
  size_t first_arg = 0;                 // its inputs before that are no arguments
  std::vector<std::string_view> attrs;  // that name the functions, in their order; none: the op
  std::vector<FuncAttr> functions;      // of a loop: condition, body
  std::vector<const FunctionGraph*> bodies;  // shared by all sites that call them, or `own`
  std::vector<std::unique_ptr<FunctionGraph>> own;
  size_t bytes = 0;  // of the functions' FunctionDefs
};

// Gives the site bodies that are for it alone, to be changed. Does nothing if it has them.
void OwnBodies(FunctionSite& site);

// Takes the arguments and results whose entry is false out of the site's own bodies, with the nodes
// that only they needed. No node that stays may read such an argument. The condition of a loop
// keeps its result.
void DropUnused(FunctionSite& site, const std::vector<bool>& args,
                const std::vector<bool>& results);

}  // namespace tenon
