#include "tables.h"

#include <array>
#include <cstring>

namespace pjref {
namespace {

[[noreturn]] void NotBuilt(const std::string& what) {
  throw Refusal(Code::kUnimplemented, "the bytecode has " + what + ", which is not supported");
}

// VHLO's enumerations, by the codes of their attributes.
std::string WordOf(uint64_t code, uint64_t value) {
  static const std::map<uint64_t, std::vector<std::string>> kWords = {
      {3, {"EQ", "NE", "GE", "GT", "LE", "LT"}},
      {4, {"NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"}},
      {5,
       {"API_VERSION_UNSPECIFIED", "API_VERSION_ORIGINAL", "API_VERSION_STATUS_RETURNING",
        "API_VERSION_STATUS_RETURNING_UNIFIED", "API_VERSION_TYPED_FFI"}},
      {7, {"FFT", "IFFT", "RFFT", "IRFFT"}},
      {11, {"DEFAULT", "HIGH", "HIGHEST"}},
      {12, {"DEFAULT", "THREE_FRY", "PHILOX"}},
      {13, {"", "UNIFORM", "NORMAL"}},
      {16, {"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"}},
      {19, {"DEFAULT", "HIGHEST", "TOLERANCE"}},
  };
  const auto words = kWords.find(code);
  if (words == kWords.end()) return {};
  if (value >= words->second.size()) ByteReader::Fail("a case of an enumeration is unknown");
  return words->second[value];
}

// How many attributes there may be within others. Attributes are copied into those that hold them,
// so a short file can double them again and again.
constexpr uint64_t kCopied = 1 << 22, kCopiedForEach = 64;

uint64_t CountOf(const Attribute& attribute) {
  uint64_t count = 1;
  for (const Attribute& item : attribute.items) count += CountOf(item);
  return count;
}

Element ElementOf(uint64_t code) {
  switch (code) {
    case 0:
      return Element::kI1;
    case 2:
      return Element::kBF16;
    case 3:
      return Element::kF16;
    case 4:
      return Element::kF32;
    case 5:
      return Element::kF64;
    case 9:  // index
    case 14:
      return Element::kI64;
    case 11:
      return Element::kI8;
    case 12:
      return Element::kI16;
    case 13:
      return Element::kI32;
    case 16:
      return Element::kU8;
    case 17:
      return Element::kU16;
    case 18:
      return Element::kU32;
    case 19:
      return Element::kU64;
    case 22:
      return Element::kToken;
    default:
      return Element::kInvalid;
  }
}

// Bits of i1 stand 8 in a byte, or each in one of its own.
void UnpackBools(std::string_view data, const Array& out) {
  const auto count = static_cast<uint64_t>(out.count());
  for (uint64_t i = 0; i < count; ++i) {
    const bool packed = data.size() == (count + 7) / 8;
    const uint64_t at = data.size() == count ? i : packed ? i / 8 : 0;
    const auto byte = static_cast<unsigned char>(data[at]);
    out.data<uint8_t>()[i] = packed && data.size() != count ? byte >> (i % 8) & 1 : byte != 0;
  }
}

}  // namespace

void Tables::ReadTexts(std::string_view section) {
  ByteReader reader(section);
  const uint64_t count = reader.Count();
  std::vector<uint64_t> sizes(count);
  for (uint64_t i = count; i-- > 0;) sizes[i] = reader.Number();
  for (uint64_t size : sizes) {
    const std::string_view text = reader.Bytes(size);
    texts_.emplace_back(text.substr(0, text.empty() ? 0 : text.size() - 1));
  }
}

void Tables::ReadDialects(std::string_view section, uint64_t version, const char* start) {
  ByteReader reader(section);
  const uint64_t count = reader.Count();
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t number = reader.Number();
    dialects_.push_back(TextAt(version >= 1 ? number >> 1 : number));
    if (version < 1 || !(number & 1)) continue;
    // A version, which is a section of its own.
    const uint8_t id = reader.Byte();
    const uint64_t size = reader.Number();
    if (id & 0x80) reader.Align(start, reader.Number());
    reader.Bytes(size);
  }
  if (version >= 4) reader.Number();  // How many names there are.
  while (!reader.AtEnd()) {
    const uint64_t dialect = reader.Number();
    if (dialect >= dialects_.size()) ByteReader::Fail("a dialect is unknown");
    const uint64_t names = reader.Count();
    for (uint64_t i = 0; i < names; ++i) {
      const uint64_t number = reader.Number();
      ops_.push_back(dialects_[dialect] + "." + TextAt(version >= 5 ? number >> 1 : number));
    }
  }
}

