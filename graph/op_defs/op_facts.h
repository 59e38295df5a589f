// What is true of an op beside its signature: a column of the op's row in graph/ops/<family>.cc.
// Code that wants to know something of an op asks here, by Graph::facts. A field that is left out
// claims nothing: defaults are always safe.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "graph/op_defs/op_def.h"

namespace tenon {

// The part of an op in control flow of version 1. The forms for references (RefSwitch and so on)
// have the same part.
enum class FlowRole : uint8_t {
  kNone,
  kSwitch,         // gives its data to the output that its last input chooses; the others are dead
  kMerge,          // gives the one input that is alive
  kEnter,          // brings a value into a loop
  kExit,           // gives a value out of a loop
  kNextIteration,  // brings a value to the next iteration
  kLoopCond,       // marks the predicate of a loop
};

// How an op calls the functions in its attributes.
enum class CallKind : uint8_t {
  kNone,
  kFunction,  // calls one function
  kIf,        // one of two branches
  kCase,      // one of a list of branches
  kWhile,     // condition and body, again and again
  kFor,       // a body for each number of a range
  kGradient,  // calls the gradient of a function
  kRemote,    // calls a function on another task
};

// Whether the built-in kernel also serves nodes on devices other than the host, as TensorFlow's
// kernels of device type DEFAULT do.
enum class OtherDevices : uint8_t {
  kNever,
  kOnHost,   // for such a node inputs and outputs are in host memory
  kInPlace,  // arguments are in the device's memory, but for OpFacts::host_args: the kernel hands
             // whole tensors on and does not look at their elements
};

// When a node of the op computes an answer in every run, given operands of the right types.
// "Operand i" is data input i. analysis/cannot_fail.h proves the conditions from what is known of a
// node's operands.
enum class Safe : uint8_t {
  kUnknown,        // nothing is known: a run may find an error
  kAlways,         // whatever the values and shapes of the operands are
  kIfBroadcast,    // the shapes of operands 0 and 1 can be broadcast to one shape
  kIfQuotient,     // kIfBroadcast, and the type is floating: integers have no quotient by 0
  kIfSameShapes,   // operands 0 and 1 have the same, fully known shape
  kIfProduct,      // operands 0 and 1 are matrices that can be multiplied, in batches that fit
  kIfReduction,    // operand 1 names axes of operand 0, each once
  kIfReshape,      // operand 0 has as many elements as the sizes in operand 1 say
  kIfSlice,        // the slice lies within operand 0
  kIfStrided,      // single indices lie within operand 0; ranges may be cut short
  kIfSplit,        // `num_split` divides the dimension of operand 1 that operand 0 names
  kIfTranspose,    // operand 1 names each dimension of operand 0 once
  kIfExpanded,     // operand 1 is a place for a new dimension of operand 0
  kIfConcat,       // the parts have the same sizes but along the axis, which exists
  kIfPack,         // the parts have the same sizes
  kIfCast,         // both types are bool, integer or floating
  kIfWindow,       // windows over two dimensions agree with sizes, strides and padding
  kIfShapesKnown,  // all shapes are fully known: shape inference finds every fault
};

// Whether a unary op has a value for every x and never falls, or never rises, where x grows.
enum class Monotone : uint8_t { kNo, kRising, kFalling };

// The part of an op when the pass remapping fuses ops.
enum class Fuses : uint8_t {
  kNo,
  kContraction,  // a product, a convolution, or an op that remapping fuses behind one
  kActivation,   // an activation that is fused into the op that it follows
};

// Whether TensorFlow's _UnaryOpsComposition takes the op, and in which types.
enum class Composes : uint8_t { kNo, kInFloat, kInHalf };  // in float and double; in half too

// How the dimensions of output 0 follow from what is known of the inputs (analysis/equal_dims.h).
enum class DimRule : uint8_t {
  kNone,
  kLikeFirst,     // the shape of input 0
  kBroadcasting,  // all inputs broadcast
  kKeepsBatch,    // dimension 0 is that of input 0; nothing is said of the others
  kProduct,       // a product of matrices, in batches
  kReduction,     // input 0 without the axes in input 1, or with size 1 there
  kMoved,         // Transpose: input 0 permuted; ConcatV2: like input 0, but for the axis
  kReshaped,      // as many elements as input 0
  kSliced,        // a strided slice of input 0
  kGathered,      // rows of input 0 by indices in input 1
  kSummed,        // an Einsum
  kByFirst,       // the sizes are the elements of input 0
  kByThird,       // the sizes are the elements of input 2
  kSplit,         // equal parts of input 1, for every output
};

// Whether an op may compute in bfloat16, as TensorFlow classes ops for CPUs
// (passes/auto_mixed_precision).
enum class Precision : uint8_t {
  kNone,   // unknown: stays as it is
  kAllow,  // worth it: in bfloat16 where the node's device can
  kInfer,  // safe unless an op before it is denied
  kDeny,   // unsafe, and so may be ops behind it
  kClear,  // moves or compares values: in the type of its neighbours
};

// What an op makes that a session keeps from run to run.
enum class State : uint8_t {
  kNone,
  kVariable,
  kFilledTable,  // a table that its initializer fills once
  kMutableTable,
  kDenseTable,  // a mutable table with a key that marks empty slots
};

// What computing an op costs beside reading and writing its elements. graph/shapes/cost.h makes
// numbers of the rules. `scale` is Cost::scale.
enum class CostRule : uint8_t {
  kElements,  // `scale` units for each element of input 0 and of the outputs
  kMove,      // no arithmetic: the op moves or describes data
  kReduce,    // one step for each element that it reads, without time beside the reading
  kProduct,
  kEinsum,          // every combination of the indices
  kWindow,          // a filter at each position of the output
  kChannelWindow,   // a filter for each channel at each position
  kWindowOfInput,   // the gradient of a kWindow or kChannelWindow op for its data
  kWindowOfFilter,  // the gradient of a kWindow or kChannelWindow op for its filter
  kLargestTwo,      // each element of the largest operand with each of the second largest
  kMatrix,          // each element with the longer side of its matrix, `scale` times
  kFourier,         // a Fourier transform over the last `scale` dimensions
  kSort,            // sorting along the last dimension
  kPool,            // the window over each element that it reads
  kPoolGradient,
  kPairs,  // each element of input 0 with each other one
};
// `scale` is 0 for rules that do not name it.
struct Cost {
  CostRule rule = CostRule::kElements;
  float scale = 0;
};

struct OpFacts {
  // --- Where nodes run and what carries them out.
  bool mover = false;         // at most hands its input on: runs wherever its neighbours do
  bool in_plan = false;       // the plan carries it out itself, or makes no step of it
  bool renames = false;       // its output is its input, or what is fed, in the same memory
  bool metadata = false;      // reads no more of its input than the shape
  bool placeholder = false;   // has no value unless one is fed
  bool from_outside = false;  // the caller of the graph gives its value or takes it
  FlowRole flow = FlowRole::kNone;
  CallKind calls = CallKind::kNone;
  OtherDevices other_devices = OtherDevices::kNever;
  // Arguments that are in host memory for a node on another device: names, separated by spaces.
  // With kOnHost all others are too, though not named.
  const char* host_args = "";

