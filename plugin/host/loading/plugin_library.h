// Opens and closes the shared libraries of plug-ins. The caller has set `busy` in the ledger, so
// that no other thread touches it, and is in a LoadScope of it. Other ledgers may be opened at the
// same time. Private to plugin/host/loading/.
#pragma once

#include "absl/status/status.h"
#include "plugin/host/loading/plugin_ledger.h"

namespace tenon {

// Opens the file `ledger.path` and fills `ledger.library`. Never calls TF_InitKernel. There are
// three cases:
// * The process does not have the file open. The library's constructors run, and their
//   registrations are staged in the ledger.
// * `ledger.library` is open, since the library stayed mapped after an earlier load. The
//   constructors do not run again. This function stages what the constructors and TF_InitKernel
//   registered in that load.
// * The process has the file open otherwise, as for another ledger. The constructors do not run
//   again, and nothing is staged.
//
// After an error `ledger.library` is not open. `ledger.staged` may have registrations of
// constructors.
//   FAILED_PRECONDITION: the library, or one that it needs, is built with a sanitizer whose runtime
//   this process lacks. Opening it would end the process.
//   NOT_FOUND: the path is empty, or the system's loader cannot open the file, for whatever reason.
//   The message has the loader's text. If a needed library is nowhere, it also says which library
//   needs that one.
// A constructor that throws an exception ends the process.
absl::Status OpenPluginLibrary(PluginLedger& ledger);

// Closes `ledger.library`. The system then runs the library's destructors and unmaps it, unless the
// process has it open elsewhere. Does nothing if the library is not open or is resident
// (PluginLibrary::resident). The caller has dropped all pointers into the library.
void ClosePluginLibrary(PluginLedger& ledger);

}  // namespace tenon
