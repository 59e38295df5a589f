// What an op is: arguments, attributes in OpDef's type language, flags and its shape function. An
// OpDef that is registered, or belongs to a graph, does not change, but for its shape function:
// OpRegistry::Remove takes it, and Register may give another one. All functions here are then
// thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "graph/op_defs/attr_value.h"
#include "graph/tensor/dtype.h"

namespace tenon {

class InferenceContext;
class AttrSet;
struct OpFacts;                 // graph/op_defs/op_facts.h
extern const OpFacts kNoFacts;  // of an op whose facts are not known
// Fills in the outputs of the context. May be called on several threads at once. Errors are those
// of ops::ShapeFunction (graph/shapes/common_shapes.h), or a plug-in's own.
using ShapeFn = std::function<absl::Status(InferenceContext&)>;

// An input or output of an op. Exactly one of three says its type: a fixed `type`, the value of the
// attribute `type_attr`, or the list in the attribute `type_list_attr`, one tensor for each
// element. With `number_attr`, which never goes with `type_list_attr`, the argument is that many
// tensors of the type. `is_ref` makes each of these types a reference.
struct ArgDef {
  std::string name;
  DataType type = DataType::kInvalid;
  std::string type_attr;
  std::string number_attr;
  std::string type_list_attr;
  bool is_ref = false;
};

// An attribute that nodes of the op have.
struct AttrDef {
  std::string name;
  AttrKind kind = AttrKind::kNone;  // of the value, or of the elements of a list
  bool is_list = false;
  bool has_default = false;
  std::string default_wire;  // AttrValue bytes; empty without a default
  bool has_minimum = false;
  int64_t minimum = 0;                       // of an int, or of a list's length
  std::vector<DataType> allowed_types;       // empty: any
  std::vector<std::string> allowed_strings;  // empty: any
};

struct OpDef {
  std::string name;
  std::vector<ArgDef> inputs;
  std::vector<ArgDef> outputs;
  std::vector<AttrDef> attrs;
  // Of a function's signature: the names of its control outputs.
  std::vector<std::string> control_outputs;
  bool is_stateful = false;     // has an effect, or may answer anew each time
  bool is_commutative = false;  // the order of the inputs does not matter
  bool is_aggregate = false;    // takes N tensors of one type, in any order and grouping: AddN
  bool allows_uninitialized_input = false;  // a reference input may have no value yet
  int deprecated_since = 0;  // GraphDef version from which on the op is refused; below 1: never
  std::string deprecation;
  ShapeFn shape_fn;                  // empty: every output has unknown shape
  const OpFacts* facts = &kNoFacts;  // never null; they live as long as the process

  // Null if the op has no such attribute.
  const AttrDef* FindAttr(std::string_view attr_name) const;
};

// The facts of an op; none for null, which stands for an unknown op.
inline const OpFacts& FactsOfOp(const OpDef* op) { return op == nullptr ? kNoFacts : *op->facts; }

// Builds an OpDef from specs in TensorFlow's notation, in any order of calls. Not thread-safe.
//   AddInput("a: T")  "x: N * T"  "xs: TList"  "ref: Ref(float)"
//   AddAttr("T: {float, double} = DT_FLOAT")  "N: int >= 2"  "strides: list(int) >= 4"
//           "mode: {'A', 'B'} = 'A'"
// The Add functions return INVALID_ARGUMENT, which quotes the spec, for a spec that does not parse.
// The caller sets flags, shape function and facts by def(). Finish checks names and defaults, and
// that every attribute that an argument names exists with a fitting type. An attribute that is the
// number or the list of types of an argument gets a minimum of 1 unless its spec names a minimum.
// Arguments and attributes keep the order of the calls. INVALID_ARGUMENT names the op or argument.
class OpDefBuilder {
 public:
  explicit OpDefBuilder(std::string_view name) { def_.name = std::string(name); }
  absl::Status AddInput(std::string_view spec);
  absl::Status AddOutput(std::string_view spec);
  absl::Status AddAttr(std::string_view spec);
  OpDef& def() { return def_; }
  absl::StatusOr<OpDef> Finish() &&;

 private:
  OpDef def_;
};

using TypeVector = absl::InlinedVector<DataType, 4>;

// Types of every input and output tensor of a node, by port, reference types marked.
struct NodeTypes {
  TypeVector inputs;
  TypeVector outputs;
};
// Returns the types of a node of `op` with the attributes `attrs` and the op's defaults for the
// others. INVALID_ARGUMENT names the attribute at fault: one that is missing, is of the wrong kind,
// names a type that does not exist, or gives an argument a negative number of tensors or more than
// a million. DATA_LOSS for a malformed list of types.
// Does not check what CheckAttrs checks besides: minima and allowed values.
absl::StatusOr<NodeTypes> ResolveTypes(const OpDef& op, const AttrSet& attrs);

// Returns a message for every violation of the op's attributes by `attrs`: missing without default,
// wrong kind, value not allowed (DT_INVALID and reference types never are), below the minimum.
// Attributes that the OpDef lacks are no violation: newer producers write them. Messages name the
// attribute, in TensorFlow's words.
std::vector<std::string> CheckAttrs(const OpDef& op, const AttrSet& attrs);

// Return the ports [first, second) of the inputs (outputs) that argument number `arg` covers.
// INVALID_ARGUMENT for an `arg` that the op does not have. Other errors are those of ArgLength
// (arg_ranges.h) for the arguments up to `arg`.
absl::StatusOr<std::pair<int, int>> InputRange(const OpDef& op, const AttrSet& attrs, int arg);
absl::StatusOr<std::pair<int, int>> OutputRange(const OpDef& op, const AttrSet& attrs, int arg);

// Convert to and from OpDef protobuf bytes (tenon.pb.OpDef, wire-equal to TensorFlow's). The bytes
// have neither shape function nor facts; an OpDef has no descriptions. Equal ops give equal bytes.
// DATA_LOSS for malformed bytes; INVALID_ARGUMENT for types that do not exist, and for arguments
// that have not exactly one type or name no fitting attribute. Names and defaults are not checked.
std::string OpDefToWire(const OpDef& op);
absl::StatusOr<OpDef> OpDefFromWire(std::string_view wire);

}  // namespace tenon
