#include "plugin/pjrt/plugin.h"

#include <cstdlib>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/callback_scope.h"
#include "plugin/pjrt/pjrt_device.h"

namespace tenon::pjrt {
namespace {

// What a client says on a machine that lacks the hardware. An option that the plug-in does not know
// (INVALID_ARGUMENT) is no such answer, nor is an exception (a fault).
bool SaysNoHardware(const absl::Status& status) {
  if (IsPluginFault(status)) return false;
  switch (status.code()) {
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kUnavailable:
      return true;
    default:
      return false;
  }
}

// A device type has capitals, digits and underscores.
std::string TypeOf(std::string_view platform) {
  std::string type = absl::AsciiStrToUpper(platform);
  for (char& c : type) c = absl::ascii_isalnum(c) ? c : '_';
  return type.empty() || absl::ascii_isdigit(type[0]) ? absl::StrCat("PJRT_", type) : type;
}

}  // namespace

void KeepOffNetwork(std::string_view path) {
  if (path.substr(path.rfind('/') + 1) == "libtpu.so") setenv("TPU_SKIP_MDS_QUERY", "1", 0);
}

absl::StatusOr<std::shared_ptr<Plugin>> Plugin::Load(const std::string& path, abi::GetApi* get,
                                                     PluginSettings settings) {
  KeepOffNetwork(path);
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<const Api> api, Api::Open(path, get));
  std::shared_ptr<Plugin> plugin(new Plugin(std::move(api), std::move(settings)));
  TENON_RETURN_IF_ERROR(plugin->api_->Initialize());
  plugin->facts_.table = plugin->api_->facts();
  TENON_ASSIGN_OR_RETURN(plugin->facts_.attributes, plugin->api_->Attributes());
  return plugin;
}

absl::StatusOr<std::vector<std::unique_ptr<Device>>> Plugin::CreateDevices(
    const std::function<bool(std::string_view type)>& is_taken,
    const std::function<int(std::string_view type)>& first_ordinal) {
  std::vector<std::unique_ptr<Device>> devices;
  auto client = Client::Create(api_, settings_.options);
  if (!client.ok() && SaysNoHardware(client.status())) {
    facts_.no_devices = std::string(client.status().message());
    return devices;
  }
  TENON_RETURN_IF_ERROR(client.status());
  facts_.platform_name = (*client)->platform_name();
  facts_.platform_version = (*client)->platform_version();
  if (type_.empty()) {
    type_ = TypeOf(facts_.platform_name);
    if (is_taken(type_)) type_ = absl::StrCat("PJRT_", type_);
  }
  const int first = first_ordinal(type_);
  for (size_t i = 0; i < (*client)->devices().size(); ++i)
    devices.push_back(std::make_unique<PjrtDevice>(*client, i, type_, first + static_cast<int>(i)));
  if (devices.empty()) facts_.no_devices = "its client has no device that this process can use";
  return devices;
}

}  // namespace tenon::pjrt
