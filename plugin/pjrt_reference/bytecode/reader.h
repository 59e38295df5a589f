// Numbers and bytes of the encoding. Private to plugin/pjrt_reference/bytecode/.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "../base/refusal.h"

namespace pjref {

// Reads from the front of its bytes. All functions throw Refusal(kUnknown) rather than read beyond
// the end. The bytes must outlive the reader and the views that it gives.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  bool AtEnd() const { return bytes_.empty(); }
  uint8_t Byte() { return static_cast<uint8_t>(Bytes(1)[0]); }
  std::string_view Bytes(uint64_t size) {
    if (size > bytes_.size()) Fail("it is cut off");
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }
  // The number of zeros below the lowest set bit of the first byte is the number of bytes that
  // follow. The bits above that set bit are the lowest of the number.
  uint64_t Number() {
    const uint8_t first = Byte();
    if (first & 1) return first >> 1;
    const int more = first == 0 ? 8 : __builtin_ctz(first);
    const std::string_view rest = Bytes(static_cast<uint64_t>(more));
    uint64_t value = 0;
    for (int i = more; i-- > 0;) value = value << 8 | static_cast<uint8_t>(rest[i]);
    if (more == 8) return value;
    return (value << 8 | first) >> (more + 1);
  }
  // Sign in the lowest bit.
  int64_t Signed() {
    const uint64_t value = Number();
    return static_cast<int64_t>(value >> 1 ^ (~(value & 1) + 1));
  }
  // A count of things that take a byte or more each, so that it cannot exceed the bytes that are
  // left.
  uint64_t Count() {
    const uint64_t count = Number();
    if (count > bytes_.size()) Fail("a count is larger than what follows");
    return count;
  }
  // Up to a byte 0, which is taken too.
  std::string Text() {
    const size_t end = bytes_.find('\0');
    if (end == std::string_view::npos) Fail("a text has no end");
    std::string text(bytes_.substr(0, end));
    bytes_.remove_prefix(end + 1);
    return text;
  }
  // Padding up to a multiple of `alignment` of the bytes' place in the file, which starts at
  // `start`.
  void Align(const char* start, uint64_t alignment) {
    while (alignment > 1 && !bytes_.empty() &&
           static_cast<uint64_t>(bytes_.data() - start) % alignment != 0)
      Byte();
  }
  [[noreturn]] static void Fail(const std::string& why) {
    throw Refusal(Code::kUnknown, "the bytecode cannot be read: " + why);
  }

 private:
  std::string_view bytes_;
};

}  // namespace pjref
