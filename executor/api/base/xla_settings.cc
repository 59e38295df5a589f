// The functions of c_api_experimental.h that set what TensorFlow's XLA does, and those that make a
// ConfigProto and RunOptions. There is no XLA: settings are only told again.
#include <atomic>

#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/without_memory.h"
#include "proto/config.pb.h"
#include "tensorflow/c/c_api_experimental.h"

namespace tenon::api {
namespace {

std::atomic<unsigned char> lazy_compilation{1}, cpu_global_jit{0}, no_constant_folding{0};

}  // namespace
}  // namespace tenon::api

extern "C" {

void TF_EnableXLACompilation(TF_SessionOptions*, unsigned char) {}
void TF_SetXlaAutoJitMode(const char*) {}
void TF_SetXlaMinClusterSize(int) {}

unsigned char TF_SetXlaEnableLazyCompilation(unsigned char enable) {
  return tenon::api::lazy_compilation.exchange(enable != 0);
}
unsigned char TF_SetTfXlaCpuGlobalJit(unsigned char enable) {
  return tenon::api::cpu_global_jit.exchange(enable != 0);
}
unsigned char TF_GetXlaConstantFoldingDisabled(void) {
  return tenon::api::no_constant_folding.load();
}
void TF_SetXlaConstantFoldingDisabled(unsigned char should_enable) {
  tenon::api::no_constant_folding.store(should_enable != 0);
}

TF_Buffer* TF_CreateConfig(unsigned char enable_xla_compilation,
                           unsigned char gpu_memory_allow_growth,
                           unsigned int num_cpu_devices) try {
  tenon::pb::ConfigProto config;
  (*config.mutable_device_count())["CPU"] = static_cast<int>(num_cpu_devices);
  config.set_inter_op_parallelism_threads(1);  // TensorFlow asks for one here
  config.mutable_gpu_options()->set_allow_growth(gpu_memory_allow_growth != 0);
  auto* const optimizer = config.mutable_graph_options()->mutable_optimizer_options();
  optimizer->set_global_jit_level(enable_xla_compilation != 0 ? tenon::pb::OptimizerOptions::ON_1
                                                              : tenon::pb::OptimizerOptions::OFF);
  if (enable_xla_compilation != 0) tenon::api::cpu_global_jit.store(1);
  return tenon::NewBuffer(config.SerializeAsString());
} catch (...) {
  return tenon::WithoutMemory();
}

TF_Buffer* TF_CreateRunOptions(unsigned char enable_full_trace) try {
  tenon::pb::RunOptions options;
  if (enable_full_trace != 0) options.set_trace_level(tenon::pb::RunOptions::FULL_TRACE);
  return tenon::NewBuffer(options.SerializeAsString());
} catch (...) {
  return tenon::WithoutMemory();
}

}  // extern "C"
