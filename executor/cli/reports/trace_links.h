// What a trace tells of a run besides its steps: which step's result goes where, and the memory in
// use.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "executor/run/run_recorder.h"

namespace tenon::cli {

// Pairs of steps, from the one that writes a value to one that reads it, of which at least one
// queues work on a stream: the two may be on one device. A step that waits is in no pair: the step
// for which it waits takes its place. Each pair once, sorted.
std::vector<std::pair<uint32_t, uint32_t>> LinksOf(const Plan& plan);

// Bytes of the arena in use from a moment on, in nanoseconds of the recorder. By time; the last has
// 0 bytes. A value is in use from the beginning of the step that writes it to the end of the last
// one that reads it. Empty if the plan has no arena.
struct MemoryInUse {
  int64_t at_ns, bytes;
};
std::vector<MemoryInUse> MemoryOfRun(const RunSpan& run);

}  // namespace tenon::cli
