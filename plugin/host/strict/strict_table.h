// The table of functions that stands between host and plug-in with --abi-check=strict.
#pragma once

#include "tensorflow/c/experimental/stream_executor/stream_executor.h"

namespace tenon {

// Returns a table of functions that check arguments and results (device_watch.h) and call those of
// `real`. A function that `real` lacks is null. The functions find `real` by the device, so each
// device must have a watch (WatchDevice).
SP_StreamExecutor StrictTable(const SP_StreamExecutor& real);

}  // namespace tenon
