#include "executor/api/eager/context_options.h"

#include <algorithm>

#include "graph/wire/wire.h"

namespace tenon::eager {

absl::Status SetConfig(std::string_view proto, ContextOptions& options) {
  // Fields of ConfigProto.
  constexpr uint32_t kIntraOpThreads = 2, kAllowSoftPlacement = 7, kLogDevicePlacement = 8;
  ContextOptions changed = options;
  WireReader reader(proto);
  WireField field;
  while (reader.Next(&field)) {
    if (field.type != WireType::kVarint) continue;
    if (field.number == kIntraOpThreads)
      changed.session.threads = std::max(static_cast<int32_t>(field.scalar), 0);
    if (field.number == kAllowSoftPlacement) changed.soft_placement = field.scalar != 0;
    if (field.number == kLogDevicePlacement) changed.log_placement = field.scalar != 0;
  }
  if (!reader.ok()) return absl::InvalidArgumentError("Unparseable ConfigProto");
  options = std::move(changed);
  return absl::OkStatus();
}

}  // namespace tenon::eager
