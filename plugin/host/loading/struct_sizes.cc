#include "plugin/host/loading/struct_sizes.h"

#include "optimizer_api/plugin_optimizer.h"
#include "plugin/host/devices/stream_executor.h"
#include "plugin/host/loading/profiler.h"

namespace tenon {

std::vector<StructSize> StructSizes(const StreamExecutorPlatform* platform,
                                    const PluginOptimizer* optimizer,
                                    const PluginProfiler* profiler) {
  std::vector<StructSize> sizes;
  if (platform != nullptr) {
    sizes.push_back({"SP_Platform", platform->platform()->struct_size, SP_PLATFORM_STRUCT_SIZE});
    sizes.push_back(
        {"SP_PlatformFns", platform->platform_fns().struct_size, SP_PLATFORM_FNS_STRUCT_SIZE});
    sizes.push_back(
        {"SP_DeviceFns", platform->device_fns().struct_size, SP_DEVICE_FNS_STRUCT_SIZE});
    sizes.push_back(
        {"SP_StreamExecutor", platform->se().struct_size, SP_STREAMEXECUTOR_STRUCT_SIZE});
  }
  if (optimizer != nullptr) {
    sizes.push_back({"TP_Optimizer", optimizer->fns.struct_size, TP_OPTIMIZER_STRUCT_SIZE});
    sizes.push_back(
        {"TP_OptimizerConfigs", optimizer->configs.struct_size, TP_OPTIMIZER_CONFIGS_STRUCT_SIZE});
  }
  if (profiler != nullptr) {
    sizes.push_back({"TP_Profiler", profiler->profiler()->struct_size, TP_PROFILER_STRUCT_SIZE});
    sizes.push_back({"TP_ProfilerFns", profiler->fns().struct_size, TP_PROFILER_FNS_STRUCT_SIZE});
  }
  return sizes;
}

}  // namespace tenon
