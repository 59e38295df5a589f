// One entry of NodeDef.attr as bytes. The length is computed before writing, so that a large
// constant is copied once.

#include "graph/op_defs/attr_entry.h"

#include "graph/wire/wire.h"

namespace tenon {
namespace {

// The tag of NodeDef.attr: field 5, bytes.
constexpr uint64_t kTag = uint64_t{5} << 3 | static_cast<uint64_t>(WireType::kBytes);

// The size of a field of `bytes` bytes with tag and length, for field numbers below 16: the tag is
// a byte.
size_t LengthOfField(size_t bytes) {
  size_t length = 2 + bytes;
  for (size_t rest = bytes; rest >= 0x80; rest >>= 7) ++length;
  return length;
}

// The size of the entry without its own tag and length.
size_t LengthOfMessage(const Attr& attr) {
  return LengthOfField(attr.name.size()) + LengthOfField(attr.value.wire().size());
}

}  // namespace

size_t AttrEntryBytes(const Attr& attr) { return LengthOfField(LengthOfMessage(attr)); }

void AppendAttrEntry(const Attr& attr, std::string* out) {
  WireWriter writer(out);
  writer.RawVarint(kTag);
  writer.RawVarint(LengthOfMessage(attr));
  writer.Bytes(1, attr.name);
  writer.Bytes(2, attr.value.wire());
}

}  // namespace tenon
