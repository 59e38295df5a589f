// What the plug-in says of itself.
#pragma once

#include <string_view>

namespace sample {

// The platform's name, from which a host makes the type of its devices.
inline constexpr std::string_view kPlatform = "sample";
// The platform's version: what a serialized executable is bound to. Change it when programs run
// otherwise.
inline constexpr std::string_view kVersionText = "sample 1.0";
inline constexpr std::string_view kDeviceKind = "sample board";
inline constexpr std::string_view kDeviceName = "SampleDevice";
inline constexpr std::string_view kMemoryName = "SampleMemory";
// The first bytes of a serialized executable.
inline constexpr std::string_view kSerializedMagic = "sample executable 1\n";
// The variable of the environment that has options (settings.h).
inline constexpr char kOptionsVariable[] = "SAMPLE_PJRT";

}  // namespace sample
