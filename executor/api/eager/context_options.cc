#include "executor/api/eager/context_options.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "graph/c_api/callback_scope.h"
#include "graph/wire/wire.h"

namespace tenon::eager {

namespace {

// Adds an entry of ConfigProto.device_count. False if it does not parse.
bool AddDeviceCount(std::string_view entry, std::map<std::string, int>& device_count) {
  constexpr uint32_t kType = 1, kCount = 2;
  std::string type;
  int count = 0;
  WireReader reader(entry);
  for (WireField field; reader.Next(&field);) {
    if (field.number == kType && field.type == WireType::kBytes) type = field.bytes;
    if (field.number == kCount && field.type == WireType::kVarint)
      count = static_cast<int32_t>(field.scalar);
  }
  device_count[type] = count;
  return reader.ok();
}

// A context has one CPU device.
void DropCpuCount(std::map<std::string, int>& device_count) {
  const auto cpu = device_count.find("CPU");
  if (cpu == device_count.end()) return;
  if (cpu->second != 1) {
    WarnOf(absl::UnimplementedError(absl::StrCat("device_count asks for ", cpu->second,
                                                 " CPU devices; an eager context has one, CPU:0")));
  }
  device_count.erase(cpu);
}

}  // namespace

absl::Status SetConfig(std::string_view proto, ContextOptions& options) {
  // Fields of ConfigProto.
  constexpr uint32_t kDeviceCount = 1, kIntraOpThreads = 2, kAllowSoftPlacement = 7,
                     kLogDevicePlacement = 8;
  ContextOptions changed = options;
  WireReader reader(proto);
  WireField field;
  bool whole = true;
  while (reader.Next(&field)) {
    if (field.number == kDeviceCount && field.type == WireType::kBytes)
      whole = AddDeviceCount(field.bytes, changed.device_count) && whole;
    if (field.type != WireType::kVarint) continue;
    if (field.number == kIntraOpThreads)
      changed.session.threads = std::max(static_cast<int32_t>(field.scalar), 0);
    if (field.number == kAllowSoftPlacement) changed.soft_placement = field.scalar != 0;
    if (field.number == kLogDevicePlacement) changed.log_placement = field.scalar != 0;
  }
  if (!reader.ok() || !whole) return absl::InvalidArgumentError("Unparseable ConfigProto");
  DropCpuCount(changed.device_count);
  options = std::move(changed);
  return absl::OkStatus();
}

}  // namespace tenon::eager
