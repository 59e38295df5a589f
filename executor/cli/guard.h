// What keeps a fault in a plug-in from looking like a fault of ours: fatal signals and calls that
// never return end the process with one line that names plug-in, callback and node.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tenon::cli {

// Handles SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT and exit() within a plug-in: a line on stderr,
// with `json` a document on stdout, and _exit(5). Elsewhere the signal keeps its meaning. SIGPIPE
// is ignored: writing to a closed pipe is an error, not the end. For the whole process, once.
void InstallFaultHandlers(std::string_view command, bool json);

// The handlers know the code of this shared library, also on threads of its own. Call after it was
// loaded.
void NotePluginCode(const std::string& path);

// The document of the command is written (or will never be): a fault from now on writes none.
void DocumentWritten();

// Starts the thread that ends the process with code 6 when one call into a plug-in takes longer
// than `callback_s`, or the process longer than `total_s`. Once.
void StartWatchdog(double callback_s, std::optional<double> total_s);

}  // namespace tenon::cli
