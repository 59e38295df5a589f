// TF_InitProfiler: a row for each queue, with when its kernels and copies ran by OpenCL's event
// profiling.

#include "trace.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "status.h"
#include "stream.h"
#include "tensorflow/c/experimental/pluggable_profiler/pluggable_profiler.h"
#include "wire.h"

namespace opencl {
namespace {

struct Record {
  std::string name;
  int stream;
  cl_device_id device;
  EventHandle event;
};

struct Span {
  std::string name;
  int stream;
  uint64_t begin_ns, end_ns;  // Unix time
};

std::atomic<bool> recording{false};
std::mutex mutex;  // guards what follows
std::vector<Record>* records = nullptr;
std::string* collected = nullptr;

uint64_t UnixNow() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::system_clock::now().time_since_epoch())
                                   .count());
}

uint64_t TimeOf(cl_event event, cl_profiling_info what) {
  cl_ulong time = 0;
  Check(clGetEventProfilingInfo(event, what, sizeof(time), &time, nullptr),
        "clGetEventProfilingInfo");
  return time;
}

// What to add to a device's times to get Unix time: a command is queued, and both clocks are read
// when it is seen to be complete.
int64_t ClockOffset(cl_device_id device) {
  cl_int code = CL_SUCCESS;
  const Context context(clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code));
  Check(code, "clCreateContext");
  const Queue queue = NewQueue(context.get(), device);
  const Buffer buffer(clCreateBuffer(context.get(), CL_MEM_READ_WRITE, 4, nullptr, &code));
  Check(code, "clCreateBuffer");
  int64_t offset = 0;
  for (int i = 0; i < 3; ++i) {  // the first one may wait for the driver to wake up
    const cl_int word = 0;
    cl_event event = nullptr;
    Check(clEnqueueWriteBuffer(queue.get(), buffer.get(), CL_TRUE, 0, sizeof(word), &word, 0,
                               nullptr, &event),
          "clEnqueueWriteBuffer");
    const EventHandle owned(event);
    offset = static_cast<int64_t>(UnixNow() - TimeOf(event, CL_PROFILING_COMMAND_END));
  }
  return offset;
}

// The spans of the records. Work that failed has none.
std::vector<Span> SpansOf(const std::vector<Record>& done) {
  std::map<cl_device_id, int64_t> offsets;
  std::vector<Span> spans;
  for (const Record& record : done) {
    cl_event event = record.event.get();
    if (clWaitForEvents(1, &event) != CL_SUCCESS) continue;
    if (offsets.count(record.device) == 0) offsets[record.device] = ClockOffset(record.device);
    const auto offset = static_cast<uint64_t>(offsets[record.device]);
    spans.push_back({record.name, record.stream, TimeOf(event, CL_PROFILING_COMMAND_START) + offset,
                     TimeOf(event, CL_PROFILING_COMMAND_END) + offset});
  }
  return spans;
}

enum XSpaceField { kPlanes = 1 };
enum XPlaneField { kPlaneId = 1, kPlaneName = 2, kPlaneLines = 3, kPlaneNames = 4 };
enum XLineField { kLineId = 1, kLineName = 2, kLineTimestamp = 3, kLineEvents = 4 };
enum XEventField { kEventName = 1, kEventOffset = 2, kEventDuration = 3 };
enum MapField { kMapKey = 1, kMapValue = 2 };
enum XEventMetadataField { kMetadataId = 1, kMetadataName = 2 };
constexpr uint64_t kPsPerNs = 1000;

