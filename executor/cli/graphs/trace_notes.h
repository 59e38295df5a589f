// What graphs that a program traced say of their traces: the attributes _tenon_trace_…, which the
// C++ library writes to a node of the graph and to a node of each function of its library.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "executor/values/json.h"
#include "graph/ir/graph.h"

namespace tenon::cli {

// All texts are for people. Lists are empty and numbers 0 where the graph does not say.
struct TraceNote {
  std::string function;                    // "step, trace 2"
  std::string why;                         // why a trace of its own was made
  std::vector<std::string> takes;          // the tensors
  std::vector<std::string> captures;       // tensors and variables from outside, with their sizes
  std::vector<std::string> constants;      // constants, with their sizes
  std::vector<std::string> constant_ops;   // ops that compute of constants alone
  std::vector<std::string> control_edges;  // that keep side effects in order
  // The ops that the program called, and those of the longest path through the graph, with these
  // edges and without.
  int64_t ops = 0, path = 0, path_without_edges = 0;
};

// The notes of the nodes by id, then those of the functions in the order of the library. If there
// are `fetches`, tensors or nodes of the graph, only those of the nodes that they need and of the
// functions that these reach.
std::vector<TraceNote> TraceNotesOf(const Graph& graph,
                                    const std::vector<std::string>& fetches = {});

// Lines about each trace; empty for no notes.
std::string TraceNotesText(const std::vector<TraceNote>& notes);
// An array of objects with the names of the members.
Json TraceNotesJson(const std::vector<TraceNote>& notes);

}  // namespace tenon::cli
