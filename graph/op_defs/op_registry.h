// All ops that the process knows: the built-in ops and the ops that plug-ins register. There is one
// registry for a process, because TensorFlow's C ABI registers ops without a handle. It works
// before and during static construction of anything else. All functions are thread-safe.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "graph/op_defs/op_def.h"

namespace tenon {

class OpRegistry {
 public:
  static OpRegistry& Global();

  // Returns the op; null if no op has the name or the op was removed. The pointer stays valid for
  // the life of the process, also after Remove; only the shape function goes then.
  const OpDef* Find(std::string_view name);

  // Returns the facts of the op of this name; kNoFacts for an unknown or removed op. Unlike Find
  // this parses no row of a table, so it is cheap for all names. The reference stays valid for the
  // life of the process.
  const OpFacts& Facts(std::string_view name);

  // Whether the op is one of the host's own, which no plug-in can replace or remove.
  bool IsBuiltin(std::string_view name) const;

  // Registers an op, with the facts that it states (StatedFacts); an op without kFactsAttr keeps
  // OpDef::facts. If the op of this name that was removed last has the same OpDef bytes, it comes
  // back: Find returns its old pointer again, with the old facts and the new shape function.
  // ALREADY_EXISTS "Op with name X" if an op has the name; INVALID_ARGUMENT if StatedFacts refuses
  // the statement.
  absl::Status Register(OpDef op);
  // Takes a registered op out again, when a plug-in is unloaded or has failed to load. Graphs may
  // still point to the op. Does nothing for built-in and unknown ops. The caller makes sure that no
  // thread is in the op's shape function.
  void Remove(std::string_view name);

  // Returns the names of all ops, sorted. The views live as long as the process.
  std::vector<std::string_view> Names();

  // Returns the name of the op that is closest to `name` by edit distance, for "did you mean";
  // empty if no name is close (graph/base/closest.h).
  std::string_view Closest(std::string_view name);

 private:
  OpRegistry();
  struct Impl;
  Impl* impl_;
};

// NOT_FOUND, with TensorFlow's message for an op that its registry lacks.
absl::Status OpNotRegistered(std::string_view name);

}  // namespace tenon
