// Stands in front of the C library's exec functions. A plug-in that called one on a thread of the
// command would replace the program, and the command would end without a message. A sanitizer has
// functions of its own in these places.
#include <alloca.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstddef>

#include "tenon/graph_run.h"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace {

// Calls `exec` with the arguments of execl and its like, as an array that ends in a null pointer.
// The array lies on the stack, as in the C library: between vfork and exec nothing may be
// allocated.
template <typename Exec>
int WithArguments(const char* first, va_list rest, Exec exec) {
  va_list counted;
  va_copy(counted, rest);
  size_t count = 0;
  for (const char* arg = first; arg != nullptr; arg = va_arg(counted, const char*)) ++count;
  va_end(counted);
  auto** const values = static_cast<char**>(alloca((count + 1) * sizeof(char*)));
  values[0] = const_cast<char*>(first);
  for (size_t i = 1; i <= count; ++i) values[i] = va_arg(rest, char*);
  return exec(values);
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int execve(const char* path, char* const argv[],
                                                  char* const envp[]) noexcept {
  tenon::GraphRunEnds("execve()");
  // A system call, since the C library's own execve is this function now.
  return static_cast<int>(syscall(SYS_execve, path, argv, envp));
}

__attribute__((visibility("default"))) int fexecve(int fd, char* const argv[],
                                                   char* const envp[]) noexcept {
  tenon::GraphRunEnds("fexecve()");
  return static_cast<int>(syscall(SYS_execveat, fd, "", argv, envp, AT_EMPTY_PATH));
}

__attribute__((visibility("default"))) int execvpe(const char* file, char* const argv[],
                                                   char* const envp[]) noexcept {
  tenon::GraphRunEnds("execvp()");
  using Fn = int (*)(const char*, char* const[], char* const[]);
  static const Fn real = reinterpret_cast<Fn>(dlsym(RTLD_NEXT, "execvpe"));
  return real(file, argv, envp);
}

__attribute__((visibility("default"))) int execv(const char* path, char* const argv[]) noexcept {
  return execve(path, argv, environ);
}

__attribute__((visibility("default"))) int execvp(const char* file, char* const argv[]) noexcept {
  return execvpe(file, argv, environ);
}

__attribute__((visibility("default"))) int execl(const char* path, const char* arg, ...) noexcept {
  va_list rest;
  va_start(rest, arg);
  const int result = WithArguments(
      arg, rest, [&](char* const* arguments) { return execve(path, arguments, environ); });
  va_end(rest);
  return result;
}

__attribute__((visibility("default"))) int execlp(const char* file, const char* arg, ...) noexcept {
  va_list rest;
  va_start(rest, arg);
  const int result = WithArguments(
      arg, rest, [&](char* const* arguments) { return execvpe(file, arguments, environ); });
  va_end(rest);
  return result;
}

}  // extern "C"

#endif
