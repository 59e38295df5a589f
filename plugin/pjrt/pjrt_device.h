// A device behind PJRT as the executor sees it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "plugin/pjrt/client.h"
#include "plugin/pjrt/program_device.h"

namespace tenon::pjrt {

// Compiles and runs whole programs (Device::compiles): it has no kernels, no streams of ours and no
// memory that a plan could lay out. Methods for those are FAILED_PRECONDITION, but
// SynchronizeAllActivity is OK. Thread-safe.
class PjrtDevice : public ProgramDevice {
 public:
  PjrtDevice(std::shared_ptr<Client> client, size_t index, std::string type, int ordinal);

  Client& client() const { return *client_; }
  size_t index() const { return index_; }  // among the client's devices
  const DeviceInfo& info() const { return client_->devices()[index_]; }

  bool has_programs() const override { return true; }
  absl::StatusOr<std::shared_ptr<Client>> ProgramClient() const override { return client_; }
  absl::StatusOr<size_t> IndexIn(const Client& /*client*/) const override { return index_; }

  std::string_view type() const override { return type_; }
  int ordinal() const override { return ordinal_; }
  std::string_view plugin() const override { return client_->api().plugin(); }
  int priority() const override { return 220; }  // as devices of other plug-ins
  int64_t memory_bytes() const override { return info().bytes_limit.value_or(0); }
  bool is_host() const override { return false; }
  bool compiles() const override { return true; }
  std::string_view kind() const override { return "pjrt"; }
  bool has_streams() const override { return false; }

  absl::StatusOr<BufferRef> Allocate(size_t bytes) override;
  StreamHandle compute_stream() override { return nullptr; }
  StreamHandle host_to_device_stream() override { return nullptr; }
  StreamHandle device_to_host_stream() override { return nullptr; }
  StreamHandle device_to_device_stream() override { return nullptr; }
  absl::Status StreamWaitsForStream(StreamHandle stream, StreamHandle other) override;
  bool copies_between() const override { return false; }
  absl::Status CopyHostToDevice(StreamHandle stream, const Tensor& host,
                                const Tensor& device) override;
  absl::Status CopyDeviceToHost(StreamHandle stream, const Tensor& device,
                                const Tensor& host) override;
  absl::Status CopyDeviceToDevice(StreamHandle stream, const Tensor& from,
                                  const Tensor& to) override;
  absl::StatusOr<EventHandle> AcquireEvent() override;
  void ReleaseEvent(EventHandle /*event*/) override {}
  absl::Status RecordEvent(StreamHandle stream, EventHandle event) override;
  absl::Status BlockUntilComplete(EventHandle event, double timeout_s) override;
  absl::Status SynchronizeAllActivity() override { return absl::OkStatus(); }
  absl::Status HostCallback(StreamHandle stream, std::function<absl::Status()> callback) override;

 private:
  absl::Status NotHere(std::string_view what) const;

  const std::shared_ptr<Client> client_;
  const size_t index_;
  const std::string type_;
  const int ordinal_;
};

// The device if it is one behind PJRT; else null.
PjrtDevice* AsPjrt(Device* device);
const PjrtDevice* AsPjrt(const Device* device);

}  // namespace tenon::pjrt
