// Groups of elementwise nodes that one kernel may compute.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "graph_def.h"
#include "group_end.h"
#include "shapes.h"

namespace opencl {

// A group as a node _OpenCLFused or one of its kin. Nobody but the group reads the results of the
// members but that of the root, whose name the new node takes.
struct ElementGroup {
  size_t root = 0;              // the number of the node in the graph
  std::vector<size_t> members;  // at least two; each before its readers, the root last
  GroupEnd end;         // if the root is no statement of the program; else `end.end` is empty
  std::string program;  // ops/fused_program.h
  // x0, x1, ... of the program, at least one, and their types; then the end's.
  std::vector<std::string_view> inputs;
  std::vector<TF_DataType> input_types;
  TF_DataType result = TF_FLOAT;
};

// Finds the groups of a graph. Every member is on a device of one of `device_types`, the members of
// a group are on one device, and their results but the end's have one inferred shape: so nothing is
// computed more often than before. Two unknown shapes count as one, and so do two unknown sizes of
// one dimension; if they differ, elements are computed more often. `preserve` has names of nodes
// that must stay. No cycle can arise, since a path out of a group leads through its root. Takes
// time linear in the graph, but for sorting. Throws what the functions of NodeView throw.
std::vector<ElementGroup> FindElementGroups(const GraphView& graph, const InferredShapes& shapes,
                                            const std::unordered_set<std::string>& device_types,
                                            const std::unordered_set<std::string_view>& preserve);

}  // namespace opencl
