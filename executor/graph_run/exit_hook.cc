// Stands in front of the C library's _exit, so that a plug-in that calls it cannot end the command
// without a message.
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>

#include "tenon/graph_run.h"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

extern "C" {

__attribute__((visibility("default"))) void _exit(int code) {
  tenon::GraphRunEnds("_exit()");
  for (;;) syscall(SYS_exit_group, code);
}

__attribute__((visibility("default"))) void _Exit(int code) noexcept { _exit(code); }

}  // extern "C"

#endif
