#include "plugin/host/devices/next_pluggable_platform.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/callback_scope.h"
#include "graph/c_api/struct_size.h"

namespace tenon {
namespace {

constexpr int kMostNextDevices = 1024;
constexpr const char* kGetDeviceCount = "TFNPD_GetDeviceCount";

}  // namespace

template <typename Fn>
absl::Status NextPluggablePlatform::Call(const char* callback, Fn&& fn) const {
  CStatus status;
  TENON_RETURN_IF_ERROR(CallPlugin(plugin_.c_str(), callback, "", [&] { fn(status.get()); }));
  return Attribute(status.ToStatus(), callback, plugin_);
}

// A struct_size of 0 says nothing: the plug-in that answers it has the whole table.
template <typename Fn>
Fn* NextPluggablePlatform::Function(Fn* const TFNPD_Api::*member) const {
  const auto* const at = reinterpret_cast<const char*>(&(api_->*member));
  const auto end =
      static_cast<size_t>(at - reinterpret_cast<const char*>(api_)) + sizeof(api_->*member);
  return api_->struct_size == 0 || end <= api_->struct_size ? api_->*member : nullptr;
}

absl::StatusOr<std::shared_ptr<NextPluggablePlatform>> NextPluggablePlatform::Load(
    const TFNPD_Api* (*init)(TFNPD_PluginParams*, TF_Status*), pjrt::abi::GetApi* get_pjrt,
    std::string plugin, std::vector<pjrt::ClientOption> options) {
  std::shared_ptr<NextPluggablePlatform> platform(new NextPluggablePlatform);
  platform->plugin_ = std::move(plugin);
  TENON_RETURN_IF_ERROR(platform->Init(init));
  TENON_RETURN_IF_ERROR(platform->OpenPjrt(get_pjrt, std::move(options)));
  return platform;
}

// struct_size is TensorFlow's, which leaves out the last member; plug-ins set that all the same.
absl::Status NextPluggablePlatform::Init(const TFNPD_Api* (*init)(TFNPD_PluginParams*,
                                                                  TF_Status*)) {
  Padded<TFNPD_PluginParams> padded;
  TFNPD_PluginParams& params = padded.value;
  params.struct_size = TFNPD_PLUGIN_PARAMS_STRUCT_SIZE;
  TENON_RETURN_IF_ERROR(
      Call("TFNPD_InitPlugin", [&](TF_Status* status) { api_ = init(&params, status); }));
  if (api_ == nullptr)
    return absl::FailedPreconditionError("it returns neither a table of functions nor an error");
  type_ = absl::NullSafeStringView(params.device_type);
  if (type_.empty())
    return absl::FailedPreconditionError("'device_type' field in TFNPD_PluginParams must be set.");
  for (const char c : type_) {
    if (absl::ascii_isupper(c) || absl::ascii_isdigit(c) || c == '_') continue;
    return absl::FailedPreconditionError(absl::StrCat(
        "device type '", type_, "' has other characters than capitals, digits and underscores"));
  }
  compilation_device_ = absl::NullSafeStringView(params.compilation_device_name);
  priority_ = params.priority;
  is_pluggable_ = params.is_pluggable_device;
  compiles_on_demand_ = params.use_pjrt_on_demand_compile;
  return absl::OkStatus();
}

absl::Status NextPluggablePlatform::OpenPjrt(pjrt::abi::GetApi* get_pjrt,
                                             std::vector<pjrt::ClientOption> options) {
  if (get_pjrt == nullptr) {
    no_client_ = "it exports no GetPjrtApi";
    return absl::OkStatus();
  }
  const pjrt::abi::Api* table = nullptr;
  TENON_RETURN_IF_ERROR(CallPlugin(plugin_.c_str(), "GetPjrtApi", "", [&] { table = get_pjrt(); }));
  if (table == nullptr) {
    no_client_ = "GetPjrtApi returns NULL";
    return absl::OkStatus();
  }
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<const pjrt::Api> api,
                         pjrt::Api::OfTable(plugin_, table, pjrt::Api::Use::kBuffers));
  TENON_RETURN_IF_ERROR(api->Initialize());
  client_ = pjrt::NamedClient::Make(type_, std::move(api), std::move(options));
  return absl::OkStatus();
}

int NextPluggablePlatform::DeviceCount(std::string* why) const {
  const auto none = [&](std::string reason) {
    *why = std::move(reason);
    return 0;
  };
  if (client_ == nullptr) return none(no_client_);
  auto* const function = Function(&TFNPD_Api::TFNPD_GetDeviceCount);
  if (function == nullptr) return none(absl::StrCat("the plug-in has no ", kGetDeviceCount));
  int32_t count = 0;
  const absl::Status status = Call(kGetDeviceCount, [&](TF_Status* out) { count = function(out); });
  if (!status.ok()) return none(std::string(status.message()));
  if (count >= 0 && count <= kMostNextDevices) return count;
  return none(absl::StrCat(kGetDeviceCount, " answers ", count, "; at most ", kMostNextDevices,
                           " devices can be used"));
}

absl::Status NextPluggablePlatform::InitDeviceStates() const {
  auto* const function = Function(&TFNPD_Api::TFNPD_InitPluginInternalDeviceStates);
  if (function == nullptr) return absl::OkStatus();
  return Call("TFNPD_InitPluginInternalDeviceStates", function);
}

absl::StatusOr<pjrt::Buffer> NextPluggablePlatform::CopyBuffer(
    const pjrt::Buffer& from, std::shared_ptr<pjrt::Client> client) const {
  constexpr const char* kCopy = "TFNPD_SameDevicePjRtBufferCopy";
  auto* const function = Function(&TFNPD_Api::TFNPD_SameDevicePjRtBufferCopy);
  if (function == nullptr)
    return absl::UnimplementedError(absl::StrCat("plug-in ", plugin_, " has no ", kCopy));
  PJRT_Buffer* made = nullptr;
  TENON_RETURN_IF_ERROR(Call(kCopy, [&](TF_Status* status) {
    made = function(reinterpret_cast<PJRT_Buffer*>(from.get()),
                    reinterpret_cast<PJRT_Client*>(client->get()), status);
  }));
  if (made == nullptr) return client->api().Fault("neither a buffer nor an error", kCopy);
  return pjrt::Buffer(std::move(client), reinterpret_cast<pjrt::abi::Buffer*>(made));
}

}  // namespace tenon
