// Finds the compiled form of a run by the addresses of its inputs, outputs and targets.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "executor/session/session.h"
#include "tensorflow/c/c_api.h"

namespace tenon::api {

// The inputs, outputs and targets of a run. Owns nothing.
struct RunEnds {
  absl::Span<const TF_Output> inputs, outputs;
  absl::Span<const TF_Operation* const> targets;
};

// The addresses and ports of a RunEnds as numbers, with their hash. Does not refer to the RunEnds.
class RunKey {
 public:
  explicit RunKey(const RunEnds& ends);
  uint64_t hash() const { return hash_; }
  // Whether this is the key of `ends`. Cheaper than to make RunKey(ends) and compare.
  bool IsOf(const RunEnds& ends) const;
  friend bool operator==(const RunKey& a, const RunKey& b) {
    return a.hash_ == b.hash_ && a.words_ == b.words_;
  }

 private:
  absl::InlinedVector<uint64_t, 16> words_;
  uint64_t hash_;
};

// Does not own the executables. Entries are never removed. Thread-safe.
class RunTable {
 public:
  // Null: the key has no entry.
  Executable* Find(const RunKey& key) const;
  // The executable that Find returned last, on any thread, if its key is that of `ends`; else null,
  // even if the table has an entry for `ends`. Takes no lock.
  Executable* FindLast(const RunEnds& ends) const;
  // Adds an entry. Changes nothing if the key has an entry.
  void Add(RunKey key, Executable* executable);

 private:
  struct Entry {
    RunKey key;
    Executable* executable;
  };
  mutable std::atomic<const Entry*> last_{nullptr};
  mutable absl::Mutex mutex_;
  // By the hash of the key; entries of one hash are rare.
  absl::flat_hash_map<uint64_t, std::vector<std::unique_ptr<const Entry>>> entries_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace tenon::api
