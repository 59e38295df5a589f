// Converts kernel registrations to and from the bytes of KernelDef and KernelList protobufs.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "plugin/kernels/kernel_registry.h"

namespace tenon {

// The bytes hold op, device type, constraints, host memory arguments, label and priority; nothing
// else of a kernel has a place in them. The pointers in `kernels` must not be null.
std::string KernelDefToWire(const KernelDef& kernel);
std::string KernelListToWire(absl::Span<const std::shared_ptr<const KernelDef>> kernels);

// Parses a KernelDef; what the bytes do not hold has its default in the result. INVALID_ARGUMENT
// "Error parsing serialized KernelDef." if the bytes are no KernelDef, UNIMPLEMENTED for a
// constraint whose field allowed_values is there and is no list of types, malformed or without a
// value included; a constraint without that field is read as one with an empty list.
absl::StatusOr<KernelDef> KernelDefFromWire(std::string_view wire);

}  // namespace tenon
