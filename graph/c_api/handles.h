// Memory of the objects that callers of the C interface hold by address, and the question whether
// such an object was deleted.
//
// The memory of a deleted object is never given back: a pointer to it leads to memory that says so,
// until the address is that of a new object of the same type. So memory does not grow while as many
// objects are deleted as are made. Only memory that AbiWatch has buried is freed in the end.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include "absl/synchronization/mutex.h"
#include "tensorflow/c/tf_buffer.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace tenon {

// Deleted objects that wait to be used again. T has a member `T* next_idle` for the pool's use, and
// says by itself whether it is deleted. Objects stay constructed, and keep what they own while they
// are idle. All threads share them. Thread-safe.
template <typename T>
class SharedHandlePool {
 public:
  // An idle object, or a new one. The caller makes it ready for use. Throws bad_alloc without
  // memory.
  static T* Take() {
    absl::MutexLock lock(&mutex_);
    if (first_ == nullptr) return new T;
    T* const object = first_;
    first_ = object->next_idle;
    return object;
  }
  // Takes an object back, on any thread.
  static void Give(T* object) {
    absl::MutexLock lock(&mutex_);
    object->next_idle = first_;
    first_ = object;
  }

 private:
  inline static absl::Mutex mutex_{absl::kConstInit};
  inline static T* first_ = nullptr;
};

// The same, but each thread has a stock of its own; all threads share what is beyond it. For
// objects that programs make all the time: a stock takes room in the static block of thread-local
// memory, of which a library that is opened by name gets a kilobyte or so.
template <typename T>
class HandlePool {
 public:
  // An idle object, or a new one. The caller makes it ready for use.
  static T* Take() {
    Stock& stock = stock_;
    if (stock.first == nullptr) [[unlikely]]
      return Refill(stock);
    T* const object = stock.first;
    stock.first = object->next_idle;
    --stock.size;
    return object;
  }
  // The same; null where memory is short: no exception may leave a function of the C interface.
  static T* TryTake() noexcept try { return Take(); } catch (const std::bad_alloc&) {
    return nullptr;
  }
  // Takes an object back, on any thread.
  static void Give(T* object) {
    Stock& stock = stock_;
    object->next_idle = stock.first;
    stock.first = object;
    if (++stock.size >= stock.limit) [[unlikely]]
      GiveMuch(stock);
  }

 private:
  static constexpr int32_t kMost =
      static_cast<int32_t>(std::clamp<size_t>(131072 / sizeof(T), 8, 256));

  // Trivial, so that no access asks whether the thread has made it yet. Zero at first.
  struct Stock {
    T* first;
    int32_t size;
    int32_t limit;  // 0: not opened yet, or closed
    bool closed;    // the thread ends; what it deletes from now on is shared at once
  };
  struct Closer {
    ~Closer() {
      stock_.closed = true;
      stock_.limit = 0;
      Spill(stock_);
    }
    bool used = false;
  };

  static void Open(Stock& stock) {
    if (stock.closed) return;
    closer_.used = true;  // makes the closer of this thread
    stock.limit = kMost;
  }
  static void GiveMuch(Stock& stock) {
    if (stock.limit == 0) Open(stock);
    if (stock.size >= stock.limit) Spill(stock);
  }
  // Gives all objects to the part that is shared.
  static void Spill(Stock& stock) {
    absl::MutexLock lock(&mutex_);
    while (stock.first != nullptr) {
      T* const object = stock.first;
      stock.first = object->next_idle;
      object->next_idle = shared_;
      shared_ = object;
    }
    stock.size = 0;
  }
  static T* Refill(Stock& stock) {
    if (stock.limit == 0) Open(stock);
    absl::MutexLock lock(&mutex_);
    if (shared_ == nullptr) return new T;
    T* const taken = shared_;
    shared_ = taken->next_idle;
    while (shared_ != nullptr && stock.size < stock.limit / 2) {
      T* const object = shared_;
      shared_ = object->next_idle;
      object->next_idle = stock.first;
      stock.first = object;
      ++stock.size;
    }
    return taken;
  }

  inline static absl::Mutex mutex_{absl::kConstInit};
  inline static T* shared_ = nullptr;
  [[gnu::tls_model("initial-exec")]] inline static thread_local constinit Stock stock_ = {};
  inline static thread_local Closer closer_;
};

