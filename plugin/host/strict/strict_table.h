// The table of functions that stands between host and plug-in with --abi-check=strict.
#pragma once

#include "tensorflow/c/experimental/stream_executor/stream_executor.h"

namespace tenon {

// Returns a table of functions that check arguments and results (device_watch.h) and call those of
// the plug-in. A function that `real` lacks is null. Those for unified memory and timers,
// device_memory_usage, get_stream_status and sync_memcpy_dtod are `real`'s own, unchecked. The
// others call the table that WatchDevice got for the device: each device must have a watch, with
// `real`. For a device without one they throw std::invalid_argument. Where the host calls it,
// allocate asks the plug-in for more bytes, so that guard zones surround the memory. If the plug-in
// has no room for zones, or calls allocate itself, the memory has none.
SP_StreamExecutor StrictTable(const SP_StreamExecutor& real);

}  // namespace tenon
