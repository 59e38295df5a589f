// Watches how plug-ins use the interface: who breaks which rule, and which objects are never given
// back. Off unless somebody switches it on; all that it costs then is one load of a pointer.
#pragma once

#include <atomic>
#include <cstddef>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenon {

struct AbiViolation {
  std::string plugin, callback, node;  // empty where there is none
  std::string rule;                    // "host_pointer", "leak" …
  std::string detail;                  // what happened, and what would be right
};

class AbiWatch {
 public:
  // Null while it is off.
  static AbiWatch* Active() { return active.load(std::memory_order_acquire); }
  // For the whole process, before any plug-in is loaded.
  static void SwitchOn();
  // For tests: off, and everything forgotten.
  static void SwitchOff();

  // A violation by the call into a plug-in that is in progress on this thread; outside of one, by
  // the host, or a plug-in's own thread. It is written to stderr at once, the same one only once.
  // Thread-safe, as all here.
  void Report(std::string_view rule, std::string detail);
  void Report(AbiViolation violation);
  std::vector<AbiViolation> violations() const;  // in their order, each once
  // From now on they are only kept: another process writes them.
  void BeSilent();

  // Objects that plug-ins get from the host and have to give back. `type` is static.
  void Made(const void* object, const char* type);
  // False, and a violation, for one that is not there to be given back.
  bool TakeBack(const void* object, const char* type);
  // What a destroyed object lay in: freed later, so that no other object gets its address soon.
  void Bury(void* memory);
  // A violation for each callback that left objects which no static variable has, and for each
  // tensor that was written to where nobody may. When nobody uses plug-ins any more.
  void ReportWhatIsLeft();

 private:
  AbiWatch();
  ~AbiWatch();
  struct Impl;
  Impl* const impl_;
  static std::atomic<AbiWatch*> active;
};

// `new` and `delete` for the objects of the C interface, watched. `type` is static.
template <typename T, typename... Args>
T* NewForPlugin(const char* type, Args&&... args) {
  T* const object = new T{std::forward<Args>(args)...};
  if (AbiWatch* watch = AbiWatch::Active()) watch->Made(object, type);
  return object;
}

// Whether the object may be deleted: what a plug-in deletes twice must not be touched.
inline bool TakenBack(const void* object, const char* type) {
  AbiWatch* const watch = AbiWatch::Active();
  return object != nullptr && (watch == nullptr || watch->TakeBack(object, type));
}

template <typename T>
void DestroyTakenBack(T* object) {
  AbiWatch* const watch = AbiWatch::Active();
  if (watch == nullptr) {
    delete object;
  } else {
    object->~T();
    watch->Bury(object);
  }
}

template <typename T>
void DeleteForPlugin(const char* type, T* object) {
  if (TakenBack(object, type)) DestroyTakenBack(object);
}

}  // namespace tenon
