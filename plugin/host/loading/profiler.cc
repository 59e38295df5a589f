#include "plugin/host/loading/profiler.h"

#include "graph/base/status_macros.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/callback_scope.h"
#include "graph/c_api/struct_size.h"
#include "plugin/host/devices/struct_checks.h"

namespace tenon {
namespace {

// In TensorFlow's order: the first check that fails makes the message.
absl::Status Validate(const TF_ProfilerRegistrationParams& params, const TP_Profiler& profiler,
                      const TP_ProfilerFns& fns) {
  TENON_RETURN_IF_ERROR(CheckStructSize(params.struct_size, "TF_ProfilerRegistrationParams",
                                        "TF_PROFILER_REGISTRATION_PARAMS_STRUCT_SIZE"));
  TENON_RETURN_IF_ERROR(CheckMembers(
      {TENON_MEMBER(params, destroy_profiler), TENON_MEMBER(params, destroy_profiler_fns)},
      "TF_ProfilerRegistrationParams"));
  TENON_RETURN_IF_ERROR(
      CheckStructSize(profiler.struct_size, "TP_Profiler", "TP_PROFILER_STRUCT_SIZE"));
  TENON_RETURN_IF_ERROR(CheckMembers({TENON_MEMBER(profiler, device_type)}, "TP_Profiler"));
  TENON_RETURN_IF_ERROR(CheckDeviceName(profiler.device_type));
  TENON_RETURN_IF_ERROR(
      CheckStructSize(fns.struct_size, "TP_ProfilerFns", "TP_PROFILER_FNS_STRUCT_SIZE"));
  return CheckMembers(
      {TENON_MEMBER(fns, start), TENON_MEMBER(fns, stop), TENON_MEMBER(fns, collect_data_xspace)},
      "TP_ProfilerFns");
}

}  // namespace

absl::StatusOr<std::shared_ptr<PluginProfiler>> PluginProfiler::Init(
    void (*init)(TF_ProfilerRegistrationParams*, TF_Status*), std::string plugin) {
  Padded<TF_ProfilerRegistrationParams> padded_params;
  Padded<TP_Profiler> padded_profiler;
  Padded<TP_ProfilerFns> padded_fns;
  TF_ProfilerRegistrationParams& params = padded_params.value;
  params.struct_size = TF_PROFILER_REGISTRATION_PARAMS_STRUCT_SIZE;
  params.major_version = TP_MAJOR;
  params.minor_version = TP_MINOR;
  params.patch_version = TP_PATCH;
  params.profiler = &padded_profiler.value;
  params.profiler_fns = &padded_fns.value;
  padded_profiler.value.struct_size = PresetStructSize(TP_PROFILER_STRUCT_SIZE);
  padded_fns.value.struct_size = PresetStructSize(TP_PROFILER_FNS_STRUCT_SIZE);
  CStatus status;
  TENON_RETURN_IF_ERROR(
      CallPlugin(plugin.c_str(), "TF_InitProfiler", "", [&] { init(&params, status.get()); }));
  TENON_RETURN_IF_ERROR(status.ToStatus());
  std::shared_ptr<PluginProfiler> profiler(new PluginProfiler);
  // Taken over before the validation, so that an invalid profiler is destroyed, too.
  profiler->plugin_ = std::move(plugin);
  profiler->profiler_ = padded_profiler.value;
  profiler->fns_ = padded_fns.value;
  profiler->destroy_profiler_ = params.destroy_profiler;
  profiler->destroy_profiler_fns_ = params.destroy_profiler_fns;
  const CallbackScope filled_by(profiler->plugin_.c_str(), "TF_InitProfiler");
  TENON_RETURN_IF_ERROR(Validate(params, profiler->profiler_, profiler->fns_));
  return profiler;
}

PluginProfiler::~PluginProfiler() {
  const auto call = [this](const char* callback, auto&& fn) {
    WarnOf(CallPlugin(plugin_.c_str(), callback, "", fn));
  };
  if (destroy_profiler_ != nullptr)
    call("destroy_profiler", [&] { destroy_profiler_(&profiler_); });
  if (destroy_profiler_fns_ != nullptr)
    call("destroy_profiler_fns", [&] { destroy_profiler_fns_(&fns_); });
}

}  // namespace tenon
