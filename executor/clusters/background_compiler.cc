#include "executor/clusters/background_compiler.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "graph/c_api/callback_scope.h"

namespace tenon {
namespace {

constexpr absl::Duration kPatienceAtExit = absl::Seconds(2);

// The threads of all compilers. Never destroyed, since they may outlive static objects.
struct Threads {
  absl::Mutex mutex;
  int count ABSL_GUARDED_BY(mutex) = 0;
  bool process_ends ABSL_GUARDED_BY(mutex) = false;
};

Threads& AllThreads() {
  static Threads* const threads = new Threads;
  return *threads;
}

// A thread in the code of a plug-in must not see the plug-in's static objects go.
void EndOfProcess(int status, void*) {
  Threads& threads = AllThreads();
  const auto none = [&threads]()
                        ABSL_EXCLUSIVE_LOCKS_REQUIRED(threads.mutex) { return threads.count == 0; };
  {
    absl::MutexLock lock(&threads.mutex);
    threads.process_ends = true;
    if (threads.mutex.AwaitWithTimeout(absl::Condition(&none), kPatienceAtExit)) return;
  }
  std::fflush(nullptr);
  _exit(status);
}

bool ProcessEnds() {
  Threads& threads = AllThreads();
  absl::MutexLock lock(&threads.mutex);
  return threads.process_ends;
}

// At the end of the process the destructors of the thread that ends it come first. A handler that
// is registered there runs before the destructors of all static objects, also of those that a
// plug-in has made since.
struct LastHandler {
  ~LastHandler() {
    if (gettid() == getpid()) on_exit(EndOfProcess, nullptr);
  }
};

// If another thread than the first ends the process, this handler has to do: it comes after the
// destructors of static objects that were made later.
void WatchEndOfProcess() {
  static const int registered = on_exit(EndOfProcess, nullptr);
  static_cast<void>(registered);  // without memory for it, the process ends as it can
  thread_local const LastHandler handler;
  static_cast<void>(handler);
}

void CountThread(int change) {
  Threads& threads = AllThreads();
  absl::MutexLock lock(&threads.mutex);
  threads.count += change;
}

}  // namespace

struct BackgroundCompiler::Jobs {
  absl::Mutex mutex;
  std::deque<std::function<void()>> waiting ABSL_GUARDED_BY(mutex);
  bool has_thread ABSL_GUARDED_BY(mutex) = false;
};

BackgroundCompiler::BackgroundCompiler() : jobs_(std::make_shared<Jobs>()) {}

BackgroundCompiler::~BackgroundCompiler() {
  std::deque<std::function<void()>> dropped;
  absl::MutexLock lock(&jobs_->mutex);
  dropped.swap(jobs_->waiting);
}

void BackgroundCompiler::Work(const std::shared_ptr<Jobs>& jobs) {
  for (;;) {
    std::function<void()> job;
    {
      absl::MutexLock lock(&jobs->mutex);
      if (jobs->waiting.empty() || ProcessEnds()) {
        jobs->has_thread = false;
        return;
      }
      job = std::move(jobs->waiting.front());
      jobs->waiting.pop_front();
    }
    job();
  }
}

void BackgroundCompiler::Add(std::function<void()> job) {
  {
    absl::MutexLock lock(&jobs_->mutex);
    jobs_->waiting.push_back(std::move(job));
    if (std::exchange(jobs_->has_thread, true)) return;
  }
  WatchEndOfProcess();
  CountThread(1);
  try {
    std::thread([jobs = jobs_]() mutable {
      MarkHostThread();
      Work(jobs);
      jobs.reset();
      CountThread(-1);
    }).detach();
  } catch (const std::system_error&) {  // no thread can be started: the caller compiles
    Work(jobs_);
    CountThread(-1);
  }
}

}  // namespace tenon
