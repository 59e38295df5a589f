// A thread that compiles while runs go on.
#pragma once

#include <functional>
#include <memory>

namespace tenon {

// Does jobs one after the other, on a thread that lives while there are jobs. If no thread can be
// started, Add does the jobs itself. A job must not throw. Thread-safe.
//
// A plug-in cannot be told to stop compiling. So the destructor drops the jobs that have not begun,
// and does not wait for the one that has: a job owns all that it uses. The end of the process waits
// two seconds for jobs that have begun. If one is not done by then, the process ends at once, with
// its status, and runs no exit handlers that are left.
class BackgroundCompiler {
 public:
  BackgroundCompiler();
  ~BackgroundCompiler();
  BackgroundCompiler(const BackgroundCompiler&) = delete;
  BackgroundCompiler& operator=(const BackgroundCompiler&) = delete;

  void Add(std::function<void()> job);

 private:
  struct Jobs;
  static void Work(const std::shared_ptr<Jobs>& jobs);

  const std::shared_ptr<Jobs> jobs_;
};

}  // namespace tenon
