// Copies are complete when their method returns: PJRT orders work by buffers, so that there are no
// streams, and an event is nothing to wait for.

#include "plugin/host/devices/next_pluggable_device.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "plugin/pjrt/opaque_memory.h"
#include "plugin/pjrt/program_device.h"

namespace tenon {
namespace {

using pjrt::OpaqueMemory;

class NextPluggableDevice : public pjrt::ProgramDevice {
 public:
  NextPluggableDevice(std::shared_ptr<NextPluggablePlatform> platform, int number, int ordinal)
      : platform_(std::move(platform)), number_(number), ordinal_(ordinal) {}

  bool has_programs() const override { return platform_->client()->api().has_programs(); }
  absl::StatusOr<std::shared_ptr<pjrt::Client>> ProgramClient() const override {
    return platform_->client()->GetOrCreate();
  }
  absl::StatusOr<size_t> IndexIn(const pjrt::Client& client) const override;
  bool compiles_ops() const override { return has_programs() && platform_->compiles_on_demand(); }

  std::string_view type() const override { return platform_->type(); }
  int ordinal() const override { return ordinal_; }
  std::string_view plugin() const override { return platform_->plugin(); }
  int priority() const override { return platform_->priority(); }
  int64_t memory_bytes() const override;
  bool is_host() const override { return false; }
  bool has_streams() const override { return false; }
  std::string_view kind() const override { return "next_pluggable"; }

  absl::StatusOr<BufferRef> Allocate(size_t bytes) override {
    return OpaqueMemory::Make(this, bytes);
  }
  StreamHandle compute_stream() override { return nullptr; }
  StreamHandle host_to_device_stream() override { return nullptr; }
  StreamHandle device_to_host_stream() override { return nullptr; }
  StreamHandle device_to_device_stream() override { return nullptr; }
  absl::Status StreamWaitsForStream(StreamHandle, StreamHandle) override {
    return absl::OkStatus();
  }
  bool copies_between() const override;
  absl::Status CopyHostToDevice(StreamHandle stream, const Tensor& host,
                                const Tensor& device) override;
  absl::Status CopyDeviceToHost(StreamHandle stream, const Tensor& device,
                                const Tensor& host) override;
  absl::Status CopyDeviceToDevice(StreamHandle stream, const Tensor& from,
                                  const Tensor& to) override;
  absl::StatusOr<EventHandle> AcquireEvent() override { return static_cast<EventHandle>(this); }
  void ReleaseEvent(EventHandle) override {}
  absl::Status RecordEvent(StreamHandle, EventHandle) override { return absl::OkStatus(); }
  absl::Status BlockUntilComplete(EventHandle, double) override { return absl::OkStatus(); }
  absl::Status SynchronizeAllActivity() override { return absl::OkStatus(); }
  absl::Status HostCallback(StreamHandle, std::function<absl::Status()> callback) override {
    return callback();
  }

 private:
  absl::StatusOr<const pjrt::Buffer*> BufferOf(const Tensor& tensor) const;
  absl::StatusOr<pjrt::Buffer> CopyTo(const NextPluggableDevice& target,
                                      const pjrt::Buffer& from) const;

