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

// Owns the bytes of its attributes. Immutable once made; may be moved.
struct CallNode {
  // Without `types`, which Resolve sets. Copies the attributes; `def` must outlive the node.
  CallNode(const OpDef& def, const OpAttrs& attrs);
  CallNode(CallNode&&) = default;

  // Checks the attributes against the OpDef, and sets `types`. With TensorFlow's words: NOT_FOUND
  // for a missing attribute that says the number or the types of arguments, INVALID_ARGUMENT for
  // another one, and for a value that the OpDef does not allow. UNIMPLEMENTED for references.
  absl::Status Resolve();
  // INVALID_ARGUMENT for inputs of another number or type than `types` has.
  absl::Status CheckInputs(Inputs inputs) const;

  std::string name;  // of the node that stands for the op: the op's
  const OpDef* def;
  std::vector<std::pair<std::string, std::string>> values;  // of `attrs`
  AttrSet attrs;                                            // sorted by name
  NodeTypes types;
};

}  // namespace tenon::eager
