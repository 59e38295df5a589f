// A complete plug-in, with a device, an op, kernels, a pass and a profiler, that breaks at the
// callback BOARD_AT in the way BOARD_WAY: `fail` (its status, where it has one), `throw`, `segv`,
// `exit`. BOARD_TAKEN names a library to load while the kernels are registered.
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string_view>

#include "host_device.h"
#include "tensorflow/c/c_api_experimental.h"
#include "tensorflow/c/experimental/grappler/grappler.h"
#include "tensorflow/c/experimental/pluggable_profiler/pluggable_profiler.h"
#include "tensorflow/c/kernels.h"
#include "tensorflow/c/ops.h"

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

// A store that no sanitizer sees coming.
__attribute__((no_sanitize("address", "undefined", "thread"))) void Crash() {
  static int* volatile nowhere = nullptr;
  *nowhere = 1;
}

void At(const char* callback, TF_Status* status) {
  const char* at = std::getenv("BOARD_AT");
  if (at == nullptr || std::strcmp(at, callback) != 0) return;
  const std::string_view way = std::getenv("BOARD_WAY");
  if (way == "fail" && status != nullptr) TF_SetStatus(status, TF_UNAVAILABLE, "as asked");
  if (way == "throw") throw std::runtime_error("as asked");
  if (way == "segv") Crash();
  if (way == "exit") std::exit(0);
}

__attribute__((constructor)) void OnLoad() { At("dlopen", nullptr); }

// y = x.
void Compute(void*, TF_OpKernelContext* ctx) {
  At("compute_func", nullptr);
  TF_Status* status = TF_NewStatus();
  TF_Tensor* in = nullptr;
  TF_GetInput(ctx, 0, &in, status);
  TF_Tensor* out = TF_AllocateOutput(ctx, 0, TF_FLOAT, nullptr, 0, 4, status);
  std::memcpy(TF_TensorData(out), TF_TensorData(in), 4);
  TF_DeleteTensor(in);
  TF_DeleteTensor(out);
  TF_DeleteStatus(status);
}

void* CreateKernel(TF_OpKernelConstruction*) {
  At("create_func", nullptr);
  return nullptr;
}
void DeleteKernel(void*) { At("delete_func", nullptr); }

void ScalarShape(TF_ShapeInferenceContext* context, TF_Status* status) {
  At("shape_inference_func", status);
  TF_ShapeHandle* scalar = TF_ShapeInferenceContextScalar(context);
  TF_ShapeInferenceContextSetOutput(context, 0, scalar, status);
  TF_DeleteShapeHandle(scalar);
}

void RegisterOp(const char* name, TF_Status* status) {
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder(name);
  TF_OpDefinitionBuilderAddInput(op, "x: float");
  TF_OpDefinitionBuilderAddOutput(op, "y: float");
  TF_OpDefinitionBuilderSetIsStateful(op, true);
  TF_OpDefinitionBuilderSetShapeInferenceFunction(op, ScalarShape);
  TF_RegisterOpDefinition(op, status);
}

void* CreatePass() {
  At("create_func of the pass", nullptr);
  return nullptr;
}
void Optimize(void*, const TF_Buffer*, const TF_GrapplerItem*, TF_Buffer*, TF_Status* status) {
  TF_SetStatus(status, TF_ABORTED, "nothing to do");
  At("optimize_func", status);
}
void DestroyPass(void*) { At("destroy_func", nullptr); }

}  // namespace

EXPORTED void SE_InitPlugin(SE_PlatformRegistrationParams* params, TF_Status* status) {
  At("SE_InitPlugin", status);
  params->platform->name = "BOARD";
  params->platform->type = "BOARD";
  params->platform->use_bfc_allocator = 1;
  params->platform->force_memory_growth = 1;
  SP_PlatformFns* fns = params->platform_fns;
  fns->get_device_count = [](const SP_Platform*, int* count, TF_Status* s) {
    *count = 1;
    At("get_device_count", s);
  };
  fns->create_device = [](const SP_Platform*, SE_CreateDeviceParams*, TF_Status* s) {
    At("create_device", s);
  };
  fns->destroy_device = [](const SP_Platform*, SP_Device*) { At("destroy_device", nullptr); };
  fns->create_device_fns = [](const SP_Platform*, SE_CreateDeviceFnsParams*, TF_Status* s) {
    At("create_device_fns", s);
  };
  fns->destroy_device_fns = [](const SP_Platform*, SP_DeviceFns*) {
    At("destroy_device_fns", nullptr);
  };
  fns->create_stream_executor = [](const SP_Platform*, SE_CreateStreamExecutorParams* p,
                                   TF_Status* s) {
    At("create_stream_executor", s);
    FillExecutor<At>(p->stream_executor);
  };
  fns->destroy_stream_executor = [](const SP_Platform*, SP_StreamExecutor*) {
    At("destroy_stream_executor", nullptr);
  };
  params->destroy_platform = [](SP_Platform*) { At("destroy_platform", nullptr); };
  params->destroy_platform_fns = [](SP_PlatformFns*) { At("destroy_platform_fns", nullptr); };
}

EXPORTED void TF_InitKernel(void) {
  TF_Status* status = TF_NewStatus();
  RegisterOp("BoardOp", status);
  for (const char* device : {"BOARD", "CPU"}) {
    TF_RegisterKernelBuilder(
        "Board", TF_NewKernelBuilder("BoardOp", device, CreateKernel, Compute, DeleteKernel),
        status);
  }
  if (const char* library = std::getenv("BOARD_TAKEN")) {
    RegisterOp("ConstructorOp_takes_op", status);
    TF_DeletePluggableDeviceLibraryHandle(TF_LoadPluggableDeviceLibrary(library, status));
  }
  TF_DeleteStatus(status);
  At("TF_InitKernel", nullptr);
}

EXPORTED void TF_InitGraph(TP_OptimizerRegistrationParams* params, TF_Status* status) {
  params->device_type = "BOARD";
  params->optimizer->create_func = CreatePass;
  params->optimizer->optimize_func = Optimize;
  params->optimizer->destroy_func = DestroyPass;
  At("TF_InitGraph", status);
}

EXPORTED void TF_InitProfiler(TF_ProfilerRegistrationParams* params, TF_Status* status) {
  params->profiler->device_type = "BOARD";
  params->profiler_fns->start = [](const TP_Profiler*, TF_Status*) {};
  params->profiler_fns->stop = [](const TP_Profiler*, TF_Status*) {};
  params->profiler_fns->collect_data_xspace = [](const TP_Profiler*, uint8_t*, size_t* size,
                                                 TF_Status*) { *size = 0; };
  params->destroy_profiler = [](TP_Profiler*) { At("destroy_profiler", nullptr); };
  params->destroy_profiler_fns = [](TP_ProfilerFns*) { At("destroy_profiler_fns", nullptr); };
  At("TF_InitProfiler", status);
}
