// The functions of eager/c_api_experimental.h on the attributes of an op as a whole, and on ops as
// a whole.
#include <climits>

#include "executor/api/eager/eager_op.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/without_memory.h"
#include "graph/wire/wire.h"
#include "graph/wire/wire_check.h"
#include "tensorflow/c/eager/c_api_experimental.h"

namespace tenon::eager {
namespace {

// A TFE_OpAttrs is the op that has the attributes.
const TFE_OpAttrs* AttrsOf(const TFE_Op* op) { return reinterpret_cast<const TFE_OpAttrs*>(op); }
const TFE_Op* OpOf(const TFE_OpAttrs* attrs) { return reinterpret_cast<const TFE_Op*>(attrs); }

// NameAttrList bytes: the op's name, and its attributes with the defaults of those that it lacks.
std::string NameAttrListOf(const TFE_Op& op) {
  constexpr uint32_t kName = 1, kAttr = 2, kKey = 1, kValue = 2;
  NewAttrs all = op.attrs.All();
  for (const AttrDef& def : op.entry->def->attrs) {
    if (def.has_default && !op.attrs.Has(def.name)) all.push_back({def.name, def.default_wire});
  }
  std::string wire;
  WireWriter writer(&wire);
  writer.Bytes(kName, op.entry->def->name);
  for (const auto& [name, value] : all) {
    std::string entry;
    WireWriter entry_writer(&entry);
    entry_writer.Bytes(kKey, name);
    entry_writer.Bytes(kValue, value);
    writer.Bytes(kAttr, entry);
  }
  return wire;
}

absl::Status Serialize(const TFE_OpAttrs* attrs, TF_Buffer* buffer) {
  TENON_RETURN_IF_ERROR(CheckOp(OpOf(attrs)));
  if (buffer == nullptr) return absl::InvalidArgumentError("Invalid buffer");
  return FillBuffer(NameAttrListOf(*OpOf(attrs)), buffer);
}

absl::Status SetAttrProto(const TFE_Op* op, const char* name, const void* proto, size_t length) {
  TENON_RETURN_IF_ERROR(CheckOp(op));
  if (name == nullptr || length > INT_MAX || (proto == nullptr && length > 0))
    return absl::InvalidArgumentError("Invalid attribute");
  const std::string_view wire(static_cast<const char*>(proto), length);
  constexpr DepthLimit kDepth = {100};
  if (CheckWire(WireMessage::kAttrValue, wire, kDepth).has_value())
    return absl::InvalidArgumentError("Unparseable AttrValue proto");
  const_cast<TFE_Op*>(op)->attrs.Set(name, wire);
  return absl::OkStatus();
}

absl::Status Reset(TFE_Op* op, const char* name, const char* device) {
  TENON_RETURN_IF_ERROR(CheckOp(op));
  TENON_RETURN_IF_ERROR(Open(*op, op->shell, name == nullptr ? "" : name));
  return AskForDevice(*op, device);
}

}  // namespace
}  // namespace tenon::eager

using tenon::StatusToC;
using tenon::eager::CheckOp;

extern "C" {

void TFE_OpReset(TFE_Op* op_to_reset, const char* op_or_function_name, const char* raw_device_name,
                 TF_Status* status) try {
  StatusToC(tenon::eager::Reset(op_to_reset, op_or_function_name, raw_device_name), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

const TFE_OpAttrs* TFE_OpGetAttrs(const TFE_Op* op) {
  return tenon::IsThere(op) && CheckOp(op).ok() ? tenon::eager::AttrsOf(op) : nullptr;
}

void TFE_OpAddAttrs(TFE_Op* op, const TFE_OpAttrs* attrs) try {
  const TFE_Op* const from = tenon::eager::OpOf(attrs);
  if (!tenon::IsThere(op) || !tenon::IsThere(from) || !CheckOp(op).ok() || !CheckOp(from).ok() ||
      op == from)
    return;
  for (const auto& [name, wire] : from->attrs.All()) op->attrs.Set(name, wire);
} catch (...) {
  tenon::WithoutMemoryFor(op);
}

void TFE_OpAttrsSerialize(const TFE_OpAttrs* attrs, TF_Buffer* buf, TF_Status* status) try {
  StatusToC(tenon::eager::Serialize(attrs, buf), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TFE_OpSetAttrValueProto(const TFE_Op* op, const char* attr_name, const void* proto,
                             size_t proto_len, TF_Status* status) try {
  StatusToC(tenon::eager::SetAttrProto(op, attr_name, proto, proto_len), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

void TFE_OpSetCancellationManager(TFE_Op* op, TFE_CancellationManager* cancellation_manager,
                                  TF_Status* status) try {
  absl::Status valid = CheckOp(op);
  if (valid.ok() && cancellation_manager == nullptr)
    valid = absl::InvalidArgumentError("Invalid cancellation manager");
  else if (valid.ok() && tenon::WasDeleted(cancellation_manager))
    valid = absl::InvalidArgumentError("Invalid cancellation manager: it was deleted");
  StatusToC(valid, status);
  if (valid.ok()) op->cancellation = cancellation_manager->manager;
} catch (...) {
  tenon::WithoutMemory(status);
}

}  // extern "C"
