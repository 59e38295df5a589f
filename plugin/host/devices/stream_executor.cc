#include <cstring>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "graph/base/annotate.h"
#include "graph/base/status_macros.h"
#include "graph/c_api/abi_watch.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/callback_scope.h"
#include "graph/c_api/struct_size.h"
#include "plugin/host/devices/stream_executor.h"
#include "plugin/host/devices/struct_checks.h"
#include "plugin/host/strict/strict_table.h"

namespace tenon {
namespace {

absl::Status Validate(const SE_PlatformRegistrationParams& params) {
  TENON_RETURN_IF_ERROR(CheckStructSize(params.struct_size, "SE_PlatformRegistrationParams",
                                        "SE_PLATFORM_REGISTRATION_PARAMS_STRUCT_SIZE"));
  return CheckMembers(
      {TENON_MEMBER(params, destroy_platform), TENON_MEMBER(params, destroy_platform_fns)},
      "SE_PlatformRegistrationParams");
}

absl::Status Validate(const SP_Platform& platform) {
  TENON_RETURN_IF_ERROR(
      CheckStructSize(platform.struct_size, "SP_Platform", "SP_PLATFORM_STRUCT_SIZE"));
  TENON_RETURN_IF_ERROR(
      CheckMembers({TENON_MEMBER(platform, name), TENON_MEMBER(platform, type)}, "SP_Platform"));
  TENON_RETURN_IF_ERROR(CheckDeviceName(platform.name));
  return CheckDeviceName(platform.type);
}

absl::Status Validate(const SP_PlatformFns& fns) {
  TENON_RETURN_IF_ERROR(
      CheckStructSize(fns.struct_size, "SP_PlatformFns", "SP_PLATFORM_FNS_STRUCT_SIZE"));
  return CheckMembers(
      {TENON_MEMBER(fns, create_device), TENON_MEMBER(fns, destroy_device),
       TENON_MEMBER(fns, create_stream_executor), TENON_MEMBER(fns, destroy_stream_executor),
       TENON_MEMBER(fns, create_device_fns), TENON_MEMBER(fns, destroy_device_fns)},
      "SP_PlatformFns");
}

// Refuses a table that lacks a function which TensorFlow requires, in TensorFlow's order.
// memcpy_dtod and block_host_until_done may be absent.
absl::Status CheckFunctions(const SP_StreamExecutor& se, bool unified_memory) {
  constexpr std::string_view kName = "SP_StreamExecutor";
  TENON_RETURN_IF_ERROR(
      CheckMembers({TENON_MEMBER(se, allocate), TENON_MEMBER(se, deallocate),
                    TENON_MEMBER(se, get_allocator_stats), TENON_MEMBER(se, host_memory_allocate),
                    TENON_MEMBER(se, host_memory_deallocate)},
                   kName));
  if (unified_memory) {
    TENON_RETURN_IF_ERROR(CheckMembers(
        {TENON_MEMBER(se, unified_memory_allocate), TENON_MEMBER(se, unified_memory_deallocate)},
        kName));
  }
  return CheckMembers({TENON_MEMBER(se, device_memory_usage),
                       TENON_MEMBER(se, create_stream),
                       TENON_MEMBER(se, destroy_stream),
                       TENON_MEMBER(se, create_stream_dependency),
                       TENON_MEMBER(se, get_stream_status),
                       TENON_MEMBER(se, create_event),
                       TENON_MEMBER(se, destroy_event),
                       TENON_MEMBER(se, get_event_status),
                       TENON_MEMBER(se, record_event),
                       TENON_MEMBER(se, wait_for_event),
                       TENON_MEMBER(se, memcpy_dtoh),
                       TENON_MEMBER(se, memcpy_htod),
                       TENON_MEMBER(se, sync_memcpy_dtoh),
                       TENON_MEMBER(se, sync_memcpy_htod),
                       TENON_MEMBER(se, block_host_for_event),
                       TENON_MEMBER(se, synchronize_all_activity),
                       TENON_MEMBER(se, host_callback),
                       TENON_MEMBER(se, mem_zero),
                       TENON_MEMBER(se, memset),
                       TENON_MEMBER(se, memset32)},
                      kName);
}

// TensorFlow 2.5's table has no mem_zero, memset and memset32. Later ones have them before
// host_callback, so that of a shorter table a function is missed that the plug-in did set.
absl::Status Validate(const SP_StreamExecutor& se, bool unified_memory) {
  TENON_RETURN_IF_ERROR(
      CheckStructSize(se.struct_size, "SP_StreamExecutor", "SP_STREAM_EXECUTOR_STRUCT_SIZE"));
  absl::Status status = CheckFunctions(se, unified_memory);
  if (status.ok() || se.struct_size >= SP_STREAMEXECUTOR_STRUCT_SIZE) return status;
  return Annotate(status, "",
                  absl::StrCat(" Its struct_size is ", se.struct_size, ", this host needs ",
                               SP_STREAMEXECUTOR_STRUCT_SIZE,
                               ": the plug-in is built with older headers, as of TensorFlow 2.5, "
                               "in which members stand elsewhere"));
}

// Calls one callback that reports through a TF_Status.
template <typename Fn>
absl::Status Call(const std::string& plugin, const char* callback, Fn&& fn) {
  CStatus status;
  TENON_RETURN_IF_ERROR(CallPlugin(plugin.c_str(), callback, "", [&] { fn(status.get()); }));
  return Attribute(status.ToStatus(), callback, plugin);
}

}  // namespace

absl::Status StreamExecutorPlatform::Init(void (*init)(SE_PlatformRegistrationParams*,
                                                       TF_Status*)) {
  // Room behind each struct: a plug-in that was built with later headers writes larger ones.
  Padded<SE_PlatformRegistrationParams> padded;
  SE_PlatformRegistrationParams& params = padded.value;
  params.struct_size = SE_PLATFORM_REGISTRATION_PARAMS_STRUCT_SIZE;
  params.major_version = SE_MAJOR;
  params.minor_version = SE_MINOR;
  params.patch_version = SE_PATCH;
  params.platform = &platform_.value;
  params.platform_fns = &platform_fns_.value;
  platform_.value.struct_size = PresetStructSize(SP_PLATFORM_STRUCT_SIZE);
  platform_fns_.value.struct_size = PresetStructSize(SP_PLATFORM_FNS_STRUCT_SIZE);
  CStatus status;
  TENON_RETURN_IF_ERROR(
      CallPlugin(plugin_.c_str(), "SE_InitPlugin", "", [&] { init(&params, status.get()); }));
  TENON_RETURN_IF_ERROR(status.ToStatus());
  // From here on the destructor destroys what the plug-in made, also when that does not validate.
  destroy_platform_ = params.destroy_platform;
  destroy_platform_fns_ = params.destroy_platform_fns;
  {
    // Violations that the checks report belong to the call that filled the structs.
    const CallbackScope filled_by(plugin_.c_str(), "SE_InitPlugin");
    TENON_RETURN_IF_ERROR(Validate(params));
    TENON_RETURN_IF_ERROR(Validate(platform_.value));
    TENON_RETURN_IF_ERROR(Validate(platform_fns_.value));
  }
  name_ = platform_.value.name;
  type_ = platform_.value.type;
  TENON_RETURN_IF_ERROR(CreateDeviceFns());
  return CreateStreamExecutor();
}

// Not validated but for its size: all functions of SP_DeviceFns may be absent.
absl::Status StreamExecutorPlatform::CreateDeviceFns() {
  Padded<SE_CreateDeviceFnsParams> params;
  params.value.struct_size = SE_CREATE_DEVICE_FNS_PARAMS_STRUCT_SIZE;
  params.value.device_fns = &device_fns_.value;
  device_fns_.value.struct_size = PresetStructSize(SP_DEVICE_FNS_STRUCT_SIZE);
  TENON_RETURN_IF_ERROR(Call(plugin_, "create_device_fns", [&](TF_Status* s) {
    platform_fns_.value.create_device_fns(&platform_.value, &params.value, s);
  }));
  has_device_fns_ = true;
  const CallbackScope filled_by(plugin_.c_str(), "create_device_fns");
  return CheckStructSize(device_fns_.value.struct_size, "SP_DeviceFns",
                         "SP_DEVICE_FNS_STRUCT_SIZE");
}

absl::Status StreamExecutorPlatform::CreateStreamExecutor() {
  Padded<SE_CreateStreamExecutorParams> params;
  params.value.struct_size = SE_CREATE_STREAM_EXECUTOR_PARAMS_STRUCT_SIZE;
  params.value.stream_executor = &se_.value;
  se_.value.struct_size = PresetStructSize(SP_STREAMEXECUTOR_STRUCT_SIZE);
  TENON_RETURN_IF_ERROR(Call(plugin_, "create_stream_executor", [&](TF_Status* s) {
    platform_fns_.value.create_stream_executor(&platform_.value, &params.value, s);
  }));
  has_stream_executor_ = true;
  const CallbackScope filled_by(plugin_.c_str(), "create_stream_executor");
  TENON_RETURN_IF_ERROR(Validate(se_.value, platform_.value.supports_unified_memory != 0));
  // After the validation, so that messages are of the plug-in's own table, and so that without
  // strict mode nothing stands between.
  if (AbiWatch::Active() == nullptr) return absl::OkStatus();
  unwatched_se_ = std::make_unique<SP_StreamExecutor>(se_.value);
  se_.value = StrictTable(se_.value);
  return absl::OkStatus();
}

// Destroys only what was created: the flags are set one by one by Init. Errors can only be warned
// of.
StreamExecutorPlatform::~StreamExecutorPlatform() {
  const SP_PlatformFns& fns = platform_fns_.value;
  // The plug-in destroys the table that it made, without the functions of strict mode.
  if (unwatched_se_ != nullptr) se_.value = *unwatched_se_;
  const auto call = [this](const char* callback, auto&& fn) {
    WarnOf(CallPlugin(plugin_.c_str(), callback, "", fn));
  };
  if (has_device_fns_)
    call("destroy_device_fns",
         [&] { fns.destroy_device_fns(&platform_.value, &device_fns_.value); });
  if (has_stream_executor_)
    call("destroy_stream_executor",
         [&] { fns.destroy_stream_executor(&platform_.value, &se_.value); });
  // The host creates no timer functions, but as in TensorFlow it calls destroy_timer_fns.
  if (has_stream_executor_ && fns.destroy_timer_fns != nullptr) {
    SP_TimerFns timer_fns{};
    timer_fns.struct_size = SP_TIMER_FNS_STRUCT_SIZE;
    call("destroy_timer_fns", [&] { fns.destroy_timer_fns(&platform_.value, &timer_fns); });
  }
  if (destroy_platform_ != nullptr)
    call("destroy_platform", [&] { destroy_platform_(&platform_.value); });
  if (destroy_platform_fns_ != nullptr)
    call("destroy_platform_fns", [&] { destroy_platform_fns_(&platform_fns_.value); });
}

// A larger count is a mistake: all devices are created when the first one is used.
constexpr int kMostDevices = 1024;

int StreamExecutorPlatform::DeviceCount(std::string* why) const {
  const auto none = [why](std::string reason) {
    if (why != nullptr) *why = std::move(reason);
    return 0;
  };
  if (platform_fns_.value.get_device_count == nullptr)
    return none("'get_device_count' field in SP_PlatformFns is not set");
  int count = 0;
  const absl::Status status = Call(plugin_, "get_device_count", [&](TF_Status* s) {
    platform_fns_.value.get_device_count(&platform_.value, &count, s);
  });
  if (!status.ok()) return none(absl::StrCat("get_device_count failed: ", status.ToString()));
  if (count > kMostDevices) {
    return none(absl::StrCat("get_device_count answered ", count, ", and no plug-in has more than ",
                             kMostDevices, " devices: it has none"));
  }
  return count < 0 ? none(absl::StrCat("get_device_count answered ", count)) : count;
}

absl::StatusOr<std::shared_ptr<StreamExecutorPlatform>> InitStreamExecutorPlugin(
    void (*init)(SE_PlatformRegistrationParams*, TF_Status*), std::string plugin) {
  std::shared_ptr<StreamExecutorPlatform> platform(new StreamExecutorPlatform);
  platform->plugin_ = std::move(plugin);
  TENON_RETURN_IF_ERROR(platform->Init(init));
  return platform;
}

}  // namespace tenon
