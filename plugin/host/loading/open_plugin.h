// Opens a plug-in's library and runs its entry points. Private to plugin/host/loading/.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "plugin/host/loading/plugin_ledger.h"

namespace tenon {

// "plug-in PATH: CALL: " before the message. OK stays OK.
absl::Status Prefixed(const absl::Status& status, std::string_view path, std::string_view call);

// Opens the library and runs its code, in the order that LoadPlugin states. On an error the caller
// drops what the ledger has by then.
absl::Status OpenPlugin(PluginLedger& ledger, const PluginOptions& options);

// Enters in the ledger's facts what is known of its devices by now.
void DescribeDevices(PluginLedger& ledger);

}  // namespace tenon
