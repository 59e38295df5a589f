#include "graph_def_wire.h"

namespace apu {
namespace {

enum WireType { kVarint = 0, kFixed64 = 1, kLengthDelimited = 2, kFixed32 = 5 };

bool ParseAttr(const Field& entry, Node::Attr* attr) {
  FieldReader fields(entry.bytes);
  for (Field field; fields.Next(&field);) {
    if (field.number == 1) attr->name = field.bytes;
    if (field.number == 2) attr->value = field.bytes;
  }
  attr->raw = entry.raw;
  return fields.ok();
}

bool ParseNode(std::string_view message, Node* node) {
  node->message = message;
  FieldReader fields(message);
  for (Field field; fields.Next(&field);) {
    switch (field.number) {
      case kNodeDefName:
        node->name = field.bytes;
        break;
      case kNodeDefOp:
        node->op = field.bytes;
        break;
      case kNodeDefInput:
        node->inputs.push_back(field.bytes);
        break;
      case kNodeDefDevice:
        node->device = field.bytes;
        break;
      case kNodeDefAttr:
        if (!ParseAttr(field, &node->attrs.emplace_back())) return false;
        break;
      default:
        node->others.push_back(field.raw);
    }
  }
  return fields.ok();
}

// The last occurrence of a field counts, as in protobuf.
Field FindField(std::string_view message, int number) {
  Field found;
  FieldReader fields(message);
  for (Field field; fields.Next(&field);) {
    if (field.number == number) found = field;
  }
  return found;
}

std::string_view FindAttr(const Node& node, std::string_view name) {
  for (const Node::Attr& attr : node.attrs) {
    if (attr.name == name) return attr.value;
  }
  return {};
}

}  // namespace

bool FieldReader::ReadVarint(uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    *value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool FieldReader::Take(uint64_t size, std::string_view* bytes) {
  if (size > rest_.size()) return false;
  *bytes = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return true;
}

bool FieldReader::Next(Field* field) {
  if (!ok_ || rest_.empty()) return false;
  const char* start = rest_.data();
  *field = Field();
  uint64_t tag = 0;
  uint64_t size = 0;
  ok_ = ReadVarint(&tag) && tag >> 3 != 0 && tag >> 3 < (1u << 29);
  if (!ok_) return false;
  field->number = static_cast<int>(tag >> 3);
  field->wire_type = static_cast<int>(tag & 7);
  switch (field->wire_type) {
    case kVarint:
      ok_ = ReadVarint(&field->varint);
      break;
    case kFixed64:
      ok_ = Take(8, &field->bytes);
      break;
    case kLengthDelimited:
      ok_ = ReadVarint(&size) && Take(size, &field->bytes);
      break;
    case kFixed32:
      ok_ = Take(4, &field->bytes);
      break;
    default:
      ok_ = false;
  }
  field->raw = std::string_view(start, static_cast<size_t>(rest_.data() - start));
  return ok_;
}

void AppendVarint(std::string* out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>(value | 0x80));
  out->push_back(static_cast<char>(value));
}

void AppendBytesField(std::string* out, int number, std::string_view bytes) {
  AppendVarint(out, static_cast<uint64_t>(number) << 3 | kLengthDelimited);
  AppendVarint(out, bytes.size());
  out->append(bytes);
}

uint64_t Node::TypeAttr(std::string_view attr) const {
  return FindField(FindAttr(*this, attr), kAttrValueType).varint;
}

std::string_view Node::StringAttr(std::string_view attr) const {
  return FindField(FindAttr(*this, attr), kAttrValueString).bytes;
}

bool ParseGraph(std::string_view bytes, Graph* graph) {
  FieldReader fields(bytes);
  for (Field field; fields.Next(&field);) {
    if (field.number == kGraphDefNode) {
      if (!ParseNode(field.bytes, &graph->nodes.emplace_back())) return false;
    } else {
      graph->others.push_back(field.raw);
    }
  }
  return fields.ok();
}

}  // namespace apu
