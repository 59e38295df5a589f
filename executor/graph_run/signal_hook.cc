// Stands in front of the C library's signal functions. A plug-in that handles or ignores fatal
// signals must not keep the command from reporting which plug-in failed.
#include <dlfcn.h>
#include <signal.h>

#include "tenon/graph_run.h"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

extern "C" {

__attribute__((visibility("default"))) int sigaction(int number, const struct sigaction* action,
                                                     struct sigaction* old) noexcept {
  if (tenon::GraphRunKeepsSignal(number, action, old)) return 0;
  using Fn = int (*)(int, const struct sigaction*, struct sigaction*);
  static const Fn real = reinterpret_cast<Fn>(dlsym(RTLD_NEXT, "sigaction"));
  return real(number, action, old);
}

__attribute__((visibility("default"))) sighandler_t signal(int number,
                                                           sighandler_t handler) noexcept {
  struct sigaction action = {}, old = {};
  action.sa_handler = handler;
  // As the C library's signal() does.
  action.sa_flags = SA_RESTART;
  return sigaction(number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

}  // extern "C"

#endif
