// One built-in op as a row of a table (graph/ops/<family>.cc).
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/op_defs/op_def.h"
#include "graph/op_defs/op_facts.h"

namespace tenon {

// Flags of an op, which can be combined with '|'. They mean what the fields of OpDef (op_def.h) of
// like names mean.
enum OpFlag : uint32_t {
  kPure = 0,
  kStateful = 1,
  kCommutative = 2,
  kAggregate = 4,
  kUninitializedInput = 8,
};

// One row of a family's op table (graph/ops/<family>.cc). Specs are in OpDefBuilder's notation;
// several arguments or attributes are separated by ';'. The registry parses a row at the op's first
// use. With a null shape function the shapes of all outputs are unknown. Rows are constants and
// live as long as the process.
struct OpSpec {
  const char* name;
  const char* inputs;
  const char* outputs;
  const char* attrs;
  absl::Status (*shape_fn)(InferenceContext&);
  uint32_t flags = kPure;
  OpFacts facts = {};
  int deprecated_since = 0;  // GraphDef version from which on the op is refused; 0: never
  const char* deprecation = "";
};

// Returns the families' tables, gathered by graph/ops/all_ops.cc. No two rows have one name.
absl::Span<const absl::Span<const OpSpec>> BuiltinOps();

// Returns tables of ops that TensorFlow registers and that have no OpSpec: the host cannot carry
// them out and knows no facts of them. Each row is a line, in which bars separate name, inputs,
// outputs, attributes, flags and shapes:
//   "XlaDot|lhs:T; rhs:T|output:T|T:numbertype; …|stateful|[] ?\n"
// The flags are words: stateful, commutative, aggregate, uninitialized, and at last "deprecated
// VERSION EXPLANATION". The shapes are those of the outputs whatever the inputs are, "?" and
// "[?,2]" for what is not known; with none all are unknown. Names are in no table twice and in no
// OpSpec. The tables live as long as the process (graph/ops/signatures/).
absl::Span<const char* const> SignatureTables();
// The shape function that gives the shapes of the last field of such a row.
ShapeFn ShapesFromText(std::string_view text);

// Parse one row; `row` has no "\n". The OpDef of a row of a signature table has no facts.
// INVALID_ARGUMENT names the part that does not parse: rows are right, which a test shows.
absl::StatusOr<OpDef> ParseOpSpec(const OpSpec& spec);
absl::StatusOr<OpDef> ParseSignature(std::string_view row);

}  // namespace tenon
