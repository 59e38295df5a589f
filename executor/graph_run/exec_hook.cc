// Stands in front of the C library's exec functions. A plug-in that called one on a thread of the
// command would replace the program, and the command would end without a message. A sanitizer has
// functions of its own in these places.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdarg>

#include "tenon/graph_run.h"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace {

// The arguments of execl and its like, up to a null pointer. Those beyond the first 1023 are cut.
class Arguments {
 public:
  Arguments(const char* first, va_list rest) {
    size_t n = 0;
    for (const char* arg = first; arg != nullptr && n < values_.size() - 1;
         arg = va_arg(rest, const char*))
      values_[n++] = const_cast<char*>(arg);
  }
  char* const* get() const { return values_.data(); }

 private:
  std::array<char*, 1024> values_{};
};

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
  const Arguments arguments(arg, rest);
  va_end(rest);
  return execve(path, arguments.get(), environ);
}

__attribute__((visibility("default"))) int execlp(const char* file, const char* arg, ...) noexcept {
  va_list rest;
  va_start(rest, arg);
  const Arguments arguments(arg, rest);
  va_end(rest);
  return execvpe(file, arguments.get(), environ);
}

}  // extern "C"

#endif
