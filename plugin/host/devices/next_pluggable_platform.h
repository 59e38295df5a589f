// TFNPD_InitPlugin from the host's side: what a plug-in's NextPluggableDevice module says of
// itself, its table of functions, and its PJRT interface.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "plugin/pjrt/api.h"
#include "plugin/pjrt/named_client.h"
#include "tensorflow/core/common_runtime/next_pluggable_device/c/plugin_c_api.h"

namespace tenon {

// Constant after Load, but for ServeAs. Devices share the object, and end before it.
class NextPluggablePlatform {
 public:
  // Calls TFNPD_InitPlugin (`init`) and then, unless `get_pjrt` is null or answers NULL, opens and
  // initializes the plug-in's PJRT interface, and registers it for the device type
  // (NamedClient::Find). Makes no client and no device. `options` are those of a client that the
  // host has to make. Errors: the plug-in's own status; FAILED_PRECONDITION for a device type or a
  // table that is missing, for a device type with other characters than capitals, digits and
  // underscores, and for a PJRT table that cannot be used; INTERNAL for an exception.
  static absl::StatusOr<std::shared_ptr<NextPluggablePlatform>> Load(
      const TFNPD_Api* (*init)(TFNPD_PluginParams*, TF_Status*), pjrt::abi::GetApi* get_pjrt,
      std::string plugin, std::vector<pjrt::ClientOption> options);
  NextPluggablePlatform(const NextPluggablePlatform&) = delete;
  NextPluggablePlatform& operator=(const NextPluggablePlatform&) = delete;

  const std::string& plugin() const { return plugin_; }  // path
  const std::string& type() const { return type_; }      // the plug-in's, or the name of ServeAs
  // Gives the devices another type name. Call it before there are devices.
  void ServeAs(std::string type) { type_ = std::move(type); }
  // XLA's name of the compiler device: "XLA_GPU_JIT". A label.
  const std::string& compilation_device() const { return compilation_device_; }
  int priority() const { return priority_; }
  // Whether copies within a device go through CopyBuffer.
  bool is_pluggable() const { return is_pluggable_; }
  // Whether ops without a kernel are to be compiled, each for itself.
  bool compiles_on_demand() const { return compiles_on_demand_; }
  // Null for a plug-in that brings no PJRT interface in this process: it has no devices then.
  pjrt::NamedClient* client() const { return client_.get(); }
  // Why client() is null.
  const std::string& no_client() const { return no_client_; }

  // Calls TFNPD_GetDeviceCount. Returns 0 if there is no client, or if the function is missing,
  // fails, or answers a number that is negative or above 1024; `why`, which must not be null, then
  // gets the reason. Else `why` stays as it is.
  int DeviceCount(std::string* why) const;
  // Calls TFNPD_InitPluginInternalDeviceStates, if the plug-in has it.
  absl::Status InitDeviceStates() const;
  // A new buffer on the same device with the same contents. UNIMPLEMENTED without the function.
  absl::StatusOr<pjrt::Buffer> CopyBuffer(const pjrt::Buffer& from,
                                          std::shared_ptr<pjrt::Client> client) const;

 private:
  NextPluggablePlatform() = default;
  absl::Status Init(const TFNPD_Api* (*init)(TFNPD_PluginParams*, TF_Status*));
  absl::Status OpenPjrt(pjrt::abi::GetApi* get_pjrt, std::vector<pjrt::ClientOption> options);
  template <typename Fn>
  absl::Status Call(const char* callback, Fn&& fn) const;
  // A member of the table; null if the table does not reach it.
  template <typename Fn>
  Fn* Function(Fn* const TFNPD_Api::*member) const;

  std::string plugin_, type_, compilation_device_, no_client_;
  int priority_ = 0;
  bool is_pluggable_ = false, compiles_on_demand_ = false;
  const TFNPD_Api* api_ = nullptr;
  std::shared_ptr<pjrt::NamedClient> client_;
};

}  // namespace tenon
