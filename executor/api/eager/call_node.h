// An op with its attributes and types, as kernels see it. Private to executor/api/eager/.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/api/eager/callable.h"
#include "executor/api/eager/op_attrs.h"
#include "graph/op_defs/attr_set.h"
#include "graph/op_defs/op_def.h"

namespace tenon::eager {

// Owns the bytes of its attributes. After Resolve nothing but `name` changes. May be moved.
struct CallNode {
  // Copies the attributes; `def` must outlive the node. `types` is empty until Resolve sets it.
  CallNode(const OpDef& def, const OpAttrs& attrs);
  CallNode(CallNode&&) = default;

  // Checks the attributes against the OpDef, and sets `types`. To be called once, before all else
  // but MissingAttrs. With TensorFlow's messages: NOT_FOUND if an attribute is missing that gives
  // the number or the types of arguments or results; INVALID_ARGUMENT if another attribute is
  // missing, or if the OpDef does not allow a value.
  absl::Status Resolve();
  // INVALID_ARGUMENT that names the attributes that are missing; OK if none is.
  absl::Status MissingAttrs() const;
  // INVALID_ARGUMENT if the inputs have another number or other types than `types` says. No input
  // has the type of an argument that is a reference. UNIMPLEMENTED if graphs no longer have the op,
  // or if a result is a reference.
  absl::Status CheckInputs(Inputs inputs) const;

  // Gives the node a name that no other node has, where a kernel or a plan may keep state by the
  // name. To be called after Resolve. Thread-safe for different nodes.
  void TakeOwnName();

  // The name of the node: that of the op, or what TakeOwnName gave.
  std::string name;
  const OpDef* def;
  std::vector<std::pair<std::string, std::string>> values;  // names and bytes: `attrs` views them
  AttrSet attrs;                                            // sorted by name
  NodeTypes types;
};

}  // namespace tenon::eager
