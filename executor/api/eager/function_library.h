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
  // What the caller knows of bytes: protobuf parses them; and the verifier would find nothing.
  enum class Known : uint8_t { kNothing, kParses, kSound };
  // `wire`: FunctionDef bytes. INVALID_ARGUMENT if protobuf does not parse them. Other errors are
  // those of OpDefFromWire for the signature.
  static absl::StatusOr<std::shared_ptr<Function>> Make(std::string_view wire,
                                                        Known known = Known::kNothing);

  std::string wire;
  bool is_sound = false;  // Known::kSound
  OpDef signature;
  std::vector<std::string> called;  // names in nodes of the body: of ops, and of functions
  std::unique_ptr<OpEntry> entry;   // for the op that `signature` describes
};

// Thread-safe.
class FunctionLibrary {
 public:
  using FunctionPtr = std::shared_ptr<Function>;
  // Adds a function, given as FunctionDef bytes. To add the same function again (SameFunction)
  // counts one more addition. The empty name is a name as any other, as in TensorFlow.
  // INVALID_ARGUMENT if the name is that of an op, or if a different function has the name.
  // `known` and other errors are those of Function::Make.
  absl::Status Add(std::string_view wire, Function::Known known = Function::Known::kNothing);
  // Takes back one addition. Returns true if that was the last one: the function is removed, and
  // the callables of all functions that call it, directly or through others, are cleared.
  // INVALID_ARGUMENT if there is no such function.
  absl::StatusOr<bool> Remove(std::string_view name);
  // Null: there is no such function.
  FunctionPtr Find(std::string_view name) const;
  // These functions and all functions that they call, directly or through others, each function
  // once. Skips names that are no function.
  struct Reached {
    std::vector<std::string> wires;  // FunctionDef bytes
    bool are_sound = true;           // Function::is_sound of all
  };
  Reached Reachable(std::vector<std::string> names) const;
  // Clears the callables of all functions.
  void ClearCallables();

 private:
  struct Added {
    FunctionPtr function;
    int64_t count = 1;
  };
  // The functions that call one of this name, directly or through others.
  std::vector<FunctionPtr> CallersOf(std::string_view name) const;

  mutable absl::Mutex mutex_;
  absl::flat_hash_map<std::string, Added> functions_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tenon::eager
