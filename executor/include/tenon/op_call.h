// A call of an op as it is run, traced and recorded, and the functions that do so.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tenon/scopes.h"
#include "tenon/tensor_class.h"

namespace tenon::inline v0 {
namespace internal {

class FunctionRep;

}  // namespace internal

// A function as the value of an attribute: its name, and the function itself where this program
// made it. A graph that names such a function gets it. A ConcreteFunction converts to a
// FunctionName. Two are equal if their names are. `function` must not be a null text.
struct FunctionName {
  FunctionName() = default;
  FunctionName(std::string function) : name(std::move(function)) {}  // NOLINT
  FunctionName(const char* function) : name(function) {}             // NOLINT
  FunctionName(std::string function, std::shared_ptr<internal::FunctionRep> held)
      : name(std::move(function)), rep(std::move(held)) {}
  friend bool operator==(const FunctionName& a, const FunctionName& b) { return a.name == b.name; }

  std::string name;
  std::shared_ptr<internal::FunctionRep> rep;
};

namespace internal {

// An attribute of a call. Lists of bools, ints and types are `numbers`. A plain struct in the place
// of a std::variant, which costs a program that includes this a second of compiling.
struct NamedAttr {
  enum class Kind : char {
    kBool,
    kInt,
    kFloat,
    kString,
    kType,
    kShape,
    kTensor,
    kFunction,
    kBools,
    kInts,
    kFloats,
    kStrings,
    kTypes,
    kShapes,
    kFunctions,
  };
  std::string name;
  Kind kind = Kind::kInt;
  int64_t number = 0;  // of kBool, kInt, kType
  float real = 0;
  std::vector<int64_t> numbers = {};
  std::vector<float> reals = {};
  std::vector<std::string> strings = {};     // kString has one
  std::vector<Shape> shapes = {};            // kShape has one
  std::vector<FunctionName> functions = {};  // kFunction has one
  Tensor tensor = {};
};

// An argument that is a list of tensors.
struct ListInput {
  size_t first;  // of OpCall::tensors
  size_t count;
};

// A call of an op or a function, as it is run, traced, and recorded by tapes.
struct OpCall {
  std::string type;
  std::vector<Tensor> tensors;
  std::vector<ListInput> lists;  // in order; each other tensor is an argument of its own
  std::vector<NamedAttr> attrs;
  Where where;
  std::shared_ptr<FunctionRep> function;  // if `type` is the name of one
};

// How a node touches state, for the order of side effects.
enum class Effect {
  kNone,    // its outputs say all about it
  kRandom,  // draws numbers: stateful, but in no order
  kRead,    // reads the resources that it takes
  kWrite,   // may do anything to the resources that it takes, or to the world if it takes none
};

// What a node of a trace is beside its call.
struct NodeOptions {
  std::string name;  // empty: after the op
  Effect effect = Effect::kNone;
  bool effect_is_known = false;  // false: the effect is that of the op
  bool touches_world = false;    // has effects beside those on the resources that it takes

  // What the node does, whatever ops of its type do.
  void SetEffect(Effect of_node, bool of_world = false) {
    effect = of_node;
    effect_is_known = true;
    touches_world = of_world;
  }
};

void AddEagerSeeds(OpCall& call);
// Runs the call and writes the handles of its outputs, which the caller owns. Returns how many
// there are. INVALID_ARGUMENT, before the op runs, if there are more than `max_outputs`.
size_t RunEagerly(const OpCall& call, TFE_TensorHandle** outputs, size_t max_outputs);
std::vector<Tensor> RunEagerly(const OpCall& call, size_t max_outputs);

// What ops need of the headers that trace. A program that makes no function does not compile them.
struct TraceFunctions {
  // Adds the op as a node to the trace of this thread. Once the program has called SetSeed, an op
  // that draws numbers and has no seeds gets seeds. `run` also gives the node's outputs, and takes
  // care of functions with a CustomGradient.
  TF_Operation* (*add)(OpCall& call, const NodeOptions& options);
  std::vector<Tensor> (*run)(OpCall& call, const NodeOptions& options);
  // Where the program is in the trace of this thread: TraceGraph::LastPlace.
  Where (*last_place)();
  // TraceGraph::UniqueName.
  std::string (*unique_name)(TraceGraph& graph, const std::string& base);
  // The graph of a symbol.
  TF_Graph* (*graph_of)(const TensorRep& symbol);
  // Makes a function known to the eager context: FunctionRep::Register.
  void (*register_function)(const std::shared_ptr<FunctionRep>& function);
  // Throws the error of a call of a function, with the place of the node that failed.
  void (*throw_from_function)(const OpCall& call, TF_Status* status);
};
// Set by the first TraceScope: before there is a trace, a symbol or a function. Null until then,
// when TraceFunctionsInUse must not be called.
inline std::atomic<const TraceFunctions*> trace_functions = nullptr;
inline const TraceFunctions& TraceFunctionsInUse() {
  return *trace_functions.load(std::memory_order_acquire);
}

// Calls one(i) for each tensor of the call that is an argument of its own, and list(argument) for
// each argument that is a list, in the order of the arguments.
template <typename One, typename List>
void ForArguments(const OpCall& call, const One& one, const List& list) {
  auto next = call.lists.begin();
  for (size_t i = 0; i < call.tensors.size() || next != call.lists.end();) {
    if (next == call.lists.end() || i != next->first) {
      one(i++);
    } else {
      list(*next);
      i += next->count;
      ++next;
    }
  }
}

// Set by the first GradientTape. Called if IsRecording().
inline std::atomic<void (*)(OpCall&& call, std::span<const Tensor> outputs)> record_on_tapes =
    nullptr;

// Throws if the call reads a variable that a gradient may be asked for. Set by the first
// CustomGradient. Called if scopes.watch is set.
inline std::atomic<void (*)(const VariableWatch& watch, const OpCall& call)> check_variables =
    nullptr;

// Whether a tape sees what this thread does.
inline bool IsRecording() { return scopes.tape != nullptr; }

}  // namespace internal

}  // namespace tenon::inline v0
