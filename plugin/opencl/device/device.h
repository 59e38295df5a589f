// One OpenCL device: what is made once for it, and who owns it.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "cl.h"
#include "memory.h"
#include "programs.h"
#include "tensorflow/c/tf_status.h"
#include "tuner.h"

namespace opencl {

class Stream;

// The devices that the process may use, in the order in which the loader lists platforms and
// platforms list devices: those that are available, little-endian, and have a compiler. Variables
// of the environment choose among them: TENON_OPENCL_PLATFORM among platforms, TENON_OPENCL_DEVICE
// among the devices of each platform. Each is a number from 0 on, which counts what the loader or
// the platform lists, or a part of a name, in its capital and small letters; unset or empty it
// leaves all. Found at the first call that does not throw. Empty without a driver, and if the
// variables leave none. Throws what Check throws. Thread-safe.
const std::vector<cl_device_id>& UsableDevices();

// What kernels found wrong while they ran, such as an index out of range. Of all reports since the
// last ThrowIfReported the first one is kept, in device memory. NumberOf, words and Expect are
// thread-safe.
class DeviceErrors {
 public:
  // `queue` reads the report and clears it. Both must outlive the object. Throws what Check throws.
  DeviceErrors(cl_context context, cl_command_queue queue);
  DeviceErrors(const DeviceErrors&) = delete;
  DeviceErrors& operator=(const DeviceErrors&) = delete;

  // The number, from 1 on, that a kernel is given to report this message; the first "%lld" in the
  // message becomes the value that the kernel reports with it. Equal messages of one code have one
  // number, which holds as long as the object.
  cl_int NumberOf(const std::string& message, TF_Code code = TF_INVALID_ARGUMENT);

  // The memory that a kernel which may report gets: common.cl, Report.
  cl_mem words() const { return words_.get(); }
  // To be called once a kernel that may report is queued.
  void Expect() { expected_.fetch_add(1, std::memory_order_release); }
  // The number of calls of Expect.
  uint64_t expected() const { return expected_.load(std::memory_order_acquire); }
  // Throws the message with its code if a kernel reported since the last call, and forgets the
  // report, which may be of a kernel that any thread has queued. The first `expected` kernels
  // must be done: device memory is read only if not all of them were at an earlier call. No other
  // thread may be in this function (host_mutex). Throws what Check throws, too.
  void ThrowIfReported(uint64_t expected);

 private:
  const cl_command_queue queue_;
  Buffer words_;  // number, value (low, high)
  std::atomic<uint64_t> expected_{0};
  uint64_t read_ = 0;  // so many kernels were done when their reports were read
  std::mutex mutex_;
  std::vector<std::pair<std::string, TF_Code>> messages_;
};

// Thread-safe, but for errors(), which say what they need. Must outlive its streams.
class Device {
 public:
  // `id`: one of UsableDevices. Throws what Check throws if the driver refuses a context, a queue
  // or a buffer, or does not tell a fact.
  explicit Device(cl_device_id id);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  cl_device_id id() const { return id_; }
  cl_context context() const { return context_.get(); }
  Memory& memory() { return memory_; }
  Programs& programs() { return programs_; }
  Tuner& tuner() { return tuner_; }
  DeviceErrors& errors() { return errors_; }

  const std::string& name() const { return name_; }
  // A line for people, which the host prints as the device's vendor: the vendor, the version of
  // OpenCL, that of the driver, the number of compute units.
  const std::string& vendor() const { return vendor_; }
  // Whether ops use kernels for GPUs: whether TENON_OPENCL_KERNELS is "gpu" or, if that is unset or
  // empty, whether the device is a GPU.
  bool is_gpu() const { return is_gpu_; }
  int compute_units() const { return compute_units_; }
  // The most work-items that a work-group of any kernel may have here. A kernel may take fewer
  // (Kernel::most_work_items).
  size_t most_work_items() const { return most_work_items_; }

  // A queue for copies that are done on return, and for what no stream orders. Threads may use it
  // at the same time, as OpenCL allows for each command by itself. `host_mutex` keeps together the
  // commands of ThrowIfReported, and those of AllocateHost and FreeHost.
  cl_command_queue host_queue() const { return host_queue_.get(); }
  std::mutex& host_mutex() { return host_mutex_; }

  // Waits for what the streams have queued; other threads may queue more meanwhile. Throws what a
  // stream or a kernel reports, also of work that another thread has queued. After the error of a
  // stream the streams made after that one may still work. Not under `host_mutex`.
  void Synchronize();

  // `size` bytes of host memory that copies reach fast. NULL if there is none, and for no bytes. To
  // be freed with FreeHost, which does nothing for any other address, or else with the device. Both
  // not under `host_mutex`.
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
  Tuner tuner_;
  DeviceErrors errors_;
  std::mutex streams_mutex_;
  std::vector<Stream*> streams_;
  std::mutex pinned_mutex_;
  std::vector<Pinned> pinned_;
};

}  // namespace opencl
