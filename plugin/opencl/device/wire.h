// Writing protobuf's wire format.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace opencl {

inline void AppendVarint(std::string* out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>(value | 0x80));
  out->push_back(static_cast<char>(value));
}

// Whole fields, with their tags.
inline void AppendVarintField(std::string* out, int number, uint64_t value) {
  AppendVarint(out, static_cast<uint64_t>(number) << 3);
  AppendVarint(out, value);
}
inline void AppendBytesField(std::string* out, int number, std::string_view bytes) {
  AppendVarint(out, static_cast<uint64_t>(number) << 3 | 2);
  AppendVarint(out, bytes.size());
  out->append(bytes);
}

}  // namespace opencl
