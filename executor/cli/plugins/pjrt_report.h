// What a plug-in and its devices tell through PJRT, for `devices` and `plugin check`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "executor/values/json.h"
#include "executor/values/text.h"
#include "plugin/device/device.h"
#include "plugin/host/loading/loader.h"
#include "plugin/pjrt/plugin.h"

namespace tenon::cli {

// An object with "version", "functions", "holes", "extensions", "attributes", "warnings", and, once
// there is a client, "platform" and "platform_version". "no_devices" says why there are none.
Json PjrtJson(const pjrt::PluginFacts& facts);
// The same as lines of a report, each with two blanks in front.
std::string PjrtText(const pjrt::PluginFacts& facts, const Style& style);

// What TFNPD_InitPlugin says: an object with "device_type", "compilation_device", "priority",
// "is_pluggable_device" and "on_demand_compile"; a line of a report.
Json NextPluggableJson(const NextPluggableFacts& facts);
std::string NextPluggableText(const NextPluggableFacts& facts);

// What TensorFlow logs when it makes a plug-in's devices, by which users tell the two interfaces
// apart: a line for each StreamExecutor device, one for all NextPluggableDevices of a type.
std::vector<std::string> CreationLog(absl::Span<Device* const> devices, std::string_view plugin);
// The same as lines of a report.
std::string CreationText(absl::Span<Device* const> devices, std::string_view plugin);

// Adds to a device's object what PJRT tells of the device; nothing for other devices.
void AddPjrtDevice(const Device& device, Json& json);
// A line for each PJRT device of the plug-in at this path: hardware, memories, limit.
std::string PjrtDevicesText(absl::Span<Device* const> devices, std::string_view plugin,
                            const Style& style);

}  // namespace tenon::cli
