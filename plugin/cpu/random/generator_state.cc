#include "plugin/cpu/random/generator_state.h"

#include <random>

#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

Philox SeededGenerator(const Prepare& p, int64_t seed, int64_t seed2) {
  auto a = static_cast<uint64_t>(seed), b = static_cast<uint64_t>(seed2);
  if (a == 0 && b == 0 && p.session().seed() != 0) {
    a = p.session().seed();
    // Nodes of one session get different sequences, and the same ones in every process: std::hash
    // would not promise that.
    for (char c : p.node_name()) b = b * 31 + static_cast<uint8_t>(c);
  } else if (a == 0 && b == 0) {
    std::random_device device;
    a = static_cast<uint64_t>(device()) << 32 | device();
    b = static_cast<uint64_t>(device()) << 32 | device();
  }
  Philox start;
  start.key = {static_cast<uint32_t>(a), static_cast<uint32_t>(a >> 32)};
  start.counter = {0, 0, static_cast<uint32_t>(b), static_cast<uint32_t>(b >> 32)};
  return start;
}

Philox GeneratorState::Reserve(uint64_t blocks) {
  std::lock_guard<std::mutex> lock(mutex_);
  Philox start = philox_;
  philox_.Skip(blocks);
  return start;
}

std::shared_ptr<GeneratorState> GeneratorOf(const Prepare& p, int64_t seed, int64_t seed2) {
  return std::static_pointer_cast<GeneratorState>(p.session().GetNodeState(
      absl::StrCat(p.node_name(), "\ngenerator ", seed, " ", seed2),
      [&] { return std::make_shared<GeneratorState>(SeededGenerator(p, seed, seed2)); }));
}

absl::StatusOr<std::shared_ptr<GeneratorState>> GeneratorOf(const Prepare& p) {
  TENON_ASSIGN_OR_RETURN(const int64_t seed, p.AttrInt("seed"));
  TENON_ASSIGN_OR_RETURN(const int64_t seed2, p.AttrInt("seed2"));
  return GeneratorOf(p, seed, seed2);
}

}  // namespace tenon::cpu
