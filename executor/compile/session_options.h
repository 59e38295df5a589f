// How a session makes and runs its graphs.
#pragma once

#include <cstdint>
#include <limits>

#include "executor/place/placer.h"
#include "grappler_lite/pipeline/pipeline.h"
#include "plugin/kernels/file_access.h"

namespace tenon {

struct SessionOptions {
  int threads = 0;    // CPU threads in all; 0: as many as the machine has
  int opt_level = 1;  // 0: no pass at all
  PipelineOptions pipeline;
  PlacerOptions placer;
  int max_cached_plans = 64;     // per set of feeds and fetches; the least recently used goes
  double device_timeout_s = 60;  // a plug-in's callback or event that takes longer
  uint64_t seed = 0;             // of random ops whose seeds are both 0; 0: from the system
  // Passes that the loops of a run may make, all together; one more is RESOURCE_EXHAUSTED.
  int64_t max_loop_passes = std::numeric_limits<int64_t>::max();
  FileAccess files;  // what kernels may read and write
};

}  // namespace tenon
