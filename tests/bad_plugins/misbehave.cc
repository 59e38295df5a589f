// One plug-in per kind; the macro of its name (tests/bad_plugins/CMakeLists.txt) says which. All
// are built like anyone's: from the public headers alone.
#include <dlfcn.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "host_device.h"
#include "tensorflow/c/c_api.h"
#include "tensorflow/c/c_api_experimental.h"
#include "tensorflow/c/experimental/grappler/grappler.h"
#include "tensorflow/c/experimental/pluggable_profiler/pluggable_profiler.h"
#include "tensorflow/c/experimental/stream_executor/stream_executor.h"
#include "tensorflow/c/kernels.h"
#include "tensorflow/c/ops.h"
#ifdef NEXT_PLUGGABLE
#include "tensorflow/core/common_runtime/next_pluggable_device/c/plugin_c_api.h"
#endif

#if defined(GOOD_DEVICE) || defined(MISSING_ALLOCATE) || defined(BAD_TYPE) ||               \
    defined(GRAPH_ERROR) || defined(PROFILER_INCOMPLETE) || defined(CREATE_DEVICE_FAILS) || \
    defined(COUNT_FAILS) || defined(DESTROY_THROWS) || defined(NULL_MEMORY) ||              \
    defined(EVENT_ERROR) || defined(INIT_ERROR) || defined(INIT_THROWS) || defined(OLD_HEADERS)
#define HAS_DEVICE
#endif
#if defined(GOOD_CPU) || defined(GOOD_DEVICE) || defined(KERNELS_THROW) || defined(GRAPH_ERROR) || \
    defined(OP_TAKEN) || defined(PROFILER_INCOMPLETE) || defined(COMPUTE_THROWS) ||                \
    defined(NESTED_LOAD) || defined(RESIDENT) || defined(OWN_PROTOBUF) || defined(TELLS_TEST)
#define HAS_KERNELS
#endif

namespace {

[[maybe_unused]] void RegisterOp(const char* name) {
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder(name);
  TF_OpDefinitionBuilderAddInput(op, "x: float");
  TF_OpDefinitionBuilderAddOutput(op, "y: float");
  TF_Status* status = TF_NewStatus();
  TF_RegisterOpDefinition(op, status);
  TF_DeleteStatus(status);  // many plug-ins do not look
}

// y = x, through a new tensor.
[[maybe_unused]] void Copy(void*, TF_OpKernelContext* ctx) {
#ifdef COMPUTE_THROWS
  throw std::runtime_error("from compute");
#endif
  TF_Status* status = TF_NewStatus();
  TF_Tensor* in = nullptr;
  TF_GetInput(ctx, 0, &in, status);
  TF_Tensor* out = TF_AllocateOutput(ctx, 0, TF_FLOAT, nullptr, 0, 4, status);
  std::memcpy(TF_TensorData(out), TF_TensorData(in), 4);
  TF_DeleteTensor(in);
  TF_DeleteTensor(out);
  TF_DeleteStatus(status);
}

[[maybe_unused]] void RegisterKernel(const char* op) {
  TF_Status* status = TF_NewStatus();
  TF_RegisterKernelBuilder(KIND, TF_NewKernelBuilder(op, "CPU", nullptr, Copy, nullptr), status);
  TF_DeleteStatus(status);
}

}  // namespace

#ifdef RESIDENT
__attribute__((visibility("default"))) inline int unique_symbol =
    0;  // the system's loader never unmaps who has one
#endif

#ifdef CALLED_BY_LIBRARY
extern "C" __attribute__((visibility("default"))) void called_by_library(void) {}
#elif defined(REGISTRAR)
extern "C" void called_by_library(void);
#endif

#if defined(OPS_IN_CONSTRUCTOR) || defined(RESIDENT) || defined(REGISTRAR)
__attribute__((constructor)) static void OnLoad() {
  TF_DeleteBuffer(TF_GetAllOpList());
#ifdef RESIDENT
  ++unique_symbol;
  RegisterOp("Relu");
#elif defined(REGISTRAR)
  called_by_library();
#endif
  RegisterOp("ConstructorOp_" KIND);
}
#endif

