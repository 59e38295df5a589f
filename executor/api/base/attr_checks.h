// Checks of ops and attributes, with TensorFlow's messages.
#pragma once

#include "absl/status/status.h"
#include "graph/op_defs/op_def.h"
#include "tensorflow/c/tf_attrtype.h"

namespace tenon::api {

// OK if `value` has the type that `def` declares, is at least the minimum that `def` declares, and
// is one of the values that `def` allows. Of a list, the length must be at least the minimum, and
// each element must have the type and be allowed. A value that is not set counts as an empty list;
// it is refused if `def` declares no list. Placeholders are refused. Of types and shapes, also in
// lists, the content is looked at: reference types, types that do not exist and impossible shapes
// are refused. Other values are decoded only as far as the minimum and the allowed values need it:
// bytes of a tensor or of a function may be anything. INVALID_ARGUMENT: "Value for attr 'T' of
// string is not in the list of allowed values: float", "AttrValue had value with type 'int' when
// 'type' expected\n\t for attr 'T'" and the like.
absl::Status CheckAttr(const AttrDef& def, const AttrValue& value);

// UNIMPLEMENTED if graphs of version `producer` (VersionDef) no longer have the op.
absl::Status CheckDeprecation(const OpDef& op, int producer);

// Whether two values are equal, also if they are serialized in different ways. Two tensors are
// compared by type, shape and the bits of their elements; tensors in a list, by their bytes. A
// tensor that does not decode equals only a value with the same bytes.
bool SameAttr(const AttrValue& a, const AttrValue& b);

// The C API's number of a kind of value. `kind` must be neither kNone nor kList: they have none.
TF_AttrType AttrTypeOf(AttrKind kind);

}  // namespace tenon::api