  // --- What rewrites may assume.
  Safe safe = Safe::kUnknown;
  bool checked_by_shapes = false;  // with all shapes known, inference finds every fault
  bool identity = false;           // its one output is its one data input
  bool passes_memory = false;      // an output may lie in the memory of an input
  uint8_t cwise_arity = 0;         // combines that many operands element by element; 0: does not
  Monotone monotone = Monotone::kNo;
  Fuses fuses = Fuses::kNo;
  Composes composes = Composes::kNo;
  DimRule dims = DimRule::kNone;
  Precision precision = Precision::kNone;
  bool tensor_list = false;  // makes, reads or changes a TensorList

  // --- State.
  bool only_reads = false;  // stateful only because it reads state: an unused node may be removed
  bool repeatable = false;  // stateful, but has no lasting effect: a graph's run may be repeated
  State state = State::kNone;
  bool anonymous = false;  // each run makes its state anew; nothing is kept

  Cost cost;
};

inline bool IsSwitch(const OpFacts& op) { return op.flow == FlowRole::kSwitch; }
inline bool IsMerge(const OpFacts& op) { return op.flow == FlowRole::kMerge; }
inline bool IsEnter(const OpFacts& op) { return op.flow == FlowRole::kEnter; }
inline bool IsExit(const OpFacts& op) { return op.flow == FlowRole::kExit; }
inline bool IsNextIteration(const OpFacts& op) { return op.flow == FlowRole::kNextIteration; }
inline bool IsControlFlow(const OpFacts& op) { return op.flow != FlowRole::kNone; }
inline bool NeverFails(const OpFacts& op) { return op.safe == Safe::kAlways; }
inline bool IsUnaryCwise(const OpFacts& op) { return op.cwise_arity == 1; }

// Returns what an op of a plug-in says of itself: the default of its attribute `tenon_facts`, a
// list of strings. An op without the attribute states nothing: all fields have their defaults.
//   never_fails   Safe::kAlways
//   elementwise   one output; each element is made of the elements in the same place of one or two
//                 inputs; with one input the output has the input's shape, two inputs broadcast; no
//                 argument is a list or a reference
//   like_first    DimRule::kLikeFirst
//   metadata      OpFacts::metadata
//   moves_data    CostRule::kMove
//   bfloat16:allow, bfloat16:infer, bfloat16:deny, bfloat16:clear   OpFacts::precision
// The host does not check that a statement is true. INVALID_ARGUMENT for a word that is none of
// these or does not fit the op, and for an attribute that is no list(string) with a default.
inline constexpr std::string_view kFactsAttr = "tenon_facts";
absl::StatusOr<OpFacts> StatedFacts(const OpDef& op);

}  // namespace tenon
