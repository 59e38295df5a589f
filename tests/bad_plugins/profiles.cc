// A CPU kernel for Relu and a profiler that says when it ran; PROFILE names what else it does.
// Built like anyone's: from the public headers alone.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/c/experimental/pluggable_profiler/pluggable_profiler.h"
#include "tensorflow/c/kernels.h"
#include "tensorflow/c/tf_status.h"

namespace {

bool Is(const char* kind) {
  const char* profile = std::getenv("PROFILE");
  return profile != nullptr && std::strcmp(profile, kind) == 0;
}

// --- An XSpace in the wire format.

void Varint(uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>(value | 0x80));
  out->push_back(static_cast<char>(value));
}
void Number(uint64_t field, uint64_t value, std::string* out) {
  Varint(field << 3, out);
  Varint(value, out);
}
void Bytes(uint64_t field, const std::string& value, std::string* out) {
  Varint(field << 3 | 2, out);
  Varint(value.size(), out);
  out->append(value);
}

template <typename Clock>
uint64_t Nanos() {
  return static_cast<uint64_t>(std::chrono::nanoseconds(Clock::now().time_since_epoch()).count());
}

uint64_t started_ns = 0;

uint64_t Now() {
  if (Is("monotonic")) return Nanos<std::chrono::steady_clock>();
  if (Is("relative")) return Nanos<std::chrono::steady_clock>() - started_ns;
  if (Is("odd_clock")) return Nanos<std::chrono::steady_clock>() + (uint64_t{77} << 50);
  if (Is("extreme")) return uint64_t{1} << 63;
  return Nanos<std::chrono::system_clock>();
}

std::vector<std::pair<uint64_t, uint64_t>> runs;  // of the kernel: from, to

std::string PlaneName() {
  if (Is("no_name")) return "";
  if (Is("control_name")) return "\x01\n\"quoted\" \\ \xe2\x82\xac";
  if (Is("bad_name")) return "\xff\xfe";
  return "a plane with: any name / at all";
}

// The line begins a microsecond before the first event.
std::string Space() {
  std::string line, meta, entry, plane, space;
  const uint64_t begin = runs.empty() ? Now() : runs[0].first - 1000;
  Number(1, 3, &line);
  Bytes(2, "stream 3", &line);
  Number(3, begin, &line);
  for (const auto& [from, to] : runs) {
    std::string event;
    Number(1, 7, &event);
    Number(2, (from - begin) * 1000, &event);
    Number(3, Is("extreme") ? INT64_MAX : (to - from) * 1000, &event);
    Bytes(4, event, &line);
  }
  std::string other;  // of an unknown kind, at the far end
  Number(1, 99, &other);
  Number(2, INT64_MAX, &other);
  if (Is("extreme")) Bytes(4, other, &line);
  Number(1, 7, &meta);
  Bytes(2, "board_kernel", &meta);
  Number(1, 7, &entry);
  Bytes(2, meta, &entry);
  Bytes(2, PlaneName(), &plane);
  Bytes(3, line, &plane);
  Bytes(4, entry, &plane);
  Bytes(1, plane, &space);
  return space;
}

std::string Data() {
  if (Is("garbage")) return std::string(100, '\xff');
  if (Is("many")) {  // empty planes
    std::string planes;
    for (int i = 0; i < 5'000'000; ++i) planes.append("\x0a\0", 2);
    return planes;
  }
  std::string data = Space();
  if (Is("truncated")) data.resize(data.size() - 3);
  return data;
}

// --- The kernel.

void Relu(void*, TF_OpKernelContext* context) {
  const uint64_t from = Now();
  TF_Status* status = TF_NewStatus();
  TF_Tensor* x = nullptr;
  TF_GetInput(context, 0, &x, status);
  const int64_t dims[] = {TF_Dim(x, 0), TF_Dim(x, 1)};
  TF_Tensor* y = TF_AllocateOutput(context, 0, TF_FLOAT, dims, 2, TF_TensorByteSize(x), status);
  const float* in = static_cast<const float*>(TF_TensorData(x));
  std::transform(in, in + TF_TensorElementCount(x), static_cast<float*>(TF_TensorData(y)),
                 [](float value) { return std::max(value, 0.0f); });
  TF_DeleteTensor(x);
  TF_DeleteTensor(y);
  TF_DeleteStatus(status);
  runs.emplace_back(from, Now());
}

// --- The profiler.

void Start(const TP_Profiler*, TF_Status* status) {
  started_ns = Nanos<std::chrono::steady_clock>();
  runs.clear();
  if (Is("start_fails")) TF_SetStatus(status, TF_UNAVAILABLE, "no counters");
  if (Is("start_throws")) throw std::runtime_error("from start");
}

void Stop(const TP_Profiler*, TF_Status* status) {
  if (Is("start_fails")) std::abort();  // nobody stops what did not start
  if (Is("stop_fails")) TF_SetStatus(status, TF_INTERNAL, "the counters do not stop");
}

void Collect(const TP_Profiler*, uint8_t* buffer, size_t* size, TF_Status* status) {
  static std::string data;
  if (Is("collect_fails")) return TF_SetStatus(status, TF_INTERNAL, "the counters are wet");
  if (Is("collect_throws")) throw std::runtime_error("from collect");
  if (Is("no_data")) return;  // does not even touch the size
  if (buffer == nullptr) {
    data = Data();
    *size = Is("too_much")    ? SIZE_MAX
            : Is("too_small") ? data.size() - 1
            : Is("shrinks")   ? data.size() + 1000
                              : data.size();
    return;
  }
  if (*size < data.size())
    return TF_SetStatus(status, TF_OUT_OF_RANGE, "the buffer is too small for the counters");
  if (Is("shrinks")) *size = data.size();
  std::memcpy(buffer, data.data(), data.size());
  if (Is("grows")) *size = data.size() + 1;
  if (Is("overruns_far")) std::memset(buffer + data.size(), 0, 8192);
  if (Is("overruns")) std::memset(buffer + data.size(), 0, 8);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void TF_InitProfiler(
    TF_ProfilerRegistrationParams* params, TF_Status* status) {
  if (Is("init_throws")) throw std::runtime_error("from init");
  if (Is("init_fails")) return TF_SetStatus(status, TF_UNAVAILABLE, "no counters on this board");
  params->struct_size = TF_PROFILER_REGISTRATION_PARAMS_STRUCT_SIZE;
  params->profiler->struct_size = TP_PROFILER_STRUCT_SIZE;
  params->profiler->device_type = Is("no_type") ? nullptr : "CPU";
  params->profiler_fns->struct_size = TP_PROFILER_FNS_STRUCT_SIZE;
  params->profiler_fns->start = Start;
  params->profiler_fns->stop = Stop;
  params->profiler_fns->collect_data_xspace = Is("no_collect") ? nullptr : Collect;
  params->destroy_profiler = [](TP_Profiler*) {};
  params->destroy_profiler_fns = [](TP_ProfilerFns*) {};
}

extern "C" __attribute__((visibility("default"))) void TF_InitKernel(void) {
  TF_Status* status = TF_NewStatus();
  TF_KernelBuilder* relu = TF_NewKernelBuilder("Relu", "CPU", nullptr, Relu, nullptr);
  TF_KernelBuilder_TypeConstraint(relu, "T", TF_FLOAT, status);
  TF_KernelBuilder_Priority(relu, 1);
  TF_RegisterKernelBuilder("ProfiledRelu", relu, status);
  TF_DeleteStatus(status);
}
