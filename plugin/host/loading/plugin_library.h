// Opens and closes the shared libraries of plug-ins: each is opened once per real path, and closed
// only when its plug-in is unloaded. Private to plugin/host/loading/.
#pragma once

#include "absl/status/status.h"
#include "plugin/host/loading/plugin_ledger.h"

namespace tenon {

// Opens the ledger's library, unless it is open, and stages what its constructors register, and
// TF_InitKernel where that was called, also if it was in an earlier load. FAILED_PRECONDITION
// where the library, or one that it needs, is built with a sanitizer whose runtime this process
// lacks: opening it would end the process. NOT_FOUND with the loader's text, and which library
// needs the one that was not found.
absl::Status OpenPluginLibrary(PluginLedger& ledger);

// Unmaps the library unless it is resident. Nothing may point into it any more.
void ClosePluginLibrary(PluginLedger& ledger);

}  // namespace tenon
