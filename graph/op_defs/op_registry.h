// All ops that the process knows: the built-in ones and those that plug-ins register. The one
// registry of its kind, because TensorFlow's C ABI registers ops without a handle; it works before
// and during static construction of anything else.
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

  // The op, or null. The pointer stays valid for the life of the process, also after Remove.
  // Thread-safe.
  const OpDef* Find(std::string_view name);

  // What is true of the op, where only its name is at hand: nothing of an unknown one. Parses no
  // row, so that all may be asked for. The reference stays valid for the life of the process.
  // Thread-safe.
  const OpFacts& Facts(std::string_view name);

  // Whether the op is one of the host's own.
  bool IsBuiltin(std::string_view name) const;

  // ALREADY_EXISTS "Op with name X" for a second op of that name; INVALID_ARGUMENT for one that
  // states of itself what it cannot (StatedFacts).
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

}  // namespace tenon
