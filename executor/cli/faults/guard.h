// What keeps a fault in a plug-in from looking like a fault of ours: fatal signals and calls that
// never return end the process with one line that names plug-in, callback and node.
#pragma once

#include <signal.h>

#include <optional>
#include <string>
#include <string_view>

namespace tenon::cli {

// Fatal signals and exit() within a plug-in: a line on stderr, with `json` a document on stdout,
// and code 5. Within a plug-in means: in a callback, on a thread that is not the host's, or with
// its code on the stack. Elsewhere they keep their meaning. SIGPIPE and SIGXFSZ are ignored:
// writing to a closed pipe, or beyond the largest file that the process may write, is an error, not
// the end. Marks the calling thread as the host's. For the whole process,
// once.
void InstallFaultHandlers(std::string_view command, bool json);

// The handlers know the code of this shared library, if it was loaded.
void NotePluginCode(const std::string& path);

// Of those whose code was noted: "a.so or b.so". Empty: none.
const char* NamesOfPlugins();

// A call of sigaction(): whether it comes from a plug-in and asks for a fatal signal. It is kept
// then, and has effect in the plug-in's code, before the handlers of the command.
bool KeepSignal(int number, const struct sigaction* action, struct sigaction* old);

// The command has done its work with this exit code, which is the process's whatever plug-ins still
// do while it ends. And that code; -1 before.
void WorkIsDone(int code);
int CodeOfWorkDone();

// The document of the command is written (or will never be): a fault from now on writes none.
void DocumentWritten();

// Somebody called exit() or the like: if a plug-in, the process ends here, as after a fatal signal.
void EndIfInPlugin(const char* call);

// For a child process of the command that loads plug-ins itself: faults there are looked at too,
// and write no document.
void BecomeWorker();

// Starts the thread that ends the process with code 6 when one call into a plug-in takes longer
// than `callback_s`, or the process longer than `total_s`. Once.
void StartWatchdog(double callback_s, std::optional<double> total_s);

}  // namespace tenon::cli
