// A place in a file of bytes, for messages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"

namespace tenon {

// Returns "model.pb: byte 27" for file "model.pb" and offset 27, which counts from 0. The word
// "byte" distinguishes the offset from the line number in "file:line:column".
inline std::string AtByte(std::string_view file, uint64_t offset) {
  return absl::StrCat(file, ": byte ", offset);
}

}  // namespace tenon
