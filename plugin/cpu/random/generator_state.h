// The generator that a stateful random node keeps over the runs of a session.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>

#include "absl/status/statusor.h"
#include "plugin/cpu/random/philox.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

// Thread-safe.
class GeneratorState : public NodeState {
 public:
  // Both seeds 0: the session's seed and the node's name decide, or, without the former, the
  // system.
  GeneratorState(int64_t seed, int64_t seed2, uint64_t session_seed, std::string_view node_name);
  // The generator for a run that may use up to `blocks` blocks of four words.
  Philox Reserve(uint64_t blocks);

 private:
  std::mutex mutex_;
  Philox philox_;
};

// The node's, seeded by these …
std::shared_ptr<GeneratorState> GeneratorOf(const Prepare& p, int64_t seed, int64_t seed2);
// … or by its attributes seed and seed2.
absl::StatusOr<std::shared_ptr<GeneratorState>> GeneratorOf(const Prepare& p);

}  // namespace tenon::cpu
