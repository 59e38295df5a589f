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

// An object with "version", "table_bytes", "functions", "holes", "extensions", "attributes",
// "warnings", "platform", "platform_version" and "no_devices". The texts of the platform are empty
// until there is a client. "no_devices" says why there are no devices; empty if nothing says so.
Json PjrtJson(const pjrt::PluginFacts& facts);
// The same, but for "table_bytes", as lines of a report, each with two blanks in front.
std::string PjrtText(const pjrt::PluginFacts& facts, const Style& style);

// What TFNPD_InitPlugin says. The first returns an object with "device_type", "compilation_device",
// "priority", "is_pluggable_device" and "on_demand_compile", the second a line of a report.
Json NextPluggableJson(const NextPluggableFacts& facts);
std::string NextPluggableText(const NextPluggableFacts& facts);

// What TensorFlow logs when it makes a plug-in's devices, by which users tell the two interfaces
// apart: a line for each StreamExecutor device, then one for all NextPluggableDevices of a type.
// Only the devices of the plug-in at path `plugin` count.
std::vector<std::string> CreationLog(absl::Span<Device* const> devices, std::string_view plugin);
// The same as lines of a report.
std::string CreationText(absl::Span<Device* const> devices, std::string_view plugin);

// Adds to a device's object what PJRT tells of the device; nothing for other devices.
void AddPjrtDevice(const Device& device, Json& json);
// A line for each PJRT device of the plug-in at this path: hardware, memories, limit.
std::string PjrtDevicesText(absl::Span<Device* const> devices, std::string_view plugin,
                            const Style& style);

}  // namespace tenon::cli
