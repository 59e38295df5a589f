// What passes ask about single nodes.
#pragma once

#include <initializer_list>
#include <string_view>

#include "graph/ir/graph.h"

namespace tenon {

bool OpIs(const Graph& g, NodeId n, std::initializer_list<std::string_view> names);

// Whether n reads a variable by reference: what it holds at that time.
bool ReadsReference(const Graph& g, NodeId n);

// Whether n reads an output of a Switch: that it is dead cannot be waited for, since the Switch
// itself runs.
bool ReadsSwitch(const Graph& g, NodeId n);

// Whether a node, or one of a function that a node calls, is one behind which values may be dead,
// or never come because it fails on purpose, or which does something beside computing them.
bool MayStopARun(const Graph& graph);

// Whether who waits for n itself may go on without its values: a Switch runs whichever of them is
// dead, and calls and branches, as TensorFlow writes them out, make others wait for no more than
// their functions name as control outputs.
bool IsAwaitedByValueOnly(const Graph& g, NodeId n);

// Whether a call, branch or loop computes every result in each run, even those that nobody reads.
// TensorFlow's kernels do; branches and loops that its graphs mark to be written out compute what
// is read, but for functions that stay calls even then.
bool ComputesAllResults(const AttrSet& attrs);
bool StaysCall(const AttrSet& function);
constexpr std::string_view kWrittenOut = "_lower_using_switch_merge";

// Whether a device string names the CPU, or no type of device.
bool IsHostDevice(std::string_view device);

// The attribute, or the OpDef's default; false or 0 where there is none.
bool BoolAttr(const Graph& g, NodeId n, std::string_view name);
int64_t IntAttr(const Graph& g, NodeId n, std::string_view name);

// The value of Const n; RESOURCE_EXHAUSTED if it takes more than `max_bytes` of memory that the
// graph does not take already: a few bytes of a file can stand for a large value.
absl::StatusOr<Tensor> ConstValueWithin(const Graph& g, NodeId n, size_t max_bytes);

}  // namespace tenon