// A serialized XSpace with one plane.
std::string Serialize(const std::vector<Span>& spans) {
  std::map<std::string, uint64_t> names;
  std::map<int, std::string> lines;
  uint64_t first = ~uint64_t{0};
  for (const Span& span : spans) {
    names.emplace(span.name, names.size() + 1);
    first = std::min(first, span.begin_ns);
  }
  for (const Span& span : spans) {
    std::string event;
    AppendVarintField(&event, kEventName, names[span.name]);
    AppendVarintField(&event, kEventOffset, (span.begin_ns - first) * kPsPerNs);
    AppendVarintField(&event, kEventDuration, (span.end_ns - span.begin_ns) * kPsPerNs);
    AppendBytesField(&lines[span.stream], kLineEvents, event);
  }
  std::string plane;
  AppendVarintField(&plane, kPlaneId, 1);
  AppendBytesField(&plane, kPlaneName, "/device:OPENCL");
  for (const auto& [stream, events] : lines) {
    std::string line;
    AppendVarintField(&line, kLineId, static_cast<uint64_t>(stream) + 1);
    AppendBytesField(&line, kLineName, "queue " + std::to_string(stream));
    AppendVarintField(&line, kLineTimestamp, first);
    AppendBytesField(&plane, kPlaneLines, line + events);
  }
  for (const auto& [name, number] : names) {
    std::string metadata, entry;
    AppendVarintField(&metadata, kMetadataId, number);
    AppendBytesField(&metadata, kMetadataName, name);
    AppendVarintField(&entry, kMapKey, number);
    AppendBytesField(&entry, kMapValue, metadata);
    AppendBytesField(&plane, kPlaneNames, entry);
  }
  std::string space;
  AppendBytesField(&space, kPlanes, plane);
  return space;
}

void Start(const TP_Profiler*, TF_Status* status) {
  Guard(status, [] {
    std::lock_guard lock(mutex);
    if (records == nullptr) records = new std::vector<Record>;
    records->clear();
    recording = true;
  });
}

void Stop(const TP_Profiler*, TF_Status* status) {
  Guard(status, [] {
    recording = false;
    std::vector<Record> done;
    {
      std::lock_guard lock(mutex);
      if (records != nullptr) done.swap(*records);
    }
    std::string bytes = done.empty() ? std::string() : Serialize(SpansOf(done));
    std::lock_guard lock(mutex);
    if (collected == nullptr) collected = new std::string;
    *collected = std::move(bytes);
  });
}

void Collect(const TP_Profiler*, uint8_t* buffer, size_t* size, TF_Status* status) {
  Guard(status, [&] {
    std::lock_guard lock(mutex);
    const size_t have = collected == nullptr ? 0 : collected->size();
    if (buffer != nullptr && have != 0) {
      std::memcpy(buffer, collected->data(), have);
      collected->clear();
    }
    *size = have;
  });
}

// Hosts may call this more than once.
void DestroyProfiler(TP_Profiler*) {
  std::lock_guard lock(mutex);
  delete std::exchange(records, nullptr);
  delete std::exchange(collected, nullptr);
}
void DestroyProfilerFns(TP_ProfilerFns*) {}

}  // namespace

Traced::Traced(Stream& stream, const char* name)
    : stream_(stream), name_(name), active_(recording.load(std::memory_order_relaxed)) {}

Traced::~Traced() {
  if (event_ == nullptr) return;
  EventHandle event(event_);
  std::lock_guard lock(mutex);
  if (records == nullptr) return;
  try {
    records->push_back({name_, stream_.number(), stream_.device().id(), std::move(event)});
  } catch (const std::bad_alloc&) {  // the profile lacks one command
  }
}

}  // namespace opencl

OPENCL_ENTRY_POINT void TF_InitProfiler(TF_ProfilerRegistrationParams* params, TF_Status*) {
  params->struct_size = TF_PROFILER_REGISTRATION_PARAMS_STRUCT_SIZE;
  params->profiler->struct_size = TP_PROFILER_STRUCT_SIZE;
  params->profiler->device_type = "OPENCL";
  params->profiler_fns->struct_size = TP_PROFILER_FNS_STRUCT_SIZE;
  params->profiler_fns->start = opencl::Start;
  params->profiler_fns->stop = opencl::Stop;
  params->profiler_fns->collect_data_xspace = opencl::Collect;
  params->destroy_profiler = opencl::DestroyProfiler;
  params->destroy_profiler_fns = opencl::DestroyProfilerFns;
}
