// One built-in op as a row of a table (graph/ops/<family>.cc).
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
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

}  // namespace tenon
