// Checks of the host's structs after a plug-in has filled them. All errors are FAILED_PRECONDITION
// with TensorFlow's messages.
#pragma once

#include <initializer_list>
#include <string_view>

#include "absl/status/status.h"

namespace tenon {

// Refuses a struct_size of 0: the plug-in did not fill the struct. Accepts any other value, since a
// plug-in may be built with older or newer headers; in strict mode reports a violation if the value
// is 0 or the one that the host preset. `name` is the name of the struct, `macro` that of the macro
// with the right size, for the message.
absl::Status CheckStructSize(size_t struct_size, std::string_view name, std::string_view macro);

// Refuses a device name or type that does not match [A-Z][A-Z_]*.
absl::Status CheckDeviceName(std::string_view name);

// The name of a struct's member, and whether the plug-in has set it. TENON_MEMBER makes one.
struct Member {
  const char* name;
  bool set;
};
#define TENON_MEMBER(table, member) \
  ::tenon::Member { #member, (table).member != nullptr }

// Refuses the first member that is not set. `in` is the name of the struct.
absl::Status CheckMembers(std::initializer_list<Member> members, std::string_view in);

}  // namespace tenon
