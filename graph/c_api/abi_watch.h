// Watches how plug-ins use the C interface: which plug-in breaks which rule, and which objects it
// never deletes. Off by default; the only cost is then the load of one pointer per call.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/c_api/handles.h"

namespace tenon {

struct AbiViolation {
  std::string plugin, callback, node;  // each may be empty
  std::string rule;                    // "host_pointer", "leak" …
  std::string detail;                  // the fault, and the right use
};

class AbiWatch {
 public:
  // The watch of the process; null while it is off.
  static AbiWatch* Active() { return active.load(std::memory_order_acquire); }
  // Switches the watch on for the whole process. Call it before any plug-in is loaded.
  static void SwitchOn();
  // Switches the watch off and forgets its records. For tests, while no plug-in is at work.
  static void SwitchOff();

  // Records a violation of `rule` by the innermost call into a plug-in on this thread. Without such
  // a call, the violation is the host's if this thread is marked (MarkHostThread), else that of a
  // thread of some plug-in. Writes the violation to stderr at once, as one line. Drops it if one
  // with the same line, or 1000 violations, are recorded. Thread-safe, as are all members but
  // SwitchOn and SwitchOff.
  void Report(std::string_view rule, std::string detail);
  // The same for a violation whose plug-in, callback and node the caller sets.
  void Report(AbiViolation violation);
  // The recorded violations, the oldest first.
  std::vector<AbiViolation> violations() const;
  // From now on violations are recorded, but not written to stderr: another process writes them.
  void BeSilent();

  // Records an object that a plug-in gets from the host and has to give back. `type` must be a
  // string of static storage.
  void Made(const void* object, const char* type);
  // Records that a plug-in gives the object back. False, and a violation "double_free", if no such
  // object of this type is recorded.
  bool TakeBack(const void* object, const char* type);
  // Frees the memory of a destroyed object after 100,000 further calls of Bury. Until then no new
  // object gets the address, so that a second deletion is found. Takes ownership; the memory must
  // come from `operator new`.
  void Bury(void* memory);
  // Checks all guarded tensors (TensorGuards::CheckAll). Then reports leaks: the objects that a
  // plug-in, not the host, got and that were never given back, unless a static variable points to
  // them. The objects of one type from one plug-in, callback and node are one violation. Call it
  // when plug-ins are no longer used.
  void ReportWhatIsLeft();

 private:
  AbiWatch();
  ~AbiWatch();
  struct Impl;
  Impl* const impl_;
  static std::atomic<AbiWatch*> active;
};

// A new object of Handles<T>, recorded while the watch is on. `type` must be a string of static
// storage.
template <typename T, typename... Args>
T* NewForPlugin(const char* type, Args&&... args) {
  T* const object = T::Pool::New(std::forward<Args>(args)...);
  if (AbiWatch* watch = AbiWatch::Active()) watch->Made(object, type);
  return object;
}

// Deletes an object that NewForPlugin made with this `type`. Does nothing for null. A second call
// for one object writes to stderr (TellOfDeleted); while the watch is on it reports a double free
// instead.
template <typename T>
void DeleteForPlugin(const char* type, T* object, const char* function = __builtin_FUNCTION()) {
  AbiWatch* const watch = AbiWatch::Active();
  if (watch == nullptr) return DeleteHandle(object, function);
  if (object == nullptr || !watch->TakeBack(object, type)) return;
  if (void* memory = T::Pool::Retire(object)) watch->Bury(memory);
}

// Gives an object to HandlePool<T>, but buries it while the watch is on. The object must own no
// memory, and say that it is deleted.
template <typename T>
void GiveOrBury(T* object) {
  AbiWatch* const watch = AbiWatch::Active();
  if (watch == nullptr) {
    HandlePool<T>::Give(object);
  } else {
    watch->Bury(object);
  }
}

}  // namespace tenon
