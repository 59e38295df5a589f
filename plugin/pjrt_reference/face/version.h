// What the plug-in says of itself.
#pragma once

#include <string_view>

namespace pjref {

// The platform's name, from which a host makes the type of its devices.
inline constexpr std::string_view kPlatform = "reference";
// The platform's version: what a serialized executable is bound to.
inline constexpr std::string_view kVersionText = "tenon reference interpreter 1.0";
inline constexpr std::string_view kDeviceKind = "reference interpreter";
inline constexpr std::string_view kDeviceName = "ReferenceDevice";
inline constexpr std::string_view kMemoryName = "ReferenceMemory";
// The first bytes of a serialized executable.
inline constexpr std::string_view kSerializedMagic = "tenon pjrt reference 1\n";
// The variable of the environment that has options (settings.h).
inline constexpr char kOptionsVariable[] = "TENON_PJRT_REFERENCE";

}  // namespace pjref
