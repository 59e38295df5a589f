// The programs that a client has compiled, by device and text.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "plugin/pjrt/executable.h"

namespace tenon::pjrt {

// Keeps the programs that were used last, at most kMostPrograms, also while no session uses them.
// Thread-safe: of several threads that want one program, one compiles and the others wait; threads
// that want different ones do not.
class ProgramCache {
 public:
  static constexpr size_t kMostPrograms = 64;
  using CompileFn = std::function<absl::StatusOr<std::shared_ptr<const LoadedProgram>>()>;

  // The program for `text` on device `device`; `compile` makes it. An error is not kept, but its
  // text counts as a program that was used last.
  absl::StatusOr<std::shared_ptr<const LoadedProgram>> Get(size_t device, std::string_view text,
                                                           const CompileFn& compile);
  void Clear();

 private:
  struct Entry {
    absl::Mutex mutex;  // held while the program is made
    std::shared_ptr<const LoadedProgram> program ABSL_GUARDED_BY(mutex);
    int64_t last_use = 0;
  };
  std::shared_ptr<Entry> Find(size_t device, std::string_view text);

  absl::Mutex mutex_;
  absl::flat_hash_map<std::pair<size_t, std::string>, std::shared_ptr<Entry>> entries_
      ABSL_GUARDED_BY(mutex_);
  int64_t uses_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace tenon::pjrt
