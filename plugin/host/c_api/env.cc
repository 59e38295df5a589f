// Time, threads and shared libraries for plug-ins: a part of env.h. Threads that a plug-in starts
// here are not marked as the host's, so that a fault on one is attributed to plug-ins.
#include <dlfcn.h>
#include <pthread.h>
#include <time.h>

#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "graph/c_api/arguments.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/without_memory.h"
#include "plugin/host/link/shared_library.h"
#include "tensorflow/c/env.h"

struct TF_Thread {
  pthread_t thread;
};

namespace tenon {
namespace {

struct ThreadStart {
  void (*work)(void*);
  void* param;
};

// A thread starts with one argument, so that function and argument are in an object, freed here.
void* RunThread(void* arg) {
  const std::unique_ptr<ThreadStart> start(static_cast<ThreadStart*>(arg));
  start->work(start->param);
  return nullptr;
}

// The libraries that TF_LoadSharedLibrary has opened. Nothing closes them. The system's loader
// reads through any other pointer that it gets as a handle.
class OpenedLibraries {
 public:
  void Add(void* handle) {
    const std::lock_guard lock(mutex_);
    handles_.insert(handle);
  }
  bool Has(void* handle) {
    const std::lock_guard lock(mutex_);
    return handles_.contains(handle);
  }

 private:
  std::mutex mutex_;
  std::unordered_set<void*> handles_;
};

OpenedLibraries& Opened() {
  static auto* const opened = new OpenedLibraries;  // plug-ins may outlive static objects
  return *opened;
}

}  // namespace
}  // namespace tenon

extern "C" {

uint64_t TF_NowNanos(void) {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec);
}
uint64_t TF_NowMicros(void) { return TF_NowNanos() / 1000; }
uint64_t TF_NowSeconds(void) { return TF_NowNanos() / 1000000000; }

void TF_DefaultThreadOptions(TF_ThreadOptions* options) {
  if (options != nullptr) *options = {0, 0, -1};
}

TF_Thread* TF_StartThread(const TF_ThreadOptions* options, const char* thread_name,
                          void (*work_func)(void*), void* param) try {
  if (work_func == nullptr) return nullptr;
  auto thread = std::make_unique<TF_Thread>();
  auto start = std::make_unique<tenon::ThreadStart>(tenon::ThreadStart{work_func, param});
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (options != nullptr && options->stack_size != 0)
    pthread_attr_setstacksize(&attributes, options->stack_size);
  if (options != nullptr && options->guard_size != 0)
    pthread_attr_setguardsize(&attributes, options->guard_size);
  const int failed = pthread_create(&thread->thread, &attributes, tenon::RunThread, start.get());
  pthread_attr_destroy(&attributes);
  if (failed != 0) return nullptr;
  [[maybe_unused]] auto* const kept = start.release();  // RunThread deletes it
  // pthread_setname_np refuses a name of more than 15 letters. Such a short string takes no memory.
  if (thread_name != nullptr)
    pthread_setname_np(thread->thread, std::string(thread_name, strnlen(thread_name, 15)).c_str());
  return thread.release();
} catch (...) {
  return tenon::WithoutMemory();
}

void TF_JoinThread(TF_Thread* thread) {
  if (thread == nullptr) return;
  pthread_join(thread->thread, nullptr);
  delete thread;
}

void* TF_LoadSharedLibrary(const char* library_filename, TF_Status* status) try {
  const absl::StatusOr<void*> handle =
      tenon::OpenLibrary(std::string(absl::NullSafeStringView(library_filename)));
  tenon::StatusToC(handle.status(), status);
  if (!handle.ok()) return nullptr;
  tenon::Opened().Add(*handle);
  return *handle;
} catch (...) {
  return tenon::WithoutMemory(status);
}

void* TF_GetSymbolFromLibrary(void* handle, const char* symbol_name, TF_Status* status) try {
  // A null handle stands for the program itself.
  if (!tenon::api::AllGiven({{"symbol_name", symbol_name}}, status)) return nullptr;
  if (handle != nullptr && !tenon::Opened().Has(handle)) {
    tenon::StatusToC(
        absl::InvalidArgumentError(
            "TF_GetSymbolFromLibrary: the handle is none that TF_LoadSharedLibrary gave"),
        status);
    return nullptr;
  }
  dlerror();  // forgets an older error: a symbol may be null without one
  void* symbol = dlsym(handle, symbol_name);
  const char* error = symbol == nullptr ? dlerror() : nullptr;
  const bool found = error == nullptr && symbol != nullptr;
  tenon::StatusToC(
      found ? absl::OkStatus()
            : absl::NotFoundError(error == nullptr ? absl::StrCat(symbol_name, " is null") : error),
      status);
  return symbol;
} catch (...) {
  return tenon::WithoutMemory(status);
}

}  // extern "C"
