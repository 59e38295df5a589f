// Writes the bytes of protocol buffers. Used by the library's own headers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tenon/shape.h"

namespace tenon::inline v0::internal::wire {

inline void Varint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}
// A field that holds an integer, a bool or an enum.
inline void Int(std::string& out, int field, int64_t value) {
  Varint(out, static_cast<uint64_t>(field) << 3);
  Varint(out, static_cast<uint64_t>(value));
}
// A field that holds a message, a text or bytes.
inline void Message(std::string& out, int field, std::string_view bytes) {
  Varint(out, static_cast<uint64_t>(field) << 3 | 2);
  Varint(out, bytes.size());
  out += bytes;
}
inline std::string Text(int field, std::string_view text) {
  std::string out;
  Message(out, field, text);
  return out;
}
// The bytes of a TensorShapeProto.
inline std::string ShapeProto(const Shape& shape) {
  std::string out;
  for (const int64_t length : shape.dims()) {
    std::string dim;
    Int(dim, 1, length);
    Message(out, 2, dim);
  }
  if (!shape.has_rank()) Int(out, 3, 1);
  return out;
}

}  // namespace tenon::inline v0::internal::wire