  const std::shared_ptr<NextPluggablePlatform> platform_;
  const int number_;  // the plug-in's own, from 0
  const int ordinal_;
};

absl::Status NoMemoryOf(std::string_view device) {
  return absl::InternalError(absl::StrCat("a tensor on ", device, " is no memory of that device"));
}

// A device of the client by its hardware's number; where the plug-in does not tell that, by its
// place in the list.
absl::StatusOr<size_t> NextPluggableDevice::IndexIn(const pjrt::Client& client) const {
  const std::vector<pjrt::DeviceInfo>& devices = client.devices();
  for (size_t i = 0; i < devices.size(); ++i) {
    const int id = devices[i].local_hardware_id;
    if ((id < 0 ? static_cast<int>(i) : id) == number_) return i;
  }
  return absl::NotFoundError(absl::StrCat("the PJRT client of device type ", platform_->type(),
                                          " has no device with local hardware id ", number_));
}

int64_t NextPluggableDevice::memory_bytes() const {
  const auto client = platform_->client()->Get();
  if (!client.ok()) return 0;
  const auto index = IndexIn(**client);
  return index.ok() ? (*client)->devices()[*index].bytes_limit.value_or(0) : 0;
}

bool NextPluggableDevice::copies_between() const {
  return platform_->client()->api().Has(pjrt::fn::Buffer_CopyToDevice);
}

absl::StatusOr<const pjrt::Buffer*> NextPluggableDevice::BufferOf(const Tensor& tensor) const {
  const OpaqueMemory* const memory = OpaqueMemory::Of(tensor);
  if (memory == nullptr) return NoMemoryOf(short_name());
  const pjrt::Buffer* const buffer = memory->Get();
  if (*buffer) return buffer;
  return absl::InternalError(
      absl::StrCat("a tensor on ", short_name(), " has no PJRT buffer: its kernel has set none"));
}

absl::Status NextPluggableDevice::CopyHostToDevice(StreamHandle, const Tensor& host,
                                                   const Tensor& device) {
  if (host.bytes() == 0) return absl::OkStatus();
  OpaqueMemory* const memory = OpaqueMemory::Of(device);
  if (memory == nullptr) return NoMemoryOf(short_name());
  TENON_ASSIGN_OR_RETURN(const std::shared_ptr<pjrt::Client> client,
                         platform_->client()->GetOrCreate());
  TENON_ASSIGN_OR_RETURN(const size_t index, IndexIn(*client));
  TENON_ASSIGN_OR_RETURN(pjrt::Buffer buffer,
                         client->Upload(host.data(), {host.dtype(), host.shape()}, index,
                                        pjrt::HostData::kUntilUploaded, nullptr, ""));
  memory->Set(std::move(buffer));
  return absl::OkStatus();
}

absl::Status NextPluggableDevice::CopyDeviceToHost(StreamHandle, const Tensor& device,
                                                   const Tensor& host) {
  if (host.bytes() == 0) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const pjrt::Buffer* buffer, BufferOf(device));
  TENON_ASSIGN_OR_RETURN(pjrt::Event copied,
                         buffer->ToHost(host.data(), host.bytes(), host.shape().rank(), ""));
  return copied.Await(buffer->client()->timeout_s(), "a copy to the host");
}

absl::StatusOr<pjrt::Buffer> NextPluggableDevice::CopyTo(const NextPluggableDevice& target,
                                                         const pjrt::Buffer& from) const {
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<pjrt::Client> client, platform_->client()->Get());
  if (from.client() != client.get())
    return absl::FailedPreconditionError(
        absl::StrCat("a tensor on ", short_name(), " is of a PJRT client that was replaced"));
  if (&target == this && platform_->is_pluggable())
    return platform_->CopyBuffer(from, std::move(client));
  TENON_ASSIGN_OR_RETURN(const size_t index, target.IndexIn(*client));
  return from.CopyToDevice(client->devices()[index].device, "");
}

absl::Status NextPluggableDevice::CopyDeviceToDevice(StreamHandle, const Tensor& from,
                                                     const Tensor& to) {
  if (to.bytes() == 0) return absl::OkStatus();
  OpaqueMemory* const memory = OpaqueMemory::Of(to);
  // Of this plug-in and type, as the caller has made sure.
  auto* const target =
      memory == nullptr ? nullptr : dynamic_cast<NextPluggableDevice*>(memory->device());
  if (target == nullptr) return NoMemoryOf(short_name());
  TENON_ASSIGN_OR_RETURN(const pjrt::Buffer* buffer, BufferOf(from));
  TENON_ASSIGN_OR_RETURN(pjrt::Buffer copy, CopyTo(*target, *buffer));
  memory->Set(std::move(copy));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<std::unique_ptr<Device>>> CreateNextPluggableDevices(
    const std::shared_ptr<NextPluggablePlatform>& platform, int first_ordinal, std::string* why) {
  std::vector<std::unique_ptr<Device>> devices;
  platform->DeviceCount(why);
  if (platform->client() == nullptr) return devices;
  TENON_RETURN_IF_ERROR(platform->InitDeviceStates());
  why->clear();
  const int count = platform->DeviceCount(why);
  for (int i = 0; i < count; ++i)
    devices.push_back(std::make_unique<NextPluggableDevice>(platform, i, first_ordinal + i));
  return devices;
}

}  // namespace tenon
