// What an op is: arguments, attributes in OpDef's type language, flags and its shape function.
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
extern const OpFacts kNoFacts;  // of an op that nobody has said anything of
using ShapeFn = std::function<absl::Status(InferenceContext&)>;

// An input or output. Its type is one of: a fixed `type`, the value of `type_attr`, the list in
// `type_list_attr`; with `number_attr` it is that many tensors of the type.
struct ArgDef {
  std::string name;
  DataType type = DataType::kInvalid;
  std::string type_attr;
  std::string number_attr;
  std::string type_list_attr;
  bool is_ref = false;
};

struct AttrDef {
  std::string name;
  AttrKind kind = AttrKind::kNone;  // of the value, or of the elements of a list
  bool is_list = false;
  bool has_default = false;
  std::string default_wire;  // AttrValue bytes
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
  std::vector<std::string> control_outputs;
  bool is_stateful = false;
  bool is_commutative = false;
  bool is_aggregate = false;
  bool allows_uninitialized_input = false;
  int deprecated_since = 0;  // GraphDef version from which on the op is refused; 0: never
  std::string deprecation;
  ShapeFn shape_fn;                  // empty: every output has unknown shape
  const OpFacts* facts = &kNoFacts;  // never null; they live as long as the process

  const AttrDef* FindAttr(std::string_view attr_name) const;
};

inline const OpFacts& FactsOfOp(const OpDef* op) { return op == nullptr ? kNoFacts : *op->facts; }

// Builds an OpDef from specs in TensorFlow's notation. Each returns INVALID_ARGUMENT that quotes
// the spec.
//   AddInput("a: T")  "x: N * T"  "xs: TList"  "ref: Ref(float)"
//   AddAttr("T: {float, double} = DT_FLOAT")  "N: int >= 2"  "strides: list(int) >= 4"  "mode:
//   {'A', 'B'} = 'A'"
// Finish checks that every attr that an argument names exists with a fitting type, gives length
// attrs minimum 1, and sorts nothing.
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

// Types of every input and output tensor of a node of `op` with these attributes (reference types
// marked).
struct NodeTypes {
  TypeVector inputs;
  TypeVector outputs;
};
// INVALID_ARGUMENT names the attribute that is missing or of the wrong type.
absl::StatusOr<NodeTypes> ResolveTypes(const OpDef& op, const AttrSet& attrs);

// Every violation of the op's attributes by `attrs`: missing without default, wrong kind, value not
// allowed, below the minimum. Attributes that the OpDef lacks are none: newer producers write them.
// Message texts name the attribute.
std::vector<std::string> CheckAttrs(const OpDef& op, const AttrSet& attrs);

// Half-open range of the flattened inputs (outputs) that argument `arg` covers. INVALID_ARGUMENT as
// ResolveTypes.
absl::StatusOr<std::pair<int, int>> InputRange(const OpDef& op, const AttrSet& attrs, int arg);
absl::StatusOr<std::pair<int, int>> OutputRange(const OpDef& op, const AttrSet& attrs, int arg);

// OpDef protobuf bytes (tenon.pb.OpDef, wire-equal to TensorFlow's), both ways.
std::string OpDefToWire(const OpDef& op);
absl::StatusOr<OpDef> OpDefFromWire(std::string_view wire);

}  // namespace tenon