void Tables::ReadOffsets(std::string_view offsets, std::string_view section) {
  ByteReader sizes(offsets), data(section);
  const uint64_t attributes = sizes.Count(), types = sizes.Count();
  ReadEntries(&sizes, attributes, &data, &attributes_);
  ReadEntries(&sizes, types, &data, &types_);
}

void Tables::ReadProperties(std::string_view section) {
  if (section.empty()) return;
  ByteReader reader(section);
  const uint64_t count = reader.Count();
  for (uint64_t i = 0; i < count; ++i) properties_.push_back(reader.Bytes(reader.Number()));
}

void Tables::ReadEntries(ByteReader* offsets, uint64_t count, ByteReader* section,
                         std::vector<Entry>* entries) const {
  while (entries->size() < count) {
    const uint64_t dialect = offsets->Number(), group = offsets->Count();
    if (dialect >= dialects_.size() || group == 0 || group > count - entries->size())
      ByteReader::Fail("a group of entries is wrong");
    for (uint64_t i = 0; i < group; ++i) {
      const uint64_t size = offsets->Number();
      entries->push_back({section->Bytes(size >> 1), dialect, (size & 1) != 0});
    }
  }
}

const std::string& Tables::TextAt(uint64_t number) const {
  if (number >= texts_.size()) ByteReader::Fail("a text is unknown");
  return texts_[number];
}

const std::string& Tables::OpName(uint64_t number) const {
  if (number >= ops_.size()) ByteReader::Fail("the name of an op is unknown");
  return ops_[number];
}

const std::string& Tables::DialectOf(const Entry& entry) const { return dialects_[entry.dialect]; }

Tables::Depth::Depth(int* depth) : depth_(depth) {
  if (*depth_ >= kMaxDepth) ByteReader::Fail("types and attributes are nested too deeply");
  ++*depth_;
}

const Attribute& Tables::AttributeAt(uint64_t number) {
  const auto known = read_attributes_.find(number);
  if (known != read_attributes_.end()) return known->second;
  if (number >= attributes_.size()) ByteReader::Fail("an attribute is unknown");
  Entry& entry = attributes_[number];
  if (entry.busy) ByteReader::Fail("an attribute contains itself");
  entry.busy = true;
  const Depth depth(&depth_);
  Attribute made;
  if (DialectOf(entry) == "vhlo" && entry.encoded) {
    made = ReadVhloAttribute(ByteReader(entry.bytes));
  } else if (DialectOf(entry) == "builtin" && entry.encoded) {
    made = ReadBuiltinAttribute(ByteReader(entry.bytes));
  }  // Of other dialects nothing is asked.
  return read_attributes_[number] = std::move(made);
}

const Attribute& Tables::ToCopy(uint64_t number) {
  const Attribute& attribute = AttributeAt(number);
  copied_ += CountOf(attribute);
  if (copied_ > kCopied + kCopiedForEach * attributes_.size())
    ByteReader::Fail("attributes hold too many others");
  return attribute;
}

const FileType& Tables::TypeAt(uint64_t number) {
  const auto known = read_types_.find(number);
  if (known != read_types_.end()) return known->second;
  if (number >= types_.size()) ByteReader::Fail("a type is unknown");
  Entry& entry = types_[number];
  if (entry.busy) ByteReader::Fail("a type contains itself");
  entry.busy = true;
  const Depth depth(&depth_);
  if (DialectOf(entry) != "vhlo" || !entry.encoded)
    NotBuilt("a type of dialect '" + DialectOf(entry) + "'");
  return read_types_[number] = ReadVhloType(ByteReader(entry.bytes));
}

Attribute Tables::ReadDictionary(ByteReader* reader) {
  Attribute made;
  made.kind = Attribute::Kind::kDictionary;
  const uint64_t count = reader->Count();
  for (uint64_t i = 0; i < count; ++i) {
    const std::string key = AttributeAt(reader->Number()).text;
    made.Set(key, ToCopy(reader->Number()));
  }
  return made;
}

// Of MLIR's own attributes those that hold an op's: a dictionary, and the names in it.
Attribute Tables::ReadBuiltinAttribute(ByteReader reader) {
  Attribute made;
  const uint64_t code = reader.Number();
  if (code == 1) return ReadDictionary(&reader);
  if (code == 2) {
    made.kind = Attribute::Kind::kString;
    made.text = TextAt(reader.Number());
  }
  return made;
}

