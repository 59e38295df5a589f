// The one function of Python that a published plug-in (Intel's, from 1.2 on) links to: it runs a
// line of Python, for example to see which modules are there. In a process without Python it runs
// nothing and succeeds.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

typedef int RunLine(const char* command, void* flags);

// A program that was linked against TensorFlow finds this function before that of a libpython that
// was linked later, so the call goes on to it.
__attribute__((visibility("default"))) int PyRun_SimpleStringFlags(const char* command,
                                                                   void* flags) {
  RunLine* next = NULL;
  *(void**)&next = dlsym(RTLD_NEXT, "PyRun_SimpleStringFlags");
  return next == NULL ? 0 : next(command, flags);
}
