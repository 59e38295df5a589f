#include "plugin/kernels/log_listeners.h"

#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace tenon {
namespace {

struct ListenerList {
  absl::Mutex mutex;
  std::vector<LogListener> listeners ABSL_GUARDED_BY(mutex);
};

// Never destroyed: runs may print while the process ends.
ListenerList& Listeners() {
  static ListenerList* const list = new ListenerList;
  return *list;
}

}  // namespace

void AddLogListener(LogListener listener) {
  absl::MutexLock lock(&Listeners().mutex);
  Listeners().listeners.push_back(listener);
}

bool TellLogListeners(const std::string& text) {
  // Called outside of the lock: a listener may run a graph that prints.
  std::vector<LogListener> listeners;
  {
    absl::ReaderMutexLock lock(&Listeners().mutex);
    listeners = Listeners().listeners;
  }
  for (const LogListener listener : listeners) listener(text.c_str());
  return !listeners.empty();
}

}  // namespace tenon