#ifdef UNDEFINED_SYMBOL
extern "C" void TF_NoSuchFunctionAnywhere(void);
extern "C" __attribute__((visibility("default"))) void TF_InitKernel(void) {
  TF_NoSuchFunctionAnywhere();
}
#endif

#ifdef UNDEFINED_CXX
namespace absl {
void NoSuchFunctionAnywhere(int);
}
extern "C" __attribute__((visibility("default"))) void TF_InitKernel(void) {
  absl::NoSuchFunctionAnywhere(1);
}
#endif

#ifdef NEEDS_ABSENT
extern "C" int absent_library(void);
extern "C" __attribute__((visibility("default"))) void TF_InitKernel(void) { absent_library(); }
#endif

#ifdef NEXT_PLUGGABLE
// The answer of a plug-in whose devices are of the other kind in this process: a table that says
// nothing of its size, with hardly a function.
extern "C" __attribute__((visibility("default"))) const TFNPD_Api* TFNPD_InitPlugin(
    TFNPD_PluginParams* params, TF_Status*) {
  static const TFNPD_Api empty = {};
  params->device_type = "OTHER";
  return &empty;
}
// NULL, as of a plug-in whose devices are of the other kind in this process.
extern "C" __attribute__((visibility("default"))) const void* GetPjrtApi(void) { return nullptr; }
#endif

#ifdef OWN_PROTOBUF
// Names of protobuf and Abseil as a plug-in exports them that brings its own, of another version.
#pragma GCC visibility push(default)
namespace google::protobuf {
namespace internal {
int calls = 0;
void VerifyVersion(int, int, const char*) { ++calls; }
}  // namespace internal
void ShutdownProtobufLibrary() { ++internal::calls; }
}  // namespace google::protobuf
namespace absl::base_internal {
void SpinLockWake(void*, bool) { std::abort(); }
}  // namespace absl::base_internal
#pragma GCC visibility pop
#endif

#ifdef HAS_KERNELS
extern "C" __attribute__((visibility("default"))) void TF_InitKernel(void) {
#ifdef OP_TAKEN
  RegisterOp("MatMul");
  RegisterOp("");
  TF_Status* no_status = nullptr;
  TF_KernelBuilder* builder = TF_NewKernelBuilder("MatMul", "CPU", nullptr, nullptr, nullptr);
  TF_RegisterKernelBuilder("no_compute", builder, no_status);
#endif
#ifdef RESIDENT
  static int calls = 0;
  if (++calls > 1) std::abort();
#endif
  RegisterOp("Op_" KIND);
  RegisterKernel("Op_" KIND);
#ifdef OWN_PROTOBUF
  google::protobuf::internal::VerifyVersion(1, 2, "x");
  google::protobuf::ShutdownProtobufLibrary();
  if (google::protobuf::internal::calls != 2) std::abort();  // somebody else's were called
#endif
#ifdef KERNELS_THROW
  throw std::runtime_error("from TF_InitKernel");
#endif
#ifdef TELLS_TEST
  if (const auto tell = reinterpret_cast<void (*)(const char*)>(dlsym(RTLD_DEFAULT, "TestIsTold")))
    tell(KIND);
#endif
#ifdef NESTED_LOAD
  if (const char* plugin = std::getenv("TENON_TEST_NESTED_PLUGIN")) {
    TF_Status* status = TF_NewStatus();
    TF_DeletePluggableDeviceLibraryHandle(TF_LoadPluggableDeviceLibrary(plugin, status));
    TF_DeleteStatus(status);
  }
  const auto load = [] {
    TF_Status* status = TF_NewStatus();
    TF_DeleteLibraryHandle(TF_LoadLibrary(std::getenv("TENON_TEST_NESTED"), status));
    TF_DeleteStatus(status);
  };
  if (std::getenv("TENON_TEST_OTHER_THREAD") == nullptr) {
    load();
  } else {
    std::thread(load).join();
  }
#endif
}
#endif

