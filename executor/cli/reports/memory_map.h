// What lies where in the arena of a plan, and when.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "executor/run/plan.h"
#include "executor/session/executable.h"
#include "executor/values/json.h"

namespace tenon::cli {

// A value in the arena.
struct ArenaValue {
  std::string name, op;
  int64_t bytes = 0, offset = 0;
  // The step that writes the value first, and the last step that reads or writes it.
  size_t first = 0, last = 0;
};

// The values in the arena of a plan, the largest first. One that is overwritten in place counts
// once, as what it was first.
std::vector<ArenaValue> ValuesInArena(const Plan& plan);

// "name", "op", "bytes", "first_step", "last_step".
Json ValueJson(const ArenaValue& value);
// "arena_bytes", "arena_lower_bound_bytes", "weights_bytes", "peak_rss_mb".
Json MemoryJson(const Executable& executable);

// MemoryJson, "steps", and "values": ValueJson and "offset" of the 3000 largest; "values_left_out"
// counts the others. Null while there is no plan.
Json MemoryMapJson(const Executable& executable);

}  // namespace tenon::cli
