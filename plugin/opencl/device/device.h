// One OpenCL device: what is made once for it, and who owns it.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "cl.h"
#include "memory.h"
#include "programs.h"

namespace opencl {

class Stream;

// The devices that the process may use, in a fixed order: of every platform, or of those that
// TENON_OPENCL_PLATFORM and TENON_OPENCL_DEVICE name, each by a number from 0 on or by a part of
// its name. Found once. Empty without a driver.
const std::vector<cl_device_id>& UsableDevices();

// What a kernel found wrong while it ran, such as an index out of range. The device keeps the first
// one until somebody waits for the device.
class DeviceErrors {
 public:
  DeviceErrors(cl_context context, cl_command_queue queue);
  DeviceErrors(const DeviceErrors&) = delete;
  DeviceErrors& operator=(const DeviceErrors&) = delete;

  // The number by which a kernel reports this message; "%lld" in it is the value that the kernel
  // found. A message that is there already has one number.
  cl_int NumberOf(const std::string& message);

  // The memory that a kernel which may report gets: common.cl, Report.
  cl_mem words() const { return words_.get(); }
  // A kernel that may report is queued.
  void Expect() { expected_.store(true, std::memory_order_release); }
  // Throws INVALID_ARGUMENT if a kernel reported since the last call. The device is idle.
  void ThrowIfReported();

 private:
  const cl_command_queue queue_;
  Buffer words_;  // number, value (low, high)
  std::atomic<bool> expected_{false};
  std::mutex mutex_;
  std::vector<std::string> messages_;
};

// Thread-safe.
class Device {
 public:
  explicit Device(cl_device_id id);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  cl_device_id id() const { return id_; }
  cl_context context() const { return context_.get(); }
  Memory& memory() { return memory_; }
  Programs& programs() { return programs_; }
  DeviceErrors& errors() { return errors_; }

  const std::string& name() const { return name_; }
  const std::string& vendor() const { return vendor_; }
  bool is_gpu() const { return is_gpu_; }
  int compute_units() const { return compute_units_; }
  size_t most_work_items() const { return most_work_items_; }

  // A queue for copies that are done on return, and for what no stream orders. Use it under
  // `host_mutex`.
  cl_command_queue host_queue() const { return host_queue_.get(); }
  std::mutex& host_mutex() { return host_mutex_; }

  // Waits until all streams are idle. Throws what a stream or a kernel reports.
  void Synchronize();

  // Host memory that copies reach fast. NULL if there is none.
  void* AllocateHost(uint64_t size);
  void FreeHost(void* address);

 private:
  friend class Stream;
  void Add(Stream* stream);
  void Remove(Stream* stream);

  struct Pinned {
    void* address;
    Buffer buffer;
  };

  const cl_device_id id_;
  const std::string name_, vendor_;
  const bool is_gpu_;
  const int compute_units_;
  const size_t most_work_items_;
  Context context_;
  Queue host_queue_;
  std::mutex host_mutex_;
  Memory memory_;
  Programs programs_;
  DeviceErrors errors_;
  std::mutex streams_mutex_;
  std::vector<Stream*> streams_;
  std::mutex pinned_mutex_;
  std::vector<Pinned> pinned_;
};

}  // namespace opencl