#ifdef GRAPH_ERROR
extern "C" __attribute__((visibility("default"))) void TF_InitGraph(TP_OptimizerRegistrationParams*,
                                                                    TF_Status* status) {
  TF_SetStatus(status, TF_UNAUTHENTICATED, "from TF_InitGraph");
}
#endif

#if defined(GOOD_PROFILER) || defined(PROFILER_INCOMPLETE)
extern "C" __attribute__((visibility("default"))) void TF_InitProfiler(
    TF_ProfilerRegistrationParams* params, TF_Status*) {
  params->profiler->device_type = "CPU";
  params->profiler_fns->stop = [](const TP_Profiler*, TF_Status*) {};
  params->profiler_fns->collect_data_xspace = [](const TP_Profiler*, uint8_t*, size_t* size,
                                                 TF_Status*) { *size = 0; };
#ifdef GOOD_PROFILER
  params->profiler_fns->start = [](const TP_Profiler*, TF_Status*) {};
#endif
  params->destroy_profiler = [](TP_Profiler*) {};
  params->destroy_profiler_fns = [](TP_ProfilerFns*) {};
}
#endif

#ifdef HAS_DEVICE
namespace {

void Nothing(const char*, TF_Status*) {}

void FillBrokenExecutor(SP_StreamExecutor* se) {
  FillExecutor<Nothing>(se);
#if defined(MISSING_ALLOCATE)
  se->allocate = nullptr;
#elif defined(NULL_MEMORY)
  se->allocate = [](const SP_Device*, uint64_t, int64_t, SP_DeviceMemoryBase* mem) {
    mem->opaque = nullptr;
  };
#elif defined(EVENT_ERROR)
  se->get_event_status = [](const SP_Device*, SP_Event) { return SE_EVENT_ERROR; };
#endif
}

void CreateDevice(const SP_Platform*, SE_CreateDeviceParams* params, TF_Status* status) {
  params->device->ordinal = params->ordinal;
#ifdef CREATE_DEVICE_FAILS
  TF_SetStatus(status, TF_UNAVAILABLE, "no such board");
#else
  (void)status;
#endif
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void SE_InitPlugin(
    SE_PlatformRegistrationParams* params, TF_Status* status) {
#if defined(INIT_ERROR)
  TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "from SE_InitPlugin");
  return;
#elif defined(INIT_THROWS)
  throw std::runtime_error("from SE_InitPlugin");
#endif
  (void)status;
  params->platform->name = "TESTPLATFORM";
#ifdef OLD_HEADERS
  params->platform->struct_size = offsetof(SP_Platform, use_bfc_allocator);
#endif
#ifdef BAD_TYPE
  params->platform->type = "Test2";
#else
  params->platform->type = "TEST";
#endif
#ifndef NULL_MEMORY
  params->platform->use_bfc_allocator = 1;
#endif
  params->platform->force_memory_growth = 1;
  SP_PlatformFns* fns = params->platform_fns;
  fns->get_device_count = [](const SP_Platform*, int* count, TF_Status* s) {
    *count = 2;
#ifdef COUNT_FAILS
    TF_SetStatus(s, TF_UNAVAILABLE, "no bus");
#else
    (void)s;
#endif
  };
  fns->create_device = CreateDevice;
  fns->destroy_device = [](const SP_Platform*, SP_Device*) {
#ifdef DESTROY_THROWS
    throw std::runtime_error("from destroy_device");
#endif
  };
  fns->create_device_fns = [](const SP_Platform*, SE_CreateDeviceFnsParams*, TF_Status*) {};
  fns->destroy_device_fns = [](const SP_Platform*, SP_DeviceFns*) {};
  fns->create_stream_executor = [](const SP_Platform*, SE_CreateStreamExecutorParams* p,
                                   TF_Status*) { FillBrokenExecutor(p->stream_executor); };
  fns->destroy_stream_executor = [](const SP_Platform*, SP_StreamExecutor*) {};
  params->destroy_platform = [](SP_Platform*) {};
  params->destroy_platform_fns = [](SP_PlatformFns*) {};
}
#endif
