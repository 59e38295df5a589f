#include "device.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "status.h"
#include "stream.h"

namespace opencl {
namespace {

// Whether the variable of the environment admits what has this number and name.
bool Admits(const char* variable, size_t number, const std::string& name) {
  const char* wanted = std::getenv(variable);
  if (wanted == nullptr || *wanted == '\0') return true;
  const std::string text = wanted;
  if (text.find_first_not_of("0123456789") == text.npos) return text == std::to_string(number);
  return name.find(text) != name.npos;
}

// Programs are compiled at run time, and little-endian memory is copied as it is.
bool IsUsable(cl_device_id device) {
  return FactOf<cl_bool>(device, CL_DEVICE_AVAILABLE) &&
         FactOf<cl_bool>(device, CL_DEVICE_COMPILER_AVAILABLE) &&
         FactOf<cl_bool>(device, CL_DEVICE_ENDIAN_LITTLE);
}

std::vector<cl_device_id> FindDevices() {
  std::vector<cl_device_id> found;
  cl_uint count = 0;
  // Without a driver the loader answers an error: there is no device then.
  if (clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS) return found;
  std::vector<cl_platform_id> platforms(count);
  if (clGetPlatformIDs(count, platforms.data(), nullptr) != CL_SUCCESS) return found;
  for (size_t p = 0; p < platforms.size(); ++p) {
    if (!Admits("TENON_OPENCL_PLATFORM", p, TextOf(platforms[p], CL_PLATFORM_NAME))) continue;
    if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS)
      continue;
    std::vector<cl_device_id> devices(count);
    Check(clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr),
          "clGetDeviceIDs");
    for (size_t d = 0; d < devices.size(); ++d) {
      if (Admits("TENON_OPENCL_DEVICE", d, TextOf(devices[d], CL_DEVICE_NAME)) &&
          IsUsable(devices[d]))
        found.push_back(devices[d]);
    }
  }
  return found;
}

Context NewContext(cl_device_id device) {
  cl_int code = CL_SUCCESS;
  Context context(clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code));
  Check(code, "clCreateContext");
  return context;
}

// As the variable says, else by the device's type.
bool HasKernelsOfGpu(cl_device_id id) {
  const char* const kernels = std::getenv("TENON_OPENCL_KERNELS");
  if (kernels != nullptr && *kernels != 0) return std::string_view(kernels) == "gpu";
  return (FactOf<cl_device_type>(id, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_GPU) != 0;
}

}  // namespace

const std::vector<cl_device_id>& UsableDevices() {
  static const std::vector<cl_device_id> devices = FindDevices();
  return devices;
}

DeviceErrors::DeviceErrors(cl_context context, cl_command_queue queue) : queue_(queue) {
  cl_int code = CL_SUCCESS;
  cl_int none[4] = {};
  words_ = Buffer(
      clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof(none), none, &code));
  Check(code, "clCreateBuffer");
}

cl_int DeviceErrors::NumberOf(const std::string& message, TF_Code code) {
  std::lock_guard lock(mutex_);
  const std::pair wanted(message, code);
  const auto found = std::find(messages_.begin(), messages_.end(), wanted);
  if (found != messages_.end()) return static_cast<cl_int>(found - messages_.begin()) + 1;
  messages_.push_back(wanted);
  return static_cast<cl_int>(messages_.size());
}

void DeviceErrors::ThrowIfReported(uint64_t expected) {
  if (read_ >= expected) return;
  cl_int words[4] = {};
  Check(clEnqueueReadBuffer(queue_, words_.get(), CL_TRUE, 0, sizeof(words), words, 0, nullptr,
                            nullptr),
        "clEnqueueReadBuffer");
  read_ = expected;
  if (words[0] == 0) return;
  const cl_int none[4] = {};
  Check(clEnqueueWriteBuffer(queue_, words_.get(), CL_TRUE, 0, sizeof(none), none, 0, nullptr,
                             nullptr),
        "clEnqueueWriteBuffer");
  int64_t value = 0;
  std::memcpy(&value, &words[2], sizeof(value));
  std::lock_guard lock(mutex_);
  auto [message, code] = messages_.at(static_cast<size_t>(words[0]) - 1);
  const size_t at = message.find("%lld");
  if (at != message.npos) message.replace(at, 4, std::to_string(value));
  throw Error(code, message);
}

