// Checks of the host's structs after a plug-in has filled them. All errors are FAILED_PRECONDITION
// with TensorFlow's messages.
#pragma once

#include <initializer_list>
#include <string_view>

#include "absl/status/status.h"

namespace tenon {

// struct_size 0: the plug-in did not fill the struct. No other value is refused.
absl::Status CheckStructSize(size_t struct_size, std::string_view name, std::string_view macro);

// A device name or type: [A-Z][A-Z_]*.
absl::Status CheckDeviceName(std::string_view name);

// A member with its name; TENON_MEMBER makes one.
struct Member {
  const char* name;
  bool set;
};
#define TENON_MEMBER(table, member) \
  ::tenon::Member { #member, (table).member != nullptr }

// The first member that is not set.
absl::Status CheckMembers(std::initializer_list<Member> members, std::string_view in);

}  // namespace tenon
