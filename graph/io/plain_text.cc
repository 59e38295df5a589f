// A fast parser for the usual form of a GraphDef as text, which writes the message's bytes
// directly. It must give the same bytes as protobuf, or give up: whatever is unusual or wrong goes
// to protobuf's parser, which also makes the error messages.

#include "graph/io/plain_text.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "graph/wire/wire.h"
#include "proto/graph_def.pb.h"

namespace tenon {
namespace {

namespace gp = google::protobuf;

// --- What fields there are, from the descriptors.

struct MessageType;

// The parts of a graph whose position in the text is kept.
enum class Placed : uint8_t { kNo, kNode, kFunction, kVersions };

struct Field {
  uint32_t number = 0;
  int index = 0;  // in its message, below kMostFields
  gp::FieldDescriptor::Type type = gp::FieldDescriptor::TYPE_INT32;
  bool repeated = false, packed = false;
  bool is_map = false;
  bool always_written = false;  // a default value too
  int oneof = -1;
  Placed placed = Placed::kNo;
  const MessageType* message = nullptr;
  absl::flat_hash_map<std::string_view, int> enumerators;
};

constexpr int kMostFields = 64;

struct MessageType {
  bool is_map_entry = false;
  absl::flat_hash_map<std::string_view, Field> fields;

  const Field* Find(uint32_t number) const {
    for (const auto& [name, field] : fields) {
      if (field.number == number) return &field;
    }
    return nullptr;
  }
};

class Schema {
 public:
  explicit Schema(const gp::Descriptor* root) { Add(root); }
  const MessageType& root() const { return types_.at(pb::GraphDef::descriptor()); }

 private:
  const MessageType* Add(const gp::Descriptor* descriptor) {
    const auto [it, added] = types_.try_emplace(descriptor);
    MessageType& type = it->second;
    if (!added) return &type;
    type.is_map_entry = descriptor->options().map_entry();
    // Later fields are unknown to this parser, so text with them goes to protobuf's. Bits of `seen`
    // hold 64.
    for (int i = 0; i < std::min(descriptor->field_count(), kMostFields); ++i) {
      const gp::FieldDescriptor& d = *descriptor->field(i);
      Field f;
      f.number = static_cast<uint32_t>(d.number());
      f.index = i;
      f.type = d.type();
      f.repeated = d.is_repeated();
      f.packed = d.is_packed();
      f.is_map = d.is_map();
      f.always_written = f.repeated || d.has_presence() || type.is_map_entry;
      if (d.containing_oneof() != nullptr) f.oneof = d.containing_oneof()->index();
      if (d.full_name() == "tenon.pb.GraphDef.node") f.placed = Placed::kNode;
      if (d.full_name() == "tenon.pb.FunctionDefLibrary.function") f.placed = Placed::kFunction;
      if (d.full_name() == "tenon.pb.GraphDef.versions") f.placed = Placed::kVersions;
      if (d.message_type() != nullptr) f.message = Add(d.message_type());
      for (int e = 0; d.enum_type() != nullptr && e < d.enum_type()->value_count(); ++e)
        f.enumerators.emplace(d.enum_type()->value(e)->name(), d.enum_type()->value(e)->number());
      type.fields.emplace(d.name(), std::move(f));
    }
    return &type;
  }

