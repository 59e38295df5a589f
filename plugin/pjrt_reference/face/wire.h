// The wire format of protobuf, as far as compile options need it.
#pragma once

#include <cstdint>
#include <string_view>

#include "../base/refusal.h"

namespace pjref {

// Walks over the fields of one message. Throws Refusal(kInvalidArgument) for bytes that are none.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : bytes_(bytes) {}

  // Moves to the next field; false at the end. The value of the field before need not have been
  // read.
  bool Next() {
    if (!read_) Skip();
    if (bytes_.empty()) return false;
    const uint64_t tag = Varint();
    field_ = tag >> 3;
    kind_ = tag & 7;
    read_ = false;
    if (field_ == 0) Fail();
    return true;
  }
  uint64_t field() const { return field_; }
  bool is_bytes() const { return kind_ == 2; }
  // Integer and Bytes take the value of the field, once. They throw if the field is of another
  // kind.
  int64_t Integer() {
    if (kind_ != 0) Fail();
    read_ = true;
    return static_cast<int64_t>(Varint());
  }
  std::string_view Bytes() {
    if (kind_ != 2) Fail();
    read_ = true;
    return Take(Varint());
  }
  // The first integer of a packed list. Throws for an empty one.
  static int64_t FirstOf(std::string_view packed) {
    WireReader list(packed);
    return static_cast<int64_t>(list.Varint());
  }

 private:
  [[noreturn]] static void Fail() {
    throw Refusal(Code::kInvalidArgument, "the compile options cannot be parsed");
  }
  uint64_t Varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (bytes_.empty()) Fail();
      const auto byte = static_cast<unsigned char>(bytes_.front());
      bytes_.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
    Fail();
  }
  std::string_view Take(uint64_t size) {
    if (size > bytes_.size()) Fail();
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }
  void Skip() {
    if (kind_ == 0) {
      Varint();
    } else if (kind_ == 1 || kind_ == 5) {
      Take(kind_ == 1 ? 8 : 4);
    } else if (kind_ == 2) {
      Take(Varint());
    } else {
      Fail();
    }
    read_ = true;
  }

  std::string_view bytes_;
  uint64_t field_ = 0, kind_ = 0;
  bool read_ = true;
};

}  // namespace pjref
