// An op or function that callers of a context execute, with its callables.
// Private to executor/api/eager/.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "executor/api/eager/callable.h"
#include "executor/api/eager/op_attrs.h"
#include "graph/op_defs/op_def.h"

namespace tenon::eager {

struct DeviceName;  // executor/api/eager/device_names.h

// The facts that decide which callable serves an execution.
struct CallKey {
  const OpAttrs& attrs;
  Inputs inputs;             // only their number and types count
  const DeviceName* device;  // the device that the op asks for; null: none
  // DeviceOfResources of the op; null in a context that has the host alone.
  const Device* resources;
  uint64_t hash = 0;  // of all of the above; Callables::Get sets it
};

// The callables of one op. Thread-safe.
class Callables {
 public:
  using Made = std::shared_ptr<Callable>;
  Callables();
  ~Callables();
  // The callable for `key`. If there is none, calls `make`, without a lock, and keeps the result;
  // if two threads do so at once, both get the callable that was kept first. Errors are those of
  // `make`, and are not kept.
  absl::StatusOr<Made> Get(CallKey key, absl::FunctionRef<absl::StatusOr<Made>()> make);
  // Drops all callables. A callable that is running goes on, since its caller shares its ownership.
  // One that Get is making meanwhile is used once and not kept.
  void Clear();

 private:
  struct Entry;
  using Map = absl::flat_hash_map<uint64_t, std::unique_ptr<Entry>>;  // by hash
  // When so many were made or used since the last time, those that were not go.
  static constexpr size_t kMost = 1024;
  Made Find(const CallKey& key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns what was pushed out, for the caller to destroy without the lock.
  Map Add(uint64_t hash, std::unique_ptr<Entry> entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  absl::Mutex mutex_;
  Map young_ ABSL_GUARDED_BY(mutex_), old_ ABSL_GUARDED_BY(mutex_);
  int64_t clears_ ABSL_GUARDED_BY(mutex_) = 0;
};

// The attributes that give the type of an argument, the number of its tensors, and the list of
// their types, as indices into OpDef::attrs. -1: no such attribute.
struct ArgAttrs {
  int type = -1, number = -1, list = -1;
};

struct OpEntry {
  // `def` must outlive the entry.
  OpEntry(const OpDef* def, bool is_function);

  const OpDef* const def;
  const bool is_function;
  const std::vector<ArgAttrs> args;  // by input argument
  Callables callables;
};

}  // namespace tenon::eager