Attribute Tables::ReadNumber(ByteReader* reader) {
  const Element element = TypeAt(reader->Number()).type.element;
  const size_t size = ByteSize(element);
  if (size == 0 || size > 8) NotBuilt("a number of an unknown type");
  const int64_t bits = size == 1 ? static_cast<int8_t>(reader->Byte()) : reader->Signed();
  if (!IsFloat(element)) return Attribute::Integer(element == Element::kI1 ? bits & 1 : bits);
  Attribute made;
  made.kind = Attribute::Kind::kFloat;
  Array one({element, {}});
  std::memcpy(one.data(), &bits, size);
  made.number = LoadAll<double>(one)[0];
  return made;
}

Attribute Tables::ReadTensor(ByteReader* reader) {
  const Type type = TypeAt(reader->Number()).type;
  const std::string_view data = reader->Bytes(reader->Number());
  if (!IsNumber(type.element)) ByteReader::Fail("a constant has no numbers");
  Attribute made;
  made.kind = Attribute::Kind::kDense;
  made.dense = Array(type);
  const auto count = static_cast<uint64_t>(type.count());
  const size_t size = ByteSize(type.element);
  if (count == 0) return made;
  if (type.element == Element::kI1 &&
      (data.size() == 1 || data.size() == count || data.size() == (count + 7) / 8)) {
    UnpackBools(data, made.dense);
  } else if (data.size() == type.bytes()) {
    std::memcpy(made.dense.data(), data.data(), data.size());
  } else if (data.size() == size) {
    for (uint64_t i = 0; i < count; ++i)
      std::memcpy(made.dense.data() + i * size, data.data(), size);
  } else {
    ByteReader::Fail("a constant has another size than its type");
  }
  return made;
}

Attribute Tables::ReadVhloAttribute(ByteReader reader) {
  Attribute made;
  const uint64_t code = reader.Number();
  switch (code) {
    case 1: {  // array
      made.kind = Attribute::Kind::kArray;
      const uint64_t count = reader.Count();
      for (uint64_t i = 0; i < count; ++i) made.items.push_back(ToCopy(reader.Number()));
      return made;
    }
    case 2:  // boolean
      return Attribute::Integer(reader.Number() != 0);
    case 6:
      return ReadDictionary(&reader);
    case 8:
    case 9:
      return ReadNumber(&reader);
    case 14:
      made.kind = Attribute::Kind::kString;
      made.text = TextAt(reader.Number());
      return made;
    case 15:
      return ReadTensor(&reader);
    case 17:
      // The number stays a number: functions ask for their type by it.
      made.kind = Attribute::Kind::kType;
      made.integer = static_cast<int64_t>(reader.Number());
      return made;
    default: {
      const std::string word =
          WordOf(code, code == 10 || code == 18 || code >= 20 ? 0 : reader.Number());
      return word.empty() ? made : Attribute::Word(word);
    }
  }
}

std::vector<Type> Tables::ReadTypes(ByteReader* reader) {
  std::vector<Type> types(reader->Count());
  for (Type& type : types) type = TypeAt(reader->Number()).type;
  return types;
}

FileType Tables::ReadVhloType(ByteReader reader) {
  FileType made;
  const uint64_t code = reader.Number();
  if (code == 1) {  // complex
    const Element part = TypeAt(reader.Number()).type.element;
    made.type.element = part == Element::kF32 ? Element::kC64 : Element::kC128;
  } else if (code == 8) {
    made.is_function = true;
    made.inputs = ReadTypes(&reader);
    made.outputs = ReadTypes(&reader);
  } else if (code == 20) {  // ranked tensor
    const uint64_t rank = reader.Count();
    for (uint64_t i = 0; i < rank; ++i) made.type.dims.push_back(reader.Signed());
    made.type.element = TypeAt(reader.Number()).type.element;
    for (int64_t dim : made.type.dims) {
      if (dim < 0)
        throw Refusal(Code::kInvalidArgument,
                      "Unbounded dynamism is disabled: every dimension must be known");
    }
    if (!FitsMemory(made.type)) ByteReader::Fail("a shape has too many elements");
  } else {
    made.type.element = ElementOf(code);
    if (made.type.element == Element::kInvalid)
      NotBuilt("type " + std::to_string(code) + " of the dialect vhlo");
  }
  return made;
}

}  // namespace pjref
