// The ops that a context has met, by name. Private to executor/api/eager/.
#pragma once

#include <atomic>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "executor/api/eager/op_entry.h"

namespace tenon::eager {

// Entries are added and never removed. Thread-safe; to find a known op takes no lock.
class OpTable {
 public:
  OpTable();
  ~OpTable();
  OpTable(const OpTable&) = delete;
  OpTable& operator=(const OpTable&) = delete;

  // The entry of this name. Null: FindOrAdd has not added it yet. The table owns its entries.
  OpEntry* Find(std::string_view name) const;
  // The entry of a registered op; adds it at the first call. Null: no op of this name is
  // registered.
  OpEntry* FindOrAdd(std::string_view name);
  // Clears the callables of all entries. A callable that is running goes on (Callables::Clear).
  void ClearCallables();
  // Clears the callables of the ops that have an attribute of type `func` or `list(func)`, and no
  // others.
  void ClearCallablesWithFunctions();

 private:
  // Open addressing: a slot holds an entry or null, at most half of the slots hold one.
  struct Slots {
    explicit Slots(size_t count) : mask(count - 1), slots(new std::atomic<OpEntry*>[count] {}) {}
    const size_t mask;  // the number of slots, a power of two, less one
    const std::unique_ptr<std::atomic<OpEntry*>[]> slots;
  };
  static OpEntry* FindIn(const Slots& slots, std::string_view name);
  static void Put(Slots& slots, OpEntry* entry);

  std::atomic<Slots*> current_;
  absl::Mutex mutex_;
  std::vector<std::unique_ptr<OpEntry>> entries_ ABSL_GUARDED_BY(mutex_);
  // The last one is current. Readers may still be in the others.
  std::vector<std::unique_ptr<Slots>> all_slots_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tenon::eager
