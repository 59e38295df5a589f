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

// What a run is asked for.
struct RunEnds {
  absl::Span<const TF_Output> inputs, outputs;
  absl::Span<const TF_Operation* const> targets;
};

// RunEnds as numbers, with a hash.
class RunKey {
 public:
  explicit RunKey(const RunEnds& ends);
  uint64_t hash() const { return hash_; }
  // Whether it is the key of `ends`. Cheaper than a key of them.
  bool IsOf(const RunEnds& ends) const;
  friend bool operator==(const RunKey& a, const RunKey& b) {
    return a.hash_ == b.hash_ && a.words_ == b.words_;
  }

 private:
  absl::InlinedVector<uint64_t, 16> words_;
  uint64_t hash_;
};

// Thread-safe. Entries stay as long as the table.
class RunTable {
 public:
  // Null if there is none.
  Executable* Find(const RunKey& key) const;
  // Null also if Find's last answer was another one. Takes no lock.
  Executable* FindLast(const RunEnds& ends) const;
  // The key may have an entry already, which then stays.
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
