// The functions of a context. Private to executor/api/eager/.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "executor/api/eager/op_entry.h"
#include "graph/op_defs/op_def.h"

namespace tenon::eager {

// One function. Immutable, but for the callables of its entry.
struct Function {
  // `wire`: FunctionDef bytes. INVALID_ARGUMENT if they do not parse.
  static absl::StatusOr<std::shared_ptr<Function>> Make(std::string_view wire);

  std::string wire;
  OpDef signature;
  std::vector<std::string> called;  // the functions, and ops, that nodes of the body name
  std::unique_ptr<OpEntry> entry;   // of `signature`
};

// Thread-safe.
class FunctionLibrary {
 public:
  using FunctionPtr = std::shared_ptr<Function>;
  // If the same function is there, counts one more addition. INVALID_ARGUMENT for malformed bytes,
  // for the name of an op, and if another function has the name.
  absl::Status Add(std::string_view wire);
  // Takes one addition back. With the last one the function goes: all callables of functions are
  // cleared then, and the result is true. INVALID_ARGUMENT if there is none.
  absl::StatusOr<bool> Remove(std::string_view name);
  // Null if there is none.
  FunctionPtr Find(std::string_view name) const;
  // The FunctionDef bytes of these functions and of those that they call, each once. Names of no
  // function are left out.
  std::vector<std::string> Reachable(std::vector<std::string> names) const;
  // Clears the callables of all functions.
  void ClearCallables();

 private:
  struct Added {
    FunctionPtr function;
    int64_t count = 1;
  };
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<std::string, Added> functions_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tenon::eager
