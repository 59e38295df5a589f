// What the kernels of a session keep from run to run.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "plugin/kernels/session_state.h"

namespace tenon {

// Values that kernels derive from constants, as SessionState::GetPacked says. Thread-safe.
class PackedValues {
 public:
  std::shared_ptr<const void> Get(const void* constant, std::string_view key,
                                  const std::function<std::shared_ptr<const void>()>& make);

 private:
  absl::Mutex mutex_;
  absl::flat_hash_map<std::pair<const void*, std::string>, std::shared_ptr<const void>> values_
      ABSL_GUARDED_BY(mutex_);
};

// Shares the ownership of what it returns: of node states until ForgetNodeStates, of the rest as
// long as it lives. GetNodeState returns the same object for one key until then. GetPacked returns
// the same object for one pair of a constant's address and a key. GetNodeState calls `make` under a
// lock: `make` must not call this object. GetPacked calls `make` without the lock, perhaps on
// several threads at once; every caller then gets the result that was made first. Thread-safe.
class KernelStates : public SessionState {
 public:
  explicit KernelStates(uint64_t seed = 0, FileAccess files = FileAccess())
      : seed_(seed), files_(std::move(files)) {}
  uint64_t seed() const override { return seed_; }
  FileAccess files() const override { return files_; }
  std::shared_ptr<NodeState> GetNodeState(
      std::string_view key, const std::function<std::shared_ptr<NodeState>()>& make) override;
  std::shared_ptr<const void> GetPacked(
      const void* constant, std::string_view key,
      const std::function<std::shared_ptr<const void>()>& make) override {
    return packed_.Get(constant, key, make);
  }
  // Later calls of GetNodeState make states anew.
  void ForgetNodeStates();

 private:
  const uint64_t seed_;
  const FileAccess files_;
  absl::Mutex mutex_;
  absl::flat_hash_map<std::string, std::shared_ptr<NodeState>> nodes_ ABSL_GUARDED_BY(mutex_);
  PackedValues packed_;
};

// The states of `lender`, which must outlive this object, but for packed values, which it has of
// its own: for a graph whose constants do not live as long as the lender does. Thread-safe.
class StatesOfOneGraph : public SessionState {
 public:
  explicit StatesOfOneGraph(SessionState& lender)
      : SessionState(lender.resources()), lender_(lender) {}
  uint64_t seed() const override { return lender_.seed(); }
  FileAccess files() const override { return lender_.files(); }
  std::shared_ptr<NodeState> GetNodeState(
      std::string_view key, const std::function<std::shared_ptr<NodeState>()>& make) override {
    return lender_.GetNodeState(key, make);
  }
  std::shared_ptr<const void> GetPacked(
      const void* constant, std::string_view key,
      const std::function<std::shared_ptr<const void>()>& make) override {
    return packed_.Get(constant, key, make);
  }

 private:
  SessionState& lender_;
  PackedValues packed_;
};

}  // namespace tenon
