// The generator that a stateful random node keeps over the runs of a session.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "absl/status/statusor.h"
#include "plugin/cpu/random/philox.h"
#include "plugin/kernels/session_state.h"

namespace tenon {
class Prepare;  // plugin/kernels/kernel.h
}

namespace tenon::cpu {

// Returns the generator that the two seeds start. If both are 0, the session's seed and the node's
// name start it; if the session's seed is 0 too, the system's random device does.
Philox SeededGenerator(const Prepare& p, int64_t seed, int64_t seed2);

// Thread-safe. Concurrent runs of a node get different blocks; which run gets which is open.
class GeneratorState : public NodeState {
 public:
  explicit GeneratorState(const Philox& start) : philox_(start) {}
  // Returns the generator for a run that uses at most `blocks` blocks of four words. The generator
  // of the next call begins behind these blocks.
  Philox Reserve(uint64_t blocks);

 private:
  std::mutex mutex_;
  Philox philox_;
};

// Returns the session's generator for the node's name and these seeds, never null. The first
// preparation makes it by SeededGenerator; later ones of the same name and seeds get the same.
std::shared_ptr<GeneratorState> GeneratorOf(const Prepare& p, int64_t seed, int64_t seed2);
// The same, seeded by the node's attributes seed and seed2. INVALID_ARGUMENT if one is missing.
absl::StatusOr<std::shared_ptr<GeneratorState>> GeneratorOf(const Prepare& p);

}  // namespace tenon::cpu
