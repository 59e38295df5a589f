// All ops that the process knows: the built-in ones and those that plug-ins register. The one
// registry of its kind, because TensorFlow's C ABI registers ops without a handle; it works before
// and during static construction of anything else.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "graph/op_defs/op_def.h"

namespace tenon {

// One row of a family's op table (graph/ops/<family>.cc). Specs are in OpDefBuilder's notation;
// several arguments or attrs are separated by ';'. Parsed at the op's first use. A null shape
// function leaves the outputs unknown.
struct OpSpec {
  const char* name;
  const char* inputs;
  const char* outputs;
  const char* attrs;
  absl::Status (*shape_fn)(InferenceContext&);
  uint32_t flags = 0;
  int deprecated_since = 0;  // GraphDef version from which on the op is refused; 0: never
  const char* deprecation = "";
};
enum OpFlag : uint32_t { kStateful = 1, kCommutative = 2, kAggregate = 4, kUninitializedInput = 8 };

class OpRegistry {
 public:
  static OpRegistry& Global();

  // The op, or null. The pointer stays valid for the life of the process, also after Remove.
  // Thread-safe.
  const OpDef* Find(std::string_view name);

  // Whether the op is one of the host's own.
  bool IsBuiltin(std::string_view name) const;

  // ALREADY_EXISTS "Op with name X" for a second op of that name.
  absl::Status Register(OpDef op);
  // Takes a registered (not a built-in) op out again: a plug-in is unloaded or failed half-way.
  void Remove(std::string_view name);

  // Names of all ops, sorted.
  std::vector<std::string_view> Names();

  // The registered name closest to `name` by edit distance, or empty: for "did you mean".
  std::string_view Closest(std::string_view name);

 private:
  OpRegistry();
  struct Impl;
  Impl* impl_;
};

// The families' tables, gathered by graph/ops/all_ops.cc.
absl::Span<const absl::Span<const OpSpec>> BuiltinOps();

}  // namespace tenon
