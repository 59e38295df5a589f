// Signatures of ops that TensorFlow registers and that have no row in graph/ops: a row of text for
// each, in the form that graph/op_defs/op_row.h describes. signatures.cc gathers the tables.
// Private to graph/ops/signatures/.
#pragma once

namespace tenon::ops {

extern const char kOneDnnSignatures[];
extern const char kOtherSignatures[];
extern const char kPipelineSignatures[];
extern const char kTpuSignatures[];
extern const char kXlaSignatures[];

}  // namespace tenon::ops
