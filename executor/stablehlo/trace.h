// The ops of a program in the order in which they were written, for a comparison of two programs.
// Ops whose text was thrown away are among them (Builder::set_trace).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "graph/ir/graph.h"
#include "graph/tensor/dtype.h"
#include "graph/tensor/shape.h"

namespace tenon::stablehlo {

// Ops of one kind take their elements from the same places of their operands. Beside each stands
// what TracedOp::numbers has.
enum class OpKind : uint8_t {
  kConstant,       // TracedOp::what has all elements
  kSplat,          // all elements are what TracedOp::what says
  kIota,           // {dim}
  kElementwise,    // operands have the shape of the result, or are scalars
  kBroadcast,      // {dims}
  kReshape,        //
  kTranspose,      // {dims}
  kReverse,        // {dims}
  kConcat,         // {dim}
  kSlice,          // {begin}, {stride}
  kDynamicSlice,   // {sizes}; operands: x, starts
  kDynamicUpdate,  // operands: x, update, starts
  kPad,            // {low}, {interior}
  kReduce,         // {dims}; operands: tensors, then scalars
  kWindow,         // {size}, {stride}, {low}, {high}, {base dilation}; the same of all tensors
  kSort,           // {dim}
  kDot,            // {batch of x}, {batch of y}, {sum of x}, {sum of y}
  kConvolution,    // {batch axis of x}, {batch axis of the result}, {batch groups}, ...
  kGather,         // {offset}, {collapsed}, {start index map}, {slice sizes}, {index vector dim}
  kLastAxes,       // {n}: the same function of the last n axes for each place of the others
  kRegions,        // loops and branches; operands: what a loop begins with, or the selector
  kReturn,         // of a region; operands: its results
  kOther,
};

struct TracedValue {
  enum class From : uint8_t { kOp, kArgument, kWeight };
  From from = From::kOp;
  int32_t id = 0;  // the results of one op, and what enters a region, have the numbers of the text
  DataType dtype = DataType::kInvalid;
  Shape shape;
};

struct TracedOp {
  OpKind kind = OpKind::kOther;
  // Name, types, attributes: what decides beside `numbers` and shapes.
  std::string what;
  NodeId node = kNoNode;  // as Program::line_nodes
  int depth = 0;          // greater within a region, whose ops stand before the op of the region
  std::vector<TracedValue> operands, results;
  std::vector<absl::InlinedVector<int64_t, 6>> numbers;
};

struct Trace {
  std::vector<TracedOp> ops;
  std::vector<TracedValue> results;  // as Program::results
};

}  // namespace tenon::stablehlo
