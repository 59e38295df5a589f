// What passes ask about single nodes. All functions are pure. All are thread-safe, but MayStopARun
// is not for graphs that share functions (SharedFunctions): it fills the caches of these.
#pragma once

#include <initializer_list>
#include <string_view>

#include "graph/ir/graph.h"

namespace tenon {

// Whether n's op is one of these.
bool OpIs(const Graph& g, NodeId n, std::initializer_list<std::string_view> names);

// Whether n reads a variable by reference. n then sees what the variable holds when n runs, so n
// must not move.
bool ReadsReference(const Graph& g, NodeId n);

// Whether n reads an output of a Switch. A control edge from the Switch does not say that the
// output is dead, since the Switch itself always runs: only a node that reads the output knows.
bool ReadsSwitch(const Graph& g, NodeId n);

// Whether a run of the graph may end early, leave nodes out, or do something beside computing
// values: whether a live node, or a node of a function that a call, branch or loop reaches, is
// stateful or a Switch. A call, branch or loop does not count itself, unless the graph has no
// functions. Nodes of unknown ops and functions that are missing do not count.
bool MayStopARun(const Graph& graph);

// Whether a control edge from n says less than one from a reader of n's values. A Switch runs
// whichever of its outputs is dead. Calls, branches and loops, as TensorFlow writes them out, make
// other nodes wait only for what their functions name as control outputs.
bool IsAwaitedByValueOnly(const Graph& g, NodeId n);

// ComputesAllResults: whether a call, branch or loop with these attributes computes every result in
// each run, even results that no node reads, so that their errors count: whether it lacks the mark
// to be written out (kWrittenOut). TensorFlow's kernels compute every result of every argument;
// what is written out computes the results that are read, and the arguments that these need
// (needed_arguments.h). StaysCall: whether a function with these attributes stays a call even where
// the node is marked, so that it computes every result. ComputesAllResults does not look at the
// function: ask both.
bool ComputesAllResults(const AttrSet& attrs);
bool StaysCall(const AttrSet& function);
constexpr std::string_view kWrittenOut = "_lower_using_switch_merge";

// Whether a device string names the CPU, or no type of device. False for a malformed string.
bool IsHostDevice(std::string_view device);

// The attribute, or the OpDef's default; false, 0 or an empty text where there is none or it has
// another type.
bool BoolAttr(const Graph& g, NodeId n, std::string_view name);
int64_t IntAttr(const Graph& g, NodeId n, std::string_view name);
float FloatAttr(const Graph& g, NodeId n, std::string_view name);
std::string_view TextAttr(const Graph& g, NodeId n, std::string_view name);

// Returns the value of Const n. RESOURCE_EXHAUSTED if it takes more than `max_bytes` of memory that
// the graph does not take already: a few bytes of a file can stand for a large value. Other errors
// are those of Graph::ConstValue.
absl::StatusOr<Tensor> ConstValueWithin(const Graph& g, NodeId n, size_t max_bytes);

}  // namespace tenon
