// The plug-in of `graph_run plugin new`, whose functions come under other names, with manners that
// UNRULY names. It works; only who watches sees what is wrong.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "tensorflow/c/c_api.h"
#include "tensorflow/c/experimental/grappler/grappler.h"
#include "tensorflow/c/experimental/stream_executor/stream_executor.h"
#include "tensorflow/c/kernels.h"

extern "C" void GoodInitPlugin(SE_PlatformRegistrationParams*, TF_Status*);
extern "C" void GoodInitKernel(void);

namespace {

bool Is(const char* kind) {
  const char* unruly = std::getenv("UNRULY");
  return unruly != nullptr && std::strcmp(unruly, kind) == 0;
}

// --- The table of the good device, and what is wrong with ours.

SP_StreamExecutor good;
// The host's copy of our table: the plug-in's kernel calls through it.
SP_StreamExecutor* table_of_host = nullptr;
const SP_Device* device = nullptr;
void (*good_create_device)(const SP_Platform*, SE_CreateDeviceParams*, TF_Status*);
void (*good_create_device_fns)(const SP_Platform*, SE_CreateDeviceFnsParams*, TF_Status*);
void (*good_create_stream_executor)(const SP_Platform*, SE_CreateStreamExecutorParams*, TF_Status*);

void Allocate(const SP_Device* d, uint64_t size, int64_t space, SP_DeviceMemoryBase* memory) {
  device = d;
  const size_t found = memory->struct_size;
  good.allocate(d, size + 64, space, memory);
  if (Is("misaligned")) memory->opaque = static_cast<char*>(memory->opaque) + 4;
  if (Is("memory_size")) memory->struct_size = found;
}
void SameMemory(const SP_Device*, uint64_t, int64_t, SP_DeviceMemoryBase* memory) {
  alignas(256) static char block[1 << 20];  // with room for what the host puts around
  memory->struct_size = SP_DEVICE_MEMORY_BASE_STRUCT_SIZE;
  memory->opaque = block;
}
void CopyThrows(const SP_Device*, SP_Stream, SP_DeviceMemoryBase*, const void*, uint64_t,
                TF_Status*) {
  throw std::runtime_error("from the copy");
}
void CreateEvent(const SP_Device* d, SP_Event* event, TF_Status* status) {
  static SP_Event last = nullptr;
  if (last == nullptr || !Is("same_event")) good.create_event(d, &last, status);
  *event = last;
}
void SameStream(const SP_Device* d, SP_Stream* stream, TF_Status* status) {
  static SP_Stream only = nullptr;
  if (only == nullptr) good.create_stream(d, &only, status);
  *stream = only;
}
// A stream that still works when its events are complete already.
class BusyStream {
 public:
  ~BusyStream() {
    for (std::thread& thread : threads_) thread.join();
  }
  void Queue(std::function<void()> work) {
    done_at_ = std::max(done_at_, Clock::now());
    threads_.emplace_back([work = std::move(work), at = done_at_] {
      std::this_thread::sleep_until(at);
      work();
    });
  }
  void Work(std::chrono::milliseconds length) { done_at_ = Clock::now() + length; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point done_at_;
  std::vector<std::thread> threads_;
};
BusyStream busy_stream;

void CopyAndWork(const SP_Device* d, SP_Stream stream, void* to, const SP_DeviceMemoryBase* from,
                 uint64_t size, TF_Status* status) {
  good.memcpy_dtoh(d, stream, to, from, size, status);
  busy_stream.Work(std::chrono::milliseconds(600));
}
TF_Bool CallBackLater(const SP_Device*, SP_Stream, SE_StatusCallbackFn callback, void* argument) {
  busy_stream.Queue([=] {
    TF_Status* status = TF_NewStatus();
    callback(argument, status);
    TF_DeleteStatus(status);
  });
  return 1;
}

void CreateDevice(const SP_Platform* platform, SE_CreateDeviceParams* params, TF_Status* status) {
  const size_t found = params->device->struct_size;
  good_create_device(platform, params, status);
  if (Is("device_size")) params->device->struct_size = found;
}
void CreateDeviceFns(const SP_Platform* platform, SE_CreateDeviceFnsParams* params,
                     TF_Status* status) {
  const size_t found = params->device_fns->struct_size;
  good_create_device_fns(platform, params, status);
  if (Is("device_fns_size")) params->device_fns->struct_size = found;
}
void CreateStreamExecutor(const SP_Platform* platform, SE_CreateStreamExecutorParams* params,
                          TF_Status* status) {
  const size_t found = params->stream_executor->struct_size;
  good_create_stream_executor(platform, params, status);
  table_of_host = params->stream_executor;
  SP_StreamExecutor& table = *table_of_host;
  good = table;
  table.allocate = Allocate;
  table.create_event = CreateEvent;
  if (Is("misaligned")) {
    table.deallocate = [](const SP_Device* d, SP_DeviceMemoryBase* memory) {
      memory->opaque = static_cast<char*>(memory->opaque) - 4;
      good.deallocate(d, memory);
    };
  }
  if (Is("same_memory")) {
    table.allocate = SameMemory;
    table.deallocate = [](const SP_Device*, SP_DeviceMemoryBase*) {};
  }
  if (Is("copy_throws")) table.memcpy_htod = CopyThrows;
  if (Is("same_stream")) {
    table.create_stream = SameStream;
    table.destroy_stream = [](const SP_Device*, SP_Stream) {};
  }
  if (Is("early_event")) {
    table.memcpy_dtoh = CopyAndWork;
    table.host_callback = CallBackLater;
  }
  if (Is("callback_twice")) {
    table.host_callback = [](const SP_Device* d, SP_Stream stream, SE_StatusCallbackFn callback,
                             void* argument) -> TF_Bool {
      return good.host_callback(d, stream, callback, argument) &&
             good.host_callback(d, stream, callback, argument);
    };
  }
  if (Is("no_callbacks")) {
    table.host_callback = [](const SP_Device*, SP_Stream, SE_StatusCallbackFn, void*) -> TF_Bool {
      return 0;
    };
  }
  if (Is("table_size")) table.struct_size = found;
}

// --- A kernel that is right, and what else it does.

void CallTable(TF_OpKernelContext* context, void* input, size_t bytes, TF_Status* status) {
  const SP_StreamExecutor& table = *table_of_host;
  const SP_Stream stream = TF_GetStream(context, status);
  SP_DeviceMemoryBase memory = {SP_DEVICE_MEMORY_BASE_STRUCT_SIZE, nullptr, input, bytes, 0};
  char host[256];
  SP_Event event = nullptr;
  SP_Stream other = nullptr;
  if (Is("frees_input")) {
    static char copy[256];
    table.memcpy_dtoh(device, stream, copy, &memory, bytes, status);
    table.deallocate(device, &memory);
  }
  [[maybe_unused]] static void* volatile leaked;  // where a leak checker finds it: the host is to
                                                  // tell
  if (Is("memory_leak")) {
    table.allocate(device, bytes, 0, &memory);
    leaked = memory.opaque;
  }
  if (Is("memory_twice")) {
    table.allocate(device, bytes, 0, &memory);
    table.deallocate(device, &memory);
    table.deallocate(device, &memory);
  }
  if (Is("to_device")) table.memcpy_dtoh(device, stream, input, &memory, bytes, status);
  if (Is("from_host")) {
    memory.opaque = std::memset(host, 0, sizeof(host));
    table.memcpy_dtoh(device, stream, host + bytes, &memory, bytes, status);
  }
  if (Is("event_leak") || Is("unrecorded") || Is("same_event"))
    table.create_event(device, &event, status);
  if (Is("unrecorded")) {
    table.wait_for_event(device, stream, event, status);
    table.destroy_event(device, event);
  }
  if (Is("same_event")) table.create_event(device, &event, status);
  if (Is("stream_leak")) {
    table.create_stream(device, &other, status);
    leaked = other;
  }
  if (Is("own_device")) {
    const SP_Device copy = *device;
    table.synchronize_all_activity(&copy, status);
  }
}

// None of whose bytes is that of a small number.
constexpr float kOdd = 3.3961514e38f;

// Writes where it may not.
void Trespass(TF_OpKernelContext* context, float* in, float* out, size_t bytes, TF_Status* status) {
  constexpr size_t kFar = 4096;  // 16 kB
  const size_t count = bytes / sizeof(float);
  if (Is("past_output")) std::fill_n(out + count, kFar, kOdd);
  if (Is("before_output")) out[-2] = kOdd;
  if (Is("past_input")) in[count] = kOdd;
  if (Is("writes_input")) in[1] = kOdd;
  if (Is("past_temporary")) {
    const int64_t three = 3;
    TF_Tensor* temporary = TF_AllocateTemp(context, TF_FLOAT, &three, 1, nullptr, status);
    static_cast<float*>(TF_TensorData(temporary))[3] = kOdd;
    TF_DeleteTensor(temporary);
  }
  if (Is("past_own")) {
    const int64_t three = 3;
    TF_Tensor* own = TF_AllocateTensor(TF_FLOAT, &three, 1, 3 * sizeof(float));
    static_cast<float*>(TF_TensorData(own))[3] = kOdd;
    TF_DeleteTensor(own);
  }
}

// What goes on when the call has ended, until the kernel is deleted.
struct Afterwards {
  ~Afterwards() {
    if (thread.joinable()) thread.join();
  }
  std::thread thread;
};

void GoOn(Afterwards& afterwards, TF_OpKernelContext* context, float* out) {
  const auto later = [&](auto work) {
    if (afterwards.thread.joinable()) return;
    afterwards.thread = std::thread([work] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      work();
    });
  };
  if (Is("writes_late")) later([out] { out[2] = kOdd; });
  if (Is("asks_late")) later([context] { TF_NumInputs(context); });
}

void* Create(TF_OpKernelConstruction*) { return new Afterwards; }
void Delete(void* kernel) { delete static_cast<Afterwards*>(kernel); }

void Compute(void* kernel, TF_OpKernelContext* context) {
  if (Is("kernel_throws")) throw std::runtime_error("from the kernel");
  TF_Status* status = TF_NewStatus();
  TF_Tensor* x = nullptr;
  TF_GetInput(context, 0, &x, status);
  const int64_t dims[] = {TF_Dim(x, 0)};
  const size_t bytes = TF_TensorByteSize(x);
  TF_Tensor* y = Is("host_output") ? TF_AllocateTensor(TF_FLOAT, dims, 1, bytes)
                                   : TF_AllocateTemp(context, TF_FLOAT, dims, 1, nullptr, status);
  float* in = static_cast<float*>(TF_TensorData(x));
  float* out = static_cast<float*>(TF_TensorData(y));
  for (int64_t i = 0; i < dims[0]; ++i) out[i] = -in[i];
  TF_SetOutput(context, 0, y, status);
  Trespass(context, in, out, bytes, status);
  GoOn(*static_cast<Afterwards*>(kernel), context, out);
  CallTable(context, TF_TensorData(x), bytes, status);
  if (!Is("tensor_leak")) TF_DeleteTensor(x);
  if (Is("tensor_twice")) TF_DeleteTensor(x);
  static TF_Status* const kept = TF_NewStatus();  // until the process ends: no leak
  TF_SetStatus(kept, TF_OK, "");
  TF_DeleteTensor(y);
  TF_Buffer* kernels = TF_GetRegisteredKernelsForOp("Neg", status);
  if (!Is("buffer_leak")) TF_DeleteBuffer(kernels);
  if (Is("buffer_twice")) TF_DeleteBuffer(kernels);
  if (!Is("status_leak")) TF_DeleteStatus(status);
  if (Is("status_twice")) TF_DeleteStatus(status);
}

// A pass that has nothing to do.
void Optimize(void*, const TF_Buffer*, const TF_GrapplerItem*, TF_Buffer*, TF_Status* status) {
  TF_SetStatus(status, TF_ABORTED, "nothing to do");
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void SE_InitPlugin(
    SE_PlatformRegistrationParams* params, TF_Status* status) {
  const size_t found = params->platform->struct_size, fns_found = params->platform_fns->struct_size;
  GoodInitPlugin(params, status);
  if (Is("platform_size")) params->platform->struct_size = found;
  if (Is("platform_fns_size")) params->platform_fns->struct_size = fns_found;
  // One allocation for each tensor.
  const char* bfc = std::getenv("UNRULY_BFC");
  if (!Is("good") && (bfc == nullptr || *bfc == '0')) params->platform->use_bfc_allocator = 0;
  SP_PlatformFns& fns = *params->platform_fns;
  good_create_device = std::exchange(fns.create_device, CreateDevice);
  good_create_device_fns = std::exchange(fns.create_device_fns, CreateDeviceFns);
  good_create_stream_executor = std::exchange(fns.create_stream_executor, CreateStreamExecutor);
}

extern "C" __attribute__((visibility("default"))) void TF_InitKernel(void) {
  GoodInitKernel();
  TF_Status* status = TF_NewStatus();
  const char* type = std::getenv("UNRULY_DEVICE");
  TF_KernelBuilder* neg =
      TF_NewKernelBuilder("Neg", type == nullptr ? "SAMPLE" : type, Create, Compute, Delete);
  TF_KernelBuilder_TypeConstraint(neg, "T", TF_FLOAT, status);
  TF_KernelBuilder_Priority(neg, 1);  // before the good one
  if (Is("device_output")) TF_KernelBuilder_HostMemory(neg, "y");
  TF_RegisterKernelBuilder("UnrulyNeg", neg, status);
  TF_DeleteStatus(status);
}

extern "C" __attribute__((visibility("default"))) void TF_InitGraph(
    TP_OptimizerRegistrationParams* params, TF_Status*) {
  params->device_type = "SAMPLE";
  params->optimizer->optimize_func = Optimize;
  if (!Is("optimizer_size")) params->optimizer->struct_size = TP_OPTIMIZER_STRUCT_SIZE;
  if (Is("optimizer_none")) params->optimizer->struct_size = 0;
  if (!Is("configs_size"))
    params->optimizer_configs->struct_size = TP_OPTIMIZER_CONFIGS_STRUCT_SIZE;
}
