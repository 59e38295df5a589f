#include "plugin/host/devices/struct_checks.h"

#include "absl/strings/str_cat.h"
#include "graph/c_api/struct_size.h"

namespace tenon {

absl::Status CheckStructSize(size_t struct_size, std::string_view name, std::string_view macro) {
  WatchStructSize(struct_size, name, macro);
  if (struct_size != 0) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("Expected initialized `", name,
                                                    "` structure with `struct_size` field set to ",
                                                    macro, ". Found `struct_size` = 0."));
}

absl::Status CheckDeviceName(std::string_view name) {
  bool valid = !name.empty() && name[0] != '_';
  for (const char c : name) valid = valid && ((c >= 'A' && c <= 'Z') || c == '_');
  if (valid) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("Device name/type '", name, "' must match [A-Z][A-Z_]*."));
}

absl::Status CheckMembers(std::initializer_list<Member> members, std::string_view in) {
  for (const Member& member : members) {
    if (!member.set)
      return absl::FailedPreconditionError(
          absl::StrCat("'", member.name, "' field in ", in, " must be set."));
  }
  return absl::OkStatus();
}

}  // namespace tenon
