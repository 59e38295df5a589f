// Reads and writes the protobuf wire format in place. Graphs stay wire bytes and are decoded on
// demand, so that import copies no weights and builds no message objects. Messages off the hot path
// go through protobuf itself. The machine must be little-endian, as the format is.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace tenon {

enum class WireType : uint8_t {
  kVarint = 0,
  kFixed64 = 1,
  kBytes = 2,
  kStartGroup = 3,
  kEndGroup = 4,
  kFixed32 = 5
};

// A field of a message. `bytes` and `raw` are views of the message. Of `scalar` and `bytes` only
// the one that belongs to `type` is set; the other keeps what an earlier field left there, so look
// at `type` first.
struct WireField {
  uint32_t number = 0;
  WireType type = WireType::kVarint;
  uint64_t scalar = 0;     // the value of kVarint, kFixed32 and kFixed64 fields
  std::string_view bytes;  // the value of kBytes fields, without tag and length
  std::string_view raw;    // tag and payload, to keep a field that is not understood
};

// Walks the fields of one message, in the order of the bytes. Next returns false at the end and at
// malformed bytes; ok() tells which, and every later Next returns false too. A group, up to 64
// deep, is one field of type kStartGroup with `raw` alone. Does not allocate. Does not look into
// nested messages: give `bytes` to another reader. The message must outlive the reader and its
// fields. Not thread-safe.
class WireReader {
 public:
  explicit WireReader(std::string_view message)
      : begin_(message.data()), pos_(begin_), end_(begin_ + message.size()) {}

  bool Next(WireField* field) {
    // Most fields are short and have a low number: tag and length are a byte each.
    if (end_ - pos_ >= 2 && ok_) {
      const auto tag = static_cast<uint8_t>(pos_[0]);
      const auto length = static_cast<uint8_t>(pos_[1]);
      if ((tag & 0x87) == static_cast<uint8_t>(WireType::kBytes) && tag >= 8 && length < 0x80 &&
          length <= end_ - pos_ - 2) {
        field->number = tag >> 3;
        field->type = WireType::kBytes;
        field->bytes = std::string_view(pos_ + 2, length);
        field->raw = std::string_view(pos_, length + size_t{2});
        pos_ += length + 2;
        return true;
      }
    }
    return NextOfAnyForm(field);
  }
  bool ok() const { return ok_; }
  // The offset in the message of the next field, or of the malformed field.
  size_t offset() const { return static_cast<size_t>(pos_ - begin_); }

  // Reads one varint and moves `*pos` behind it. Returns false, and leaves `*pos` and `*value`
  // alone, if the varint does not end within ten bytes and before `end`. Bits above the 64th are
  // dropped.
  static bool ReadVarint(const char** pos, const char* end, uint64_t* value);

 private:
  bool Fail() {
    ok_ = false;
    return false;
  }
  bool NextOfAnyForm(WireField* field);
  bool SkipGroup(const char** pos, uint32_t number);

  const char* begin_;
  const char* pos_;
  const char* end_;
  bool ok_ = true;
};

// Appends fields to a string, which must outlive the writer. Checks neither the order of fields nor
// whether a field comes twice. Not thread-safe.
class WireWriter {
 public:
  explicit WireWriter(std::string* out) : out_(out) {}
  void Varint(uint32_t number, uint64_t value) {
    Tag(number, WireType::kVarint);
    RawVarint(value);
  }
  void Bytes(uint32_t number, std::string_view bytes) {
    Tag(number, WireType::kBytes);
    RawVarint(bytes.size());
    out_->append(bytes);
  }
  void Fixed32(uint32_t number, uint32_t value) {
    Tag(number, WireType::kFixed32);
    out_->append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void Fixed64(uint32_t number, uint64_t value) {
    Tag(number, WireType::kFixed64);
    out_->append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void Float(uint32_t number, float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    Fixed32(number, bits);
  }
  // Appends a varint without a tag: a length, or an element of a packed field.
  void RawVarint(uint64_t value) {
    while (value >= 0x80) {
      out_->push_back(static_cast<char>(value | 0x80));
      value >>= 7;
    }
    out_->push_back(static_cast<char>(value));
  }

 private:
  void Tag(uint32_t number, WireType type) {
    RawVarint(uint64_t{number} << 3 | static_cast<uint64_t>(type));
  }
  std::string* out_;
};

}  // namespace tenon
