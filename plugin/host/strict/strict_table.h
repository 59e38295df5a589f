// The table of functions that stands between host and plug-in with --abi-check=strict.
#pragma once

#include "tensorflow/c/experimental/stream_executor/stream_executor.h"

namespace tenon {

// Functions that check what goes in and comes out (device_watch.h) and call the real
// ones. What is missing in `real` is missing here. Devices must be watched (WatchDevice).
SP_StreamExecutor StrictTable(const SP_StreamExecutor& real);

}  // namespace tenon
