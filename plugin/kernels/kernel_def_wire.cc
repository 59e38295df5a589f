#include "plugin/kernels/kernel_def_wire.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/op_defs/attr_value.h"
#include "graph/wire/wire.h"

namespace tenon {
namespace {

// Field numbers of TensorFlow's kernel_def.proto: KernelDef and its AttrConstraint.
enum KernelField {
  kOp = 1,
  kDeviceType = 2,
  kConstraint = 3,
  kHostMemoryArg = 4,
  kLabel = 5,
  kPriority = 6
};
enum ConstraintField { kName = 1, kAllowedValues = 2 };

absl::Status ParseError() {
  return absl::InvalidArgumentError("Error parsing serialized KernelDef.");
}

absl::StatusOr<KernelDef::Constraint> ConstraintFromWire(std::string_view wire) {
  KernelDef::Constraint constraint;
  WireReader reader(wire);
  for (WireField field; reader.Next(&field);) {
    if (field.number != kName && field.number != kAllowedValues) continue;
    if (field.type != WireType::kBytes) return ParseError();
    if (field.number == kName) constraint.attr = std::string(field.bytes);
    if (field.number != kAllowedValues) continue;
    // The message can list values of any kind; TensorFlow's registry compares types alone, too.
    const AttrValue value(field.bytes);
    const absl::StatusOr<std::vector<DataType>> types =
        value.kind() == AttrKind::kList ? value.AsTypeList() : absl::InvalidArgumentError("");
    if (!types.ok()) {
      return absl::UnimplementedError(absl::StrCat("the constraint on attribute '", constraint.attr,
                                                   "' of a KernelDef must list types"));
    }
    constraint.allowed = *types;
  }
  if (!reader.ok()) return ParseError();
  return constraint;
}

}  // namespace

std::string KernelDefToWire(const KernelDef& kernel) {
  std::string wire;
  WireWriter writer(&wire);
  if (!kernel.op.empty()) writer.Bytes(kOp, kernel.op);
  if (!kernel.device_type.empty()) writer.Bytes(kDeviceType, kernel.device_type);
  for (const KernelDef::Constraint& c : kernel.constraints) {
    std::string constraint;
    WireWriter inner(&constraint);
    inner.Bytes(kName, c.attr);
    inner.Bytes(kAllowedValues, attr::TypeList(c.allowed));
    writer.Bytes(kConstraint, constraint);
  }
  for (const std::string& arg : kernel.host_memory_args) writer.Bytes(kHostMemoryArg, arg);
  if (!kernel.label.empty()) writer.Bytes(kLabel, kernel.label);
  if (kernel.priority != 0)
    writer.Varint(kPriority, static_cast<uint64_t>(int64_t{kernel.priority}));
  return wire;
}

std::string KernelListToWire(absl::Span<const std::shared_ptr<const KernelDef>> kernels) {
  std::string wire;
  WireWriter writer(&wire);
  for (const auto& kernel : kernels) writer.Bytes(1, KernelDefToWire(*kernel));
  return wire;
}

absl::StatusOr<KernelDef> KernelDefFromWire(std::string_view wire) {
  KernelDef kernel;
  WireReader reader(wire);
  for (WireField field; reader.Next(&field);) {
    // A known field of another wire type is a damaged message; unknown fields are skipped, as every
    // reader of protobufs does.
    const WireType wanted = field.number == kPriority ? WireType::kVarint : WireType::kBytes;
    if (field.number >= kOp && field.number <= kPriority && field.type != wanted)
      return ParseError();
    switch (field.number) {
      case kOp:
        kernel.op = std::string(field.bytes);
        break;
      case kDeviceType:
        kernel.device_type = std::string(field.bytes);
        break;
      case kConstraint: {
        TENON_ASSIGN_OR_RETURN(KernelDef::Constraint constraint, ConstraintFromWire(field.bytes));
        kernel.constraints.push_back(std::move(constraint));
        break;
      }
      case kHostMemoryArg:
        kernel.host_memory_args.emplace_back(field.bytes);
        break;
      case kLabel:
        kernel.label = std::string(field.bytes);
        break;
      case kPriority:
        kernel.priority = static_cast<int32_t>(field.scalar);
        break;
      default:
        break;
    }
  }
  if (!reader.ok()) return ParseError();
  return kernel;
}

}  // namespace tenon