// Makes and deletes objects of any type that C callers own; T says so by `using Pool =
// tenon::Handles<T>`. A deleted object is destroyed, and only its memory stays. Objects that were
// not made here, as those on the stack, must not be passed in. Thread-safe.
template <typename T, template <typename> class MemoryPool = SharedHandlePool>
class Handles {
 public:
  // Throws bad_alloc without memory, and what the constructor throws.
  template <typename... Args>
  static T* New(Args&&... args) {
    Slot* const slot = MemoryPool<Slot>::Take();
    AllowUse(slot, true);
    T* const object = Construct(slot, std::forward<Args>(args)...);
    slot->generation.store(slot->generation.load(std::memory_order_relaxed) + 1,
                           std::memory_order_release);
    return object;
  }
  // Not null.
  static bool IsLive(const T* object) { return GenerationOf(object) % 2 == 1; }
  // A number that no other object of this address has or had; even for a deleted one.
  static uint64_t GenerationOf(const T* object) {
    return SlotOf(object)->generation.load(std::memory_order_acquire);
  }
  // False if the object was deleted before, perhaps by another thread; nothing happens then. Null
  // is no object.
  static bool Delete(T* object) {
    if (!Destroy(object)) return false;
    MemoryPool<Slot>::Give(SlotOf(object));
    return true;
  }
  // Delete, but the address will not be used again. Returns the memory, which is the caller's, and
  // says that the object is deleted until the caller frees it by `operator delete`. Null if the
  // object was deleted before.
  static void* Retire(T* object) { return Destroy(object) ? SlotOf(object) : nullptr; }

 private:
  struct Slot {
    alignas(T) std::byte room[sizeof(T)];
    std::atomic<uint64_t> generation{0};  // odd: there is an object
    Slot* next_idle = nullptr;            // of MemoryPool
  };
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);

  template <typename... Args>
  static T* Construct(Slot* slot, Args&&... args) {
    if constexpr (std::is_nothrow_constructible_v<T, Args&&...>) {
      return new (slot->room) T(std::forward<Args>(args)...);
    } else {
      try {
        return new (slot->room) T(std::forward<Args>(args)...);
      } catch (...) {
        AllowUse(slot, false);
        MemoryPool<Slot>::Give(slot);
        throw;
      }
    }
  }
  static Slot* SlotOf(const T* object) {
    return reinterpret_cast<Slot*>(const_cast<std::remove_const_t<T>*>(object));
  }
  static bool Destroy(T* object) {
    Slot* const slot = SlotOf(object);
    uint64_t generation = slot->generation.load(std::memory_order_relaxed);
    if (generation % 2 == 0 || !slot->generation.compare_exchange_strong(generation, generation + 1,
                                                                         std::memory_order_acq_rel))
      return false;
    object->~T();
    AllowUse(slot, false);
    return true;
  }
  // Lets the address sanitizer find those who look into a deleted object.
  static void AllowUse([[maybe_unused]] Slot* slot, [[maybe_unused]] bool allow) {
#if defined(__SANITIZE_ADDRESS__)
    if (allow) {
      ASAN_UNPOISON_MEMORY_REGION(slot->room, sizeof(T));
    } else {
      ASAN_POISON_MEMORY_REGION(slot->room, sizeof(T));
    }
#endif
  }
};

// A pointer to an object of Handles that does not keep it: it knows when the object is deleted.
template <typename T>
class WeakHandle {
 public:
  // Of an object that is there.
  explicit WeakHandle(T* object) : object_(object), generation_(T::Pool::GenerationOf(object)) {}
  // Null if the object was deleted, even if its address has a new one.
  T* get() const { return T::Pool::GenerationOf(object_) == generation_ ? object_ : nullptr; }

 private:
  T* object_;
  uint64_t generation_;
};

// The deallocator of a buffer that was deleted. It stands in the public part of the struct, since a
// caller may have made the buffer by itself. Does nothing.
void DeletedBuffer(void*, size_t);

// Whether an object of a caller, which is not null, was deleted. False for what is no handle, and
// for objects that the host makes for a call.
template <typename T>
bool WasDeleted(const T* object) {
  if constexpr (std::is_class_v<T>) {
    static_assert(sizeof(T) > 0, "only the definition of the type says how to ask");
    if constexpr (requires { typename T::Pool; }) return !T::Pool::IsLive(object);
    if constexpr (requires { object->is_deleted(); }) return object->is_deleted();
    if constexpr (std::is_same_v<T, TF_Buffer>) return object->data_deallocator == DeletedBuffer;
  }
  return false;
}

// Warns (WarnOf) that this function was given an object that was deleted.
void TellOfDeleted(const char* function);

// For functions without a status: whether an object of the caller is there, neither null nor
// deleted. Tells of a deleted one, in the name of the calling function.
template <typename T>
bool IsThere(const T* object, const char* function = __builtin_FUNCTION()) {
  if (object == nullptr) return false;
  if (!WasDeleted(object)) [[likely]]
    return true;
  TellOfDeleted(function);
  return false;
}

// Deletes an object of Handles for a function of the C interface. Does nothing for null, and tells
// of an object that was deleted before.
template <typename T>
void DeleteHandle(T* object, const char* function = __builtin_FUNCTION()) {
  if (object != nullptr && !T::Pool::Delete(object)) TellOfDeleted(function);
}

}  // namespace tenon
