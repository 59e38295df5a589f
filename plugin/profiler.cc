#include "plugin/profiler.h"

#include <cstring>

#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/callback_scope.h"
#include "graph/status_macros.h"
#include "plugin/struct_checks.h"

namespace tenon {
namespace {

// Structs with room for a plug-in compiled against later headers.
struct Storage {
  TF_ProfilerRegistrationParams params;
  unsigned char params_room[128];
  TP_Profiler profiler;
  unsigned char profiler_room[128];
  TP_ProfilerFns fns;
  unsigned char fns_room[128];
};

absl::Status Validate(const Storage& s) {
  TENON_RETURN_IF_ERROR(CheckStructSize(s.params.struct_size, "TF_ProfilerRegistrationParams",
                                        "TF_PROFILER_REGISTRATION_PARAMS_STRUCT_SIZE"));
  TENON_RETURN_IF_ERROR(CheckMembers(
      {TENON_MEMBER(s.params, destroy_profiler), TENON_MEMBER(s.params, destroy_profiler_fns)},
      "TF_ProfilerRegistrationParams"));
  TENON_RETURN_IF_ERROR(
      CheckStructSize(s.profiler.struct_size, "TP_Profiler", "TP_PROFILER_STRUCT_SIZE"));
  TENON_RETURN_IF_ERROR(CheckMembers({TENON_MEMBER(s.profiler, device_type)}, "TP_Profiler"));
  TENON_RETURN_IF_ERROR(CheckDeviceName(s.profiler.device_type));
  TENON_RETURN_IF_ERROR(
      CheckStructSize(s.fns.struct_size, "TP_ProfilerFns", "TP_PROFILER_FNS_STRUCT_SIZE"));
  return CheckMembers({TENON_MEMBER(s.fns, start), TENON_MEMBER(s.fns, stop),
                       TENON_MEMBER(s.fns, collect_data_xspace)},
                      "TP_ProfilerFns");
}

}  // namespace

absl::StatusOr<std::shared_ptr<PluginProfiler>> PluginProfiler::Init(
    void (*init)(TF_ProfilerRegistrationParams*, TF_Status*), std::string plugin) {
  Storage storage;
  std::memset(&storage, 0, sizeof(storage));
  storage.params.struct_size = TF_PROFILER_REGISTRATION_PARAMS_STRUCT_SIZE;
  storage.params.major_version = TP_MAJOR;
  storage.params.minor_version = TP_MINOR;
  storage.params.patch_version = TP_PATCH;
  storage.params.profiler = &storage.profiler;
  storage.params.profiler_fns = &storage.fns;
  storage.profiler.struct_size = TP_PROFILER_STRUCT_SIZE;
  storage.fns.struct_size = TP_PROFILER_FNS_STRUCT_SIZE;
  CStatus status;
  TENON_RETURN_IF_ERROR(CallPlugin(plugin.c_str(), "TF_InitProfiler", "",
                                   [&] { init(&storage.params, status.get()); }));
  TENON_RETURN_IF_ERROR(status.ToStatus());
  std::shared_ptr<PluginProfiler> profiler(new PluginProfiler);
  profiler->plugin_ = std::move(plugin);
  profiler->profiler_ = storage.profiler;
  profiler->fns_ = storage.fns;
  profiler->destroy_profiler_ = storage.params.destroy_profiler;
  profiler->destroy_profiler_fns_ = storage.params.destroy_profiler_fns;
  TENON_RETURN_IF_ERROR(Validate(storage));
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
