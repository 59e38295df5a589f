// The last words of a process that cannot go on: built without memory allocation, so that a signal
// handler may write them.
#pragma once

#include <cstddef>
#include <string_view>

#include "executor/cli/faults/exit_code.h"

namespace tenon::cli {

// One line on stderr, "graph_run: …", and the JSON document where one is due. Async-signal-safe.
class FaultLine {
 public:
  FaultLine& Add(std::string_view text);
  // `code` is the status's name in the document.
  void Write(const char* code);

 private:
  char text_[2048];
  size_t size_ = 0;
};

// What the document of this command starts with. Before any fault. With `json`, standard output is
// set aside for the document: what plug-ins print to it goes to stderr.
void PrepareFaultDocument(std::string_view command, bool json);

// Ends the process now: nothing else of it runs. Async-signal-safe.
[[noreturn]] void EndProcess(Exit exit);

// Opens again what somebody has closed: what that was, or null for nothing.
const char* ReopenOutput();

// Where the command's own output goes.
int OutputFd();

}  // namespace tenon::cli
