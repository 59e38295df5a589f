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

// Whether a device string names the CPU, or no type of device.
bool IsHostDevice(std::string_view device);

// The attribute, or the OpDef's default; false or 0 where there is none.
bool BoolAttr(const Graph& g, NodeId n, std::string_view name);
int64_t IntAttr(const Graph& g, NodeId n, std::string_view name);

// The value of Const n; RESOURCE_EXHAUSTED if it takes more than `max_bytes` of memory that the
// graph does not take already: a few bytes of a file can stand for a large value.
absl::StatusOr<Tensor> ConstValueWithin(const Graph& g, NodeId n, size_t max_bytes);

}  // namespace tenon
