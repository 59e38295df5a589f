// Attributes faults to plug-ins. Fatal signals in plug-ins, their calls that end the process, and
// calls into them that never return end it with one line that names the plug-in and, where they are
// known, the callback and the node.
#pragma once

#include <signal.h>

#include <optional>
#include <string>
#include <string_view>

namespace tenon::cli {

// Handles fatal signals and exit() for the whole process; called once, on the main thread, before
// plug-ins are loaded. Marks that thread as one of the host. A fault within a plug-in writes a line
// to stderr and, with `json`, a document to stdout, and ends the process with code 5 or, once
// WorkIsDone was called, with the code that it got. Within a plug-in means: in a callback, with
// code of the plug-in on the stack, or, once a plug-in is noted, on a thread that MarkHostThread
// has not marked. A fatal signal outside of plug-ins has the effect that it had before. Once a
// plug-in is noted, a line and the document are written first; a signal that tells of a damaged
// heap then ends the process as a fault within a plug-in does. Signals from other processes and
// faults in forked children keep their effect, and so do SIGUSR1, SIGUSR2 and the signals of timers
// that have a handler. After a stack overflow only the main thread has room for a line. SIGPIPE and
// SIGXFSZ are ignored, so that writing to a closed pipe or beyond the largest file is an error and
// not the end; SIGCHLD is not ignored, so that children can be waited for. With `json`, all that is
// written to stdout from here on goes to stderr; documents go to OutputFd() (fault_line.h).
void InstallFaultHandlers(std::string_view command, bool json);

// Tells the handlers which code is that of this shared library. `path` must be the name that the
// loader gives it; does nothing if no library of this name is loaded. Remembers 128 ranges of code
// and drops later ones. Called by one thread at a time.
void NotePluginCode(const std::string& path);

// The paths of the plug-ins that were noted, "a.so or b.so", as far as they fit into 2 KiB; empty
// for none. The text is static; NotePluginCode appends to it. Async-signal-safe.
const char* NamesOfPlugins();

// Whether a call of sigaction() comes from a plug-in and asks for a signal that tells of a fault
// (not a timer or SIGUSR1 or SIGUSR2). False in forked children. If so, keeps the request: its
// handler is called for faults in plug-ins' code, before the handlers of the command. *old is then
// the request that plug-ins made before; all plug-ins share one request for each signal. If not,
// changes nothing. `action` and `old` may be null. Async-signal-safe.
bool KeepSignal(int number, const struct sigaction* action, struct sigaction* old);

// Tells that the command has done its work and that the process ends with this code, whatever
// plug-ins do while it ends.
void WorkIsDone(int code);
// The code of WorkIsDone; -1 before.
int CodeOfWorkDone();

// Tells that the document of the command is written, or never will be: later faults write none.
void DocumentWritten();

// Tells of a call of exit() or the like. Ends the process as after a fatal signal if a plug-in made
// the call; otherwise, and in forked children, returns. `call` names it: "_exit()".
// Async-signal-safe.
void EndIfInPlugin(const char* call);

// Makes this process, a child of the command that loads plug-ins itself, one in which faults are
// attributed. They write no document.
void BecomeWorker();

// Starts the thread that ends the process with code 6 when one call into a plug-in takes longer
// than `callback_s` seconds, or when `total_s` seconds have passed since this call (nothing: no
// limit). WorkIsDone ends both limits; if plug-ins are noted, the thread ends the process 5 seconds
// later, with the code given there. Called once. The thread lives as long as the process.
void StartWatchdog(double callback_s, std::optional<double> total_s);

}  // namespace tenon::cli
