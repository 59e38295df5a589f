// The last message of a process that cannot go on. It is built without memory allocation, so that a
// signal handler may write it.
#pragma once

#include <cstddef>
#include <string_view>

#include "executor/cli/faults/exit_code.h"

namespace tenon::cli {

// One line on stderr, "graph_run: …", and the JSON document if one is due. The text is cut at 2048
// bytes, before a UTF-8 character that would not fit; line ends become blanks. Async-signal-safe;
// one object is used by one thread.
class FaultLine {
 public:
  // Appends text. Returns this line.
  FaultLine& Add(std::string_view text);
  // Writes the line to stderr. Writes the document too if --json was given and none was written
  // yet; `code` is the name of the status in it. Errors of writing are ignored.
  void Write(const char* code);

 private:
  char text_[2048];
  size_t size_ = 0;
};

// Prepares the document that a fault would write. Called once, on the main thread, before plug-ins
// are loaded. `command` is the sub-command; it is copied, and must need no escape in JSON. With
// `json`, the document keeps the process's stdout for itself, and what plug-ins print to stdout
// goes to stderr.
void PrepareFaultDocument(std::string_view command, bool json);

// Ends the process now. No destructor and no exit handler runs. Async-signal-safe.
[[noreturn]] void EndProcess(Exit exit);

// Opens stdout and stderr again if a plug-in has closed them since PrepareFaultDocument. Returns
// which of them were closed, as a static text; null if neither was. If another thread opens a file
// meanwhile, the file may get the number of the closed one, and is then closed.
const char* ReopenOutput();

// The file descriptor of the command's own output: stdout, or its copy with --json.
int OutputFd();

}  // namespace tenon::cli