  std::unordered_map<const gp::Descriptor*, MessageType> types_;
};

const MessageType& GraphType() {
  static const Schema* const schema = new Schema(pb::GraphDef::descriptor());
  return schema->root();
}

// --- Putting fields in the order of their numbers, as protobuf does.

// Keys of map entries compare as protobuf's deterministic serialization orders them: keys are
// strings or unsigned numbers.
using MapKey = std::pair<uint64_t, std::string_view>;

MapKey KeyOf(std::string_view entry) {
  WireReader reader(entry);
  WireField key;
  reader.Next(&key);
  return {key.scalar, key.bytes};
}

// Returns the message with fields by number, map entries by key (of equal keys the last) and the
// packed values of a field in one piece.
std::string InOrder(const MessageType& type, std::string_view message) {
  std::vector<WireField> fields;
  WireReader reader(message);
  for (WireField f; reader.Next(&f);) fields.push_back(f);
  const auto is_map = [&](const WireField& f) { return type.Find(f.number)->is_map; };
  std::stable_sort(fields.begin(), fields.end(), [&](const WireField& a, const WireField& b) {
    if (a.number != b.number) return a.number < b.number;
    return is_map(a) && KeyOf(a.bytes) < KeyOf(b.bytes);
  });
  std::string out;
  out.reserve(message.size());
  for (size_t i = 0; i < fields.size(); ++i) {
    const WireField& f = fields[i];
    const bool more = i + 1 < fields.size() && fields[i + 1].number == f.number;
    if (more && is_map(f) && KeyOf(f.bytes) == KeyOf(fields[i + 1].bytes)) continue;
    if (!more || !type.Find(f.number)->packed) {
      out.append(f.raw);
      continue;
    }
    std::string values;
    for (; i < fields.size() && fields[i].number == f.number; ++i) values.append(fields[i].bytes);
    --i;
    WireWriter(&out).Bytes(f.number, values);
  }
  return out;
}

// --- Reading.

bool IsLetter(char c) { return absl::ascii_isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool IsWordChar(char c) { return IsLetter(c) || (c >= '0' && c <= '9'); }

// Writes the bytes while it reads the text. A function that returns false ends the attempt: the
// caller goes to protobuf's parser.
class PlainParser {
 public:
  PlainParser(std::string_view text, int64_t max_depth)
      : p_(text.data()), end_(p_ + text.size()), column_at_(p_) {
    depth_left_ = static_cast<int>(std::clamp<int64_t>(max_depth - 1, 0, kMostDepth));
    // About what the bytes of a graph take; text has names of fields, quotes and blanks besides.
    out_.reserve(text.size() / 3);
  }

  std::optional<TextGraph> Parse() {
    if (!ParseFields(GraphType(), '\0') || out_.size() > INT_MAX) return std::nullopt;
    return TextGraph{std::move(out_), std::move(positions_)};
  }

 private:
  static constexpr int kMostDepth = 64;

  // The state of a message that is being written.
  struct Message {
    const MessageType& type;
    size_t begin;
    uint64_t seen = 0, oneofs = 0;  // by index
    uint32_t last = 0;              // field number
    bool ordered = true;
    uint32_t packed = 0;  // the field that takes more values; 0: none
    size_t packed_length_at = 0;
    size_t entry_at = 0;  // the last entry of the map `last`
  };

  // Skips blanks and comments.
  void Skip() {
    while (p_ != end_) {
      switch (*p_) {
        case '\n':
          ++line_;
          column_at_ = ++p_;
          column_ = 0;
          break;
        case ' ':
        case '\t':
        case '\r':
        case '\v':
        case '\f':
          ++p_;
          break;
        case '#': {
          const void* const newline = std::memchr(p_, '\n', static_cast<size_t>(end_ - p_));
          p_ = newline == nullptr ? end_ : static_cast<const char*>(newline);
          break;
        }
        default:
          return;
      }
    }
  }
  bool At(char c) const { return p_ != end_ && *p_ == c; }
  bool Take(char c) {
    if (!At(c)) return false;
    ++p_;
    return true;
  }

  std::string_view Word() {
    const char* const begin = p_;
    if (p_ != end_ && IsLetter(*p_)) {
      while (p_ != end_ && IsWordChar(*p_)) ++p_;
    }
    return {begin, static_cast<size_t>(p_ - begin)};
  }

  // Columns count from 1; a tab goes on to the next multiple of 8, as in protobuf.
  SourcePos PosOf(const char* at) {  // on the line of p_
    for (; column_at_ != at; ++column_at_) column_ += *column_at_ == '\t' ? 8 - column_ % 8 : 1;
    return {line_, column_ + 1, 0};
  }

  void Place(const Field& field, SourcePos pos) {
    if (field.placed == Placed::kNode) positions_.nodes.push_back(pos);
    if (field.placed == Placed::kFunction) positions_.functions.push_back(pos);
    if (field.placed == Placed::kVersions) positions_.versions = pos;
  }

  // Parses fields up to `close`; '\0' stands for the end of the text.
  bool ParseFields(const MessageType& type, char close) {
    Message m{type, out_.size()};
    for (Skip();; Skip()) {
      if (p_ == end_) {
        if (close != '\0') return false;
        break;
      }
      if (close != '\0' && Take(close)) break;
      if (!ParseField(m)) return false;
    }
    ClosePacked(m);
    // protobuf writes key and value of an entry even where the text leaves one out: rare enough for
    // its own parser.
    if (type.is_map_entry && m.seen != 0b11) return false;
    if (m.ordered) return true;
    std::string ordered = InOrder(type, std::string_view(out_).substr(m.begin));
    out_.replace(m.begin, std::string::npos, ordered);
    return true;
  }

  bool ParseField(Message& m) {
    const char* const name = p_;
    const auto found = m.type.fields.find(Word());
    if (found == m.type.fields.end()) return false;
    const Field& field = found->second;
    if (field.placed != Placed::kNo) Place(field, PosOf(name));
    Skip();
    const bool colon = Take(':');
    if (!colon && field.message == nullptr) return false;
    Skip();
    if (At('[')) {
      if (!field.repeated || field.placed != Placed::kNo || !ParseList(m, field)) return false;
    } else if (!ParseValue(m, field)) {
      return false;
    }
    Skip();
    if (!Take(',')) Take(';');
    return true;
  }

  bool ParseList(Message& m, const Field& field) {
    ++p_;
    Skip();
    if (Take(']')) return true;
    for (;;) {
      if (!ParseValue(m, field)) return false;
      Skip();
      if (Take(']')) return true;
      if (!Take(',')) return false;
      Skip();
    }
  }

  // One value, with its tag.
  bool ParseValue(Message& m, const Field& field) {
    if (!field.repeated) {
      const uint64_t bit = uint64_t{1} << field.index;
      const uint64_t oneof = field.oneof < 0 ? 0 : uint64_t{1} << field.oneof;
      if ((m.seen & bit) != 0 || (m.oneofs & oneof) != 0) return false;  // given twice
      m.seen |= bit;
      m.oneofs |= oneof;
    }
    if (field.packed) {
      if (m.packed != field.number) OpenPacked(m, field);
      return ParseScalar(field);
    }
    ClosePacked(m);
    const size_t begin = out_.size();
    const bool has_length = field.message != nullptr || IsText(field);
    WriteTag(field.number, has_length ? WireType::kBytes : WireTypeOf(field));
    const size_t value = out_.size();
    if (has_length) out_.push_back('\0');
    if (field.message != nullptr ? !ParseMessage(field) : !ParseScalar(field)) return false;
    if (has_length) WriteLength(value);
    if (!field.always_written && IsDefault(value, has_length)) {
      out_.resize(begin);
      return true;
    }
    if (field.number < m.last) m.ordered = false;
    if (field.is_map) {
      if (field.number == m.last && KeyOfField(m.entry_at) >= KeyOfField(begin)) m.ordered = false;
      m.entry_at = begin;
    }
    m.last = field.number;
    return true;
  }

  bool ParseMessage(const Field& field) {
    const char close = At('{') ? '}' : At('<') ? '>' : '\0';
    if (close == '\0' || depth_left_ == 0) return false;
    ++p_;
    --depth_left_;
    if (!ParseFields(*field.message, close)) return false;
    ++depth_left_;
    return true;
  }

  static bool IsText(const Field& f) {
    return f.type == gp::FieldDescriptor::TYPE_STRING || f.type == gp::FieldDescriptor::TYPE_BYTES;
  }
  static WireType WireTypeOf(const Field& f) {
    return f.type == gp::FieldDescriptor::TYPE_FLOAT    ? WireType::kFixed32
           : f.type == gp::FieldDescriptor::TYPE_DOUBLE ? WireType::kFixed64
                                                        : WireType::kVarint;
  }

  // The value alone, of any type but a message.
  bool ParseScalar(const Field& field) {
    switch (field.type) {
      case gp::FieldDescriptor::TYPE_STRING:
      case gp::FieldDescriptor::TYPE_BYTES:
        return ParseStrings();
      case gp::FieldDescriptor::TYPE_INT32:
        return ParseInteger(INT32_MAX, true);
      case gp::FieldDescriptor::TYPE_INT64:
        return ParseInteger(INT64_MAX, true);
      case gp::FieldDescriptor::TYPE_UINT32:
        return ParseInteger(UINT32_MAX, false);
      case gp::FieldDescriptor::TYPE_UINT64:
        return ParseInteger(UINT64_MAX, false);
      case gp::FieldDescriptor::TYPE_BOOL: {
        const std::string_view word = Word();
        WireWriter(&out_).RawVarint(word == "true" ? 1 : 0);
        return word == "true" || word == "false";
      }
      case gp::FieldDescriptor::TYPE_ENUM: {
        const auto it = field.enumerators.find(Word());
        if (it == field.enumerators.end()) return false;
        WireWriter(&out_).RawVarint(static_cast<uint64_t>(int64_t{it->second}));
        return true;
      }
      case gp::FieldDescriptor::TYPE_FLOAT: {
        double value;
        if (!ParseNumber(value)) return false;
        // Through double, as protobuf does. Finite doubles beyond float's range go to protobuf's
        // parser.
        if (std::abs(value) > std::numeric_limits<float>::max() && !std::isinf(value)) return false;
        return WriteRaw(static_cast<float>(value));
      }
      case gp::FieldDescriptor::TYPE_DOUBLE: {
        double value;
        return ParseNumber(value) && WriteRaw(value);
      }
      default:
        return false;
    }
  }

  // Whether the number ends at p_: "1x" and "1.2.3" are errors that protobuf's parser reports.
  bool NumberEnds() const { return p_ == end_ || (!IsWordChar(*p_) && *p_ != '.'); }
  // Octal and hexadecimal numbers.
  bool StartsWithZero() const { return end_ - p_ > 1 && *p_ == '0' && (IsWordChar(p_[1])); }

  bool ParseInteger(uint64_t max, bool is_signed) {
    const bool negative = is_signed && Take('-');
    uint64_t value;
    if (p_ == end_ || !absl::ascii_isdigit(static_cast<unsigned char>(*p_)) || StartsWithZero())
      return false;
    const auto [next, error] = std::from_chars(p_, end_, value);
    if (error != std::errc() || value > max + (negative ? 1 : 0)) return false;
    p_ = next;
    WireWriter(&out_).RawVarint(negative ? uint64_t{0} - value : value);
    return NumberEnds();
  }

  bool ParseNumber(double& value) {
    const bool negative = Take('-');
    if (p_ != end_ && IsLetter(*p_)) {
      const std::string_view word = Word();
      if (word != "inf" && (word != "nan" || negative)) return false;
      value = word == "nan" ? std::numeric_limits<double>::quiet_NaN()
                            : std::numeric_limits<double>::infinity();
    } else {
      const bool starts =
          p_ != end_ &&
          (absl::ascii_isdigit(static_cast<unsigned char>(*p_)) ||
           (*p_ == '.' && end_ - p_ > 1 && absl::ascii_isdigit(static_cast<unsigned char>(p_[1]))));
      const bool integer_of_another_base = StartsWithZero() && p_[1] != 'e' && p_[1] != 'E';
      if (!starts || integer_of_another_base) return false;
      const auto [next, error] = std::from_chars(p_, end_, value);
      if (error != std::errc()) return false;
      p_ = next;
      if (!NumberEnds()) return false;
    }
    if (negative) value = -value;
    return true;
  }

  template <typename T>
  bool WriteRaw(T value) {
    char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    out_.append(bytes, sizeof(T));
    return true;
  }

  // Strings that follow each other are one.
  bool ParseStrings() {
    if (!At('"') && !At('\'')) return false;
    while (At('"') || At('\'')) {
      if (!ParseString()) return false;
      // What follows a value may stand on the next line: nothing is lost by skipping it here.
      Skip();
    }
    return true;
  }

  bool ParseString() {
    const char quote = *p_++;
    for (;;) {
      const char* const begin = p_;
      while (p_ != end_ && *p_ != quote && *p_ != '\\' && *p_ != '\n') ++p_;
      out_.append(begin, static_cast<size_t>(p_ - begin));
      if (Take(quote)) return true;
      if (!At('\\') || !ParseEscape()) return false;
    }
  }

  bool ParseEscape() {
    if (end_ - p_ < 2) return false;
    const char c = p_[1];
    p_ += 2;
    constexpr std::string_view kNames = "abfnrtv\\?'\"", kMeant = "\a\b\f\n\r\t\v\\?'\"";
    if (const size_t i = kNames.find(c); i != std::string_view::npos) {
      out_.push_back(kMeant[i]);
      return true;
    }
    // Three octal digits, as printed by tools; fewer, and other bases, are protobuf's business.
    const auto octal = [&](const char* at) { return at < end_ && *at >= '0' && *at <= '7'; };
    if (c < '0' || c > '3' || !octal(p_) || !octal(p_ + 1)) return false;
    out_.push_back(static_cast<char>((c - '0') * 64 + (p_[0] - '0') * 8 + (p_[1] - '0')));
    p_ += 2;
    return true;
  }

  void WriteTag(uint32_t number, WireType type) {
    WireWriter(&out_).RawVarint(number << 3 | static_cast<uint32_t>(type));
  }

  // Replaces the byte at `at` by the length of the bytes behind it. One byte suffices for most
  // messages, so that little is moved.
  void WriteLength(size_t at) {
    const size_t length = out_.size() - at - 1;
    if (length < 0x80) {
      out_[at] = static_cast<char>(length);
      return;
    }
    std::string varint;
    WireWriter(&varint).RawVarint(length);
    out_.replace(at, 1, varint);
  }

  bool IsDefault(size_t value, bool has_length) const {
    if (has_length) return out_.size() == value + 1;
    return std::all_of(out_.begin() + static_cast<ptrdiff_t>(value), out_.end(),
                       [](char c) { return c == 0; });
  }

  MapKey KeyOfField(size_t at) const {
    WireReader reader(std::string_view(out_).substr(at));
    WireField entry;
    reader.Next(&entry);
    return KeyOf(entry.bytes);
  }

  void OpenPacked(Message& m, const Field& field) {
    ClosePacked(m);
    if (field.number <= m.last) m.ordered = false;
    m.last = m.packed = field.number;
    WriteTag(field.number, WireType::kBytes);
    m.packed_length_at = out_.size();
    out_.push_back('\0');
  }
  void ClosePacked(Message& m) {
    if (m.packed != 0) WriteLength(m.packed_length_at);
    m.packed = 0;
  }

  const char* p_;
  const char* const end_;
  uint32_t line_ = 1;
  const char* column_at_;  // on this line: column_ is that of this place
  uint32_t column_ = 0;
  int depth_left_;
  std::string out_;
  TextPositions positions_;
};

}  // namespace

std::optional<TextGraph> ParsePlainGraphText(std::string_view text, int64_t max_depth) {
  // A byte of 0 is an error wherever it stands.
  if (text.size() > INT_MAX || text.find('\0') != text.npos) return std::nullopt;
  return PlainParser(text, max_depth).Parse();
}

}  // namespace tenon
