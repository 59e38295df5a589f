// The sizes of the structs that a plug-in filled in, against those of this host's headers.
#pragma once

#include <cstddef>
#include <vector>

namespace tenon {

class PluginProfiler;          // plugin/host/loading/profiler.h
class StreamExecutorPlatform;  // plugin/host/devices/stream_executor.h
struct PluginOptimizer;        // optimizer_api/plugin_optimizer.h

struct StructSize {
  const char* name;  // "SP_Platform"
  size_t size;       // as the plug-in left it; it found the host's there
  size_t host_size;  // *_STRUCT_SIZE of our headers
};

// Of those that are there; any may be null.
std::vector<StructSize> StructSizes(const StreamExecutorPlatform* platform,
                                    const PluginOptimizer* optimizer,
                                    const PluginProfiler* profiler);

}  // namespace tenon
