// What is true of an op beside its signature: a column of the op's row in graph/ops/<family>.cc.
// Whoever wants to know something of an op asks here, by Graph::facts; no other file lists ops.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "graph/op_defs/op_def.h"

namespace tenon {

// The part of an op in control flow of version 1; forms for references have the same part.
enum class FlowRole : uint8_t {
  kNone,
  kSwitch,  // its input decides which of its outputs are dead
  kMerge,
  kEnter,
  kExit,
  kNextIteration,
  kLoopCond,
};

// How an op calls functions.
enum class CallKind : uint8_t {
  kNone,
  kFunction,
  kIf,
  kCase,
  kWhile,
  kFor,
  kGradient,  // of the function
  kRemote,    // on another task
};

// Whether the built-in kernel also serves nodes on other devices than the host, as TensorFlow's
// kernels of device type DEFAULT do.
enum class OtherDevices : uint8_t {
  kNever,
  kOnHost,   // inputs and outputs are in host memory
  kInPlace,  // they are in the device's memory, but for resources: the kernel hands whole tensors
             // on and does not look at their elements
};

// When a node of the op computes an answer in every run, given operands of the right types.
enum class Safe : uint8_t {
  kUnknown,        // nothing is known: a run may find an error
  kAlways,         // whatever the values and shapes of its operands are
  kIfBroadcast,    // their shapes can be combined
  kIfQuotient,     // the same, and they are floating: integers have no quotient by 0
  kIfSameShapes,   // the first two have one known shape
  kIfProduct,      // matrices stand behind batches that fit, and can be multiplied
  kIfReduction,    // the axes are axes of the first
  kIfReshape,      // the elements of the first fit the sizes in the second
  kIfSlice,        // the slice is there
  kIfStrided,      // single indices are there; ranges may be cut short
  kIfSplit,        // the dimension can be split into equal parts
  kIfTranspose,    // the order names each dimension once
  kIfExpanded,     // the new dimension has a place
  kIfConcat,       // the parts have the same sizes but along the axis
  kIfPack,         // the parts have the same sizes
  kIfCast,         // between numbers
  kIfWindow,       // windows over two dimensions agree with sizes, strides and padding
  kIfShapesKnown,  // all shapes are known: inference finds every fault
};

// Whether f(x) never falls, or never rises, where x grows, and has a value everywhere.
enum class Monotone : uint8_t { kNo, kRising, kFalling };

// The part of an op where remapping fuses.
enum class Fuses : uint8_t {
  kNo,
  kContraction,  // a product, a convolution, or what remapping puts behind one
  kActivation,   // an activation that goes into what it follows
};

// Whether TensorFlow's _UnaryOpsComposition takes the op.
enum class Composes : uint8_t { kNo, kInFloat, kInHalf };  // in float and double; in half too

// How what is known of an op's inputs tells the dimensions of output 0.
enum class DimRule : uint8_t {
  kNone,
  kLikeFirst,  // the shape of input 0
  kBroadcasting,
  kKeepsBatch,  // dimension 0 is that of input 0
  kProduct,
  kReduction,
  kMoved,
  kReshaped,
  kSliced,
  kGathered,
  kSummed,
  kByFirst,  // as the vector in input 0 says
  kByThird,
  kSplit,  // of every output
};

// Whether an op may compute in bfloat16, as TensorFlow has it for CPUs.
enum class Precision : uint8_t {
  kNone,   // unknown: stays as it is
  kAllow,  // worth it: always in bfloat16
  kInfer,  // safe unless something before it is denied
  kDeny,   // unsafe, and so may be what follows
  kClear,  // moves or compares values: in the type of its neighbours
};

// What an op makes that a session remembers from run to run.
enum class State : uint8_t {
  kNone,
  kVariable,
  kFilledTable,  // filled once, by its initializer
  kMutableTable,
  kDenseTable,  // mutable, with an empty key
};

// What computing an op costs beside reading and writing its elements (graph/shapes/cost.h).
enum class CostRule : uint8_t {
  kElements,  // `scale` for each element, where that is much more than usual
  kMove,      // no arithmetic: it moves or describes data
  kReduce,    // what it reads, once
  kProduct,
  kEinsum,
  kWindow,          // a filter over each position of the output
  kChannelWindow,   // a filter for each channel
  kWindowOfInput,   // the gradients of such, for the data
  kWindowOfFilter,  // and for the filter
  kLargestTwo,      // the two largest operands, each element with each
  kMatrix,          // each element with the longer side, `scale` times
  kFourier,         // over `scale` dimensions
  kSort,            // along the last dimension
  kPool,            // the window over what it reads
  kPoolGradient,
  kPairs,  // each element of input 0 with each
};
struct Cost {
  CostRule rule = CostRule::kElements;
  float scale = 0;
};

struct OpFacts {
  // --- Where nodes run and what carries them out.
  bool mover = false;         // moves data at most: runs wherever its neighbours do
  bool in_plan = false;       // the plan carries it out itself, or makes no step of it at all
  bool renames = false;       // its output is its input, by another name, wherever that is
  bool metadata = false;      // asks for no more than the shape of its input
  bool placeholder = false;   // without a value unless one is fed
  bool from_outside = false;  // what it stands for, the caller of the graph says
  FlowRole flow = FlowRole::kNone;
  CallKind calls = CallKind::kNone;
  OtherDevices other_devices = OtherDevices::kNever;
  const char* host_args = "";  // the arguments in host memory there, by spaces

  // --- What rewrites may assume.
  Safe safe = Safe::kUnknown;
  bool checked_by_shapes = false;  // with all operands' shapes known, inference finds every fault
  bool identity = false;           // gives its one input
  bool passes_memory = false;      // an output may be the memory of an input, or a part of it
  uint8_t cwise_arity = 0;  // operands of which it combines element by element; 0: is no such
  Monotone monotone = Monotone::kNo;
  Fuses fuses = Fuses::kNo;
  Composes composes = Composes::kNo;
  DimRule dims = DimRule::kNone;
  Precision precision = Precision::kNone;
  bool tensor_list = false;  // makes, reads or changes a TensorList

  // --- State.
  bool only_reads = false;  // stateful only because of what it takes or gives
  bool repeatable = false;  // stateful, but may run twice: it only reads
  State state = State::kNone;
  bool anonymous = false;  // its state is new in each run

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

// What an op of a plug-in says of itself: the default of its attribute `tenon_facts`, a list of
// strings. Without the attribute an op has no facts.
//   never_fails   Safe::kAlways
//   elementwise   one output, each element made of those of its one or two inputs in that place;
//                 of one input the output has its shape
//   like_first    DimRule::kLikeFirst
//   metadata      OpFacts::metadata
//   moves_data    CostRule::kMove
//   bfloat16:allow, bfloat16:infer, bfloat16:deny, bfloat16:clear   OpFacts::precision
// INVALID_ARGUMENT names a word that is none of these, or does not fit the op.
inline constexpr std::string_view kFactsAttr = "tenon_facts";
absl::StatusOr<OpFacts> StatedFacts(const OpDef& op);

}  // namespace tenon
