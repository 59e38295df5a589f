// A reader of protobuf's wire format that makes no objects: a field is its number, its type and a
// view of its bytes.

#include "graph/wire/wire.h"

namespace tenon {
namespace {

// GraphDef has no groups; a file may still hold some as unknown fields.
constexpr int kMaxGroupDepth = 64;

}  // namespace

bool WireReader::ReadVarint(const char** pos, const char* end, uint64_t* value) {
  const char* p = *pos;
  // Most tags, lengths and numbers take one byte.
  if (p < end && static_cast<uint8_t>(*p) < 0x80) {
    *value = static_cast<uint8_t>(*p);
    *pos = p + 1;
    return true;
  }
  uint64_t v = 0;
  // A varint has at most ten bytes of seven bits; bits beyond the 64th are dropped, as protobuf
  // does.
  for (int shift = 0; shift < 70 && p < end; shift += 7) {
    const uint8_t b = static_cast<uint8_t>(*p++);
    if (shift < 64) v |= uint64_t{b & 0x7fu} << shift;
    if (b < 0x80) {
      *value = v;
      *pos = p;
      return true;
    }
  }
  return false;
}

bool WireReader::SkipGroup(const char** pos, uint32_t number) {
  uint32_t open[kMaxGroupDepth] = {number};
  int depth = 1;
  const char* p = *pos;
  while (depth > 0) {
    uint64_t tag;
    uint64_t v;
    if (!ReadVarint(&p, end_, &tag)) return false;
    const uint32_t n = static_cast<uint32_t>(tag >> 3);
    switch (static_cast<WireType>(tag & 7)) {
      case WireType::kVarint:
        if (!ReadVarint(&p, end_, &v)) return false;
        break;
      case WireType::kFixed64:
        if (end_ - p < 8) return false;
        p += 8;
        break;
      case WireType::kFixed32:
        if (end_ - p < 4) return false;
        p += 4;
        break;
      case WireType::kBytes:
        if (!ReadVarint(&p, end_, &v) || v > static_cast<uint64_t>(end_ - p)) return false;
        p += v;
        break;
      case WireType::kStartGroup:
        if (depth == kMaxGroupDepth) return false;
        open[depth++] = n;
        break;
      case WireType::kEndGroup:
        if (open[--depth] != n) return false;
        break;
      default:
        return false;
    }
  }
  *pos = p;
  return true;
}

bool WireReader::NextOfAnyForm(WireField* field) {
  if (pos_ == end_ || !ok_) return false;
  const char* p = pos_;
  uint64_t tag;
  // Tags have 32 bits, and field 0 does not exist.
  if (!ReadVarint(&p, end_, &tag) || tag >> 32 != 0 || tag >> 3 == 0) return Fail();
  field->number = static_cast<uint32_t>(tag >> 3);
  field->type = static_cast<WireType>(tag & 7);
  switch (field->type) {
    case WireType::kVarint:
      if (!ReadVarint(&p, end_, &field->scalar)) return Fail();
      break;
    case WireType::kFixed64:
      if (end_ - p < 8) return Fail();
      std::memcpy(&field->scalar, p, 8);
      p += 8;
      break;
    case WireType::kFixed32: {
      if (end_ - p < 4) return Fail();
      uint32_t v;
      std::memcpy(&v, p, 4);
      field->scalar = v;
      p += 4;
      break;
    }
    case WireType::kBytes: {
      uint64_t n;
      if (!ReadVarint(&p, end_, &n) || n > static_cast<uint64_t>(end_ - p)) return Fail();
      field->bytes = std::string_view(p, n);
      p += n;
      break;
    }
    case WireType::kStartGroup:
      if (!SkipGroup(&p, field->number)) return Fail();
      break;
    default:
      return Fail();
  }
  field->raw = std::string_view(pos_, static_cast<size_t>(p - pos_));
  pos_ = p;
  return true;
}

}  // namespace tenon
