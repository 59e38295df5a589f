// Writes the bytes of protocol buffers, and reads fields of them. Used by the library's own
// headers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tenon/shape.h"

namespace tenon::inline v0::internal::wire {

// The functions that take `out` append to it.
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
// Returns the bytes of a field that holds a text.
inline std::string Text(int field, std::string_view text) {
  std::string out;
  Message(out, field, text);
  return out;
}
// Reads the fields of a message one by one. Malformed bytes look like the end of the message.
// `bytes` and `raw` are views of the message, which must outlive them and the reader.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}

  // Sets `field`, `number`, `bytes` and `raw` to those of the next field. A varint is in `number`,
  // and `bytes` is empty then; any other content is in `bytes`, and `number` is 0. False at the
  // end; the members mean nothing then.
  bool Next() {
    const char* const begin = left_.data();
    uint64_t tag = 0;
    if (left_.empty() || !Varint(&tag)) return false;
    field = static_cast<int>(tag >> 3);
    number = 0;
    bytes = {};
    if (!TakeValue(tag & 7)) return false;
    raw = std::string_view(begin, static_cast<size_t>(left_.data() - begin));
    return true;
  }

  int field = 0;
  uint64_t number = 0;
  std::string_view bytes;
  std::string_view raw;  // the field whole, with its number

 private:
  bool TakeValue(uint64_t type) {
    switch (type) {
      case 0:
        return Varint(&number);
      case 1:
        return Take(8);
      case 2: {
        uint64_t size = 0;
        return Varint(&size) && Take(size);
      }
      case 5:
        return Take(4);
      default:
        return false;
    }
  }
  bool Varint(uint64_t* value) {
    *value = 0;
    for (int shift = 0; shift < 64 && !left_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(left_.front());
      left_.remove_prefix(1);
      *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }
  bool Take(uint64_t size) {
    if (size > left_.size()) return false;
    bytes = left_.substr(0, size);
    left_.remove_prefix(size);
    return true;
  }

  std::string_view left_;
};

// Returns the shape of TensorShapeProto bytes. Ignores what is malformed, and all behind it.
inline Shape ReadShape(std::string_view proto) {
  std::vector<int64_t> dims;
  bool unknown = false;
  for (Reader shape(proto); shape.Next();) {
    if (shape.field == 3) unknown = shape.number != 0;
    if (shape.field != 2) continue;
    int64_t length = 0;
    for (Reader dim(shape.bytes); dim.Next();) {
      if (dim.field == 1) length = static_cast<int64_t>(dim.number);
    }
    dims.push_back(length);
  }
  return unknown ? Shape::Unknown() : Shape(std::move(dims));
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