Device::Device(cl_device_id id)
    : id_(id),
      name_(TextOf(id, CL_DEVICE_NAME)),
      vendor_(TextOf(id, CL_DEVICE_VENDOR) + ", " + TextOf(id, CL_DEVICE_VERSION) + ", driver " +
              TextOf(id, CL_DRIVER_VERSION) + ", " +
              std::to_string(FactOf<cl_uint>(id, CL_DEVICE_MAX_COMPUTE_UNITS)) + " compute units"),
      is_gpu_(HasKernelsOfGpu(id)),
      compute_units_(static_cast<int>(FactOf<cl_uint>(id, CL_DEVICE_MAX_COMPUTE_UNITS))),
      most_work_items_(FactOf<size_t>(id, CL_DEVICE_MAX_WORK_GROUP_SIZE)),
      context_(NewContext(id)),
      host_queue_(NewQueue(context_.get(), id)),
      memory_(context_.get(), host_queue_.get(),
              static_cast<int64_t>(FactOf<cl_ulong>(id, CL_DEVICE_GLOBAL_MEM_SIZE))),
      programs_(context_.get(), id, is_gpu_),
      tuner_(id),
      errors_(context_.get(), host_queue_.get()) {}

Device::~Device() {
  for (Pinned& pinned : pinned_)
    clEnqueueUnmapMemObject(host_queue(), pinned.buffer.get(), pinned.address, 0, nullptr, nullptr);
  clFinish(host_queue());
}

void Device::Add(Stream* stream) {
  std::lock_guard lock(streams_mutex_);
  streams_.push_back(stream);
}

void Device::Remove(Stream* stream) {
  std::lock_guard lock(streams_mutex_);
  streams_.erase(std::find(streams_.begin(), streams_.end(), stream));
}

void Device::Synchronize() {
  // Before the streams: what other threads queue from here on may run after the report is read.
  const uint64_t expected = errors_.expected();
  {
    std::lock_guard lock(streams_mutex_);
    for (Stream* stream : streams_) stream->Finish();
  }
  std::lock_guard lock(host_mutex_);
  errors_.ThrowIfReported(expected);
}

// CL_MEM_ALLOC_HOST_PTR alone says that host and device both reach the memory. NVIDIA's driver
// makes it page-locked, and while it is mapped, clEnqueueReadBuffer and clEnqueueWriteBuffer know
// an address in it as such: on an H200 (driver 580) a copy of 256 MB to it runs at 52 GB/s, to
// memory of malloc at 3. So each block is mapped for its life. No kernel uses the buffer.
void* Device::AllocateHost(uint64_t size) {
  cl_int code = CL_SUCCESS;
  Buffer buffer(
      clCreateBuffer(context(), CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, size, nullptr, &code));
  if (code != CL_SUCCESS) return nullptr;
  std::lock_guard host(host_mutex_);
  void* address =
      clEnqueueMapBuffer(host_queue(), buffer.get(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, size,
                         0, nullptr, nullptr, &code);
  if (code != CL_SUCCESS) return nullptr;
  std::lock_guard lock(pinned_mutex_);
  pinned_.push_back({address, std::move(buffer)});
  return address;
}

void Device::FreeHost(void* address) {
  std::lock_guard host(host_mutex_);
  std::lock_guard lock(pinned_mutex_);
  const auto found = std::find_if(pinned_.begin(), pinned_.end(),
                                  [address](const Pinned& p) { return p.address == address; });
  if (found == pinned_.end()) return;
  clEnqueueUnmapMemObject(host_queue(), found->buffer.get(), address, 0, nullptr, nullptr);
  clFinish(host_queue());
  pinned_.erase(found);
}

}  // namespace opencl
