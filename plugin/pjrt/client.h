// A client of a plug-in: its devices, and everything that is made from them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "graph/tensor/dtype.h"
#include "graph/tensor/shape.h"
#include "plugin/pjrt/api.h"
#include "plugin/pjrt/buffer.h"
#include "plugin/pjrt/disk_cache.h"
#include "plugin/pjrt/executable.h"
#include "plugin/pjrt/mapped_memory.h"
#include "plugin/pjrt/options.h"
#include "plugin/pjrt/program_cache.h"

namespace tenon::pjrt {

// A device of a client, as the plug-in describes it.
struct DeviceInfo {
  abi::Device* device = nullptr;      // the client's
  int id = 0;                         // in the plug-in's numbers
  int local_hardware_id = -1;         // -1: the plug-in does not tell
  std::string kind;                   // "cpu", "NVIDIA H200"
  std::string text;                   // the device in the plug-in's words
  std::vector<std::string> memories;  // kinds: "device", "pinned_host"
  std::string default_memory;
  std::optional<int64_t> bytes_limit;  // of its memory
  std::vector<NameAndText> attributes;
};

// How long the host's data must stay.
enum class HostData : uint8_t {
  kUntilUploaded,    // Upload waits for the transfer
  kUntilBufferGone,  // the buffer may lie in the host's memory (aligned to 64 bytes), read-only
};

// Everything made from a client shares it, so that it is destroyed last. Thread-safe.
class Client : public std::enable_shared_from_this<Client> {
 public:
  // Where the options that are not given come from.
  enum class Defaults : uint8_t {
    kHarmless,  // DefaultsFor; none of them if the plug-in answers INVALID_ARGUMENT to them
    kPlugin,    // the plug-in's own
  };
  // Creates a client with the options and the defaults, and asks for its devices. The first call
  // that wants hardware: the error is the plug-in's.
  static absl::StatusOr<std::shared_ptr<Client>> Create(std::shared_ptr<const Api> api,
                                                        const std::vector<ClientOption>& options,
                                                        Defaults defaults = Defaults::kHarmless);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  abi::Client* get() const { return client_; }
  const Api& api() const { return *api_; }
  const std::shared_ptr<const Api>& shared_api() const { return api_; }
  const std::string& platform_name() const { return platform_name_; }        // "cpu", "cuda"
  const std::string& platform_version() const { return platform_version_; }  // one line
  // Those that this process can use, in the plug-in's order.
  const std::vector<DeviceInfo>& devices() const { return devices_; }
  // The longest wait for one event.
  double timeout_s() const { return timeout_s_; }
  void set_timeout_s(double seconds) { timeout_s_ = seconds; }
  // Host memory for copies to and from the devices.
  MappedMemory& mapped_memory() { return *mapped_; }

  // Keeps the programs that are compiled from now on in this folder, too, and looks there for
  // others; empty: no folder. Programs of earlier calls of Compile are not written.
  void set_program_folder(const std::string& folder);

  // Compiles StableHLO text for a device, or finds the program of an earlier call. A result whose
  // number, types or shapes are not those of `results` is INTERNAL. `node` is for whom the program
  // is compiled. The error of a text that the plug-in does not read has "-:LINE:COLUMN: error: …"
  // in its message.
  absl::StatusOr<std::shared_ptr<Executable>> Compile(std::string_view text, size_t device,
                                                      absl::Span<const BufferSpec> results,
                                                      std::string_view node);
  // Copies host data, dense and in C order, into a new buffer on a device. `device` is an index of
  // devices(). With kUntilBufferGone `transferred` must not be null, and becomes the end of the
  // transfer: on a device whose buffers are host memory it comes only when the buffer is gone, and
  // must not be awaited; on any other device it must be awaited before the data goes. With
  // kUntilUploaded `transferred` is not used; if the transfer fails or does not end within
  // timeout_s, the plug-in may still read `data` after the error.
  absl::StatusOr<Buffer> Upload(const void* data, const BufferSpec& spec, size_t device,
                                HostData stays, Event* transferred, std::string_view node);

 private:
  explicit Client(std::shared_ptr<const Api> api) : api_(std::move(api)) {}
  absl::Status Make(const std::vector<ClientOption>& options);
  absl::Status Describe();
  absl::StatusOr<std::shared_ptr<const LoadedProgram>> CompileAnew(std::string_view text,
                                                                   size_t device,
                                                                   std::string_view node);
  std::string DiskKey(std::string_view text, size_t device, std::string_view options) const;
  std::shared_ptr<const LoadedProgram> LoadFromDisk(const DiskCache& disk, std::string_view key,
                                                    std::string_view node);
  void SaveToDisk(const DiskCache& disk, std::string_view key, const LoadedProgram& program,
                  std::string_view node);
  absl::StatusOr<std::string> Text(const Function<abi::ClientTextArgs>& function);
  absl::StatusOr<DeviceInfo> DescribeDevice(abi::Device* device);
  absl::Status DescribeDetails(DeviceInfo& info, abi::DeviceDescription* description);
  void DescribeMemories(DeviceInfo& info);
  void DescribeLimits(DeviceInfo& info);

  const std::shared_ptr<const Api> api_;
  abi::Client* client_ = nullptr;
  std::optional<MappedMemory> mapped_;  // once there is a client
  std::string platform_name_, platform_version_;
  std::vector<DeviceInfo> devices_;
  ProgramCache programs_;
  absl::Mutex disk_mutex_;
  std::string program_folder_ ABSL_GUARDED_BY(disk_mutex_);
  std::shared_ptr<const DiskCache> disk_ ABSL_GUARDED_BY(disk_mutex_);
  bool is_xla_ = false;
  std::atomic<double> timeout_s_ = 60;
};

}  // namespace tenon::pjrt
