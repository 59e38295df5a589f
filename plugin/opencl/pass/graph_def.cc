#include "graph_def.h"

#include <cstring>

#include "../device/status.h"
#include "../device/wire.h"

namespace opencl {
namespace {

// Field numbers.
constexpr int kGraphNode = 1;
constexpr int kName = 1, kOp = 2, kInput = 3, kDevice = 4, kAttr = 5;
constexpr int kKey = 1, kValue = 2;
constexpr int kAttrList = 1, kAttrString = 2, kAttrFloat = 4, kAttrBool = 5, kAttrType = 6,
              kAttrTensor = 8;

[[noreturn]] void Malformed() {
  throw Error(TF_INVALID_ARGUMENT, "OpenCL: the graph is not a GraphDef");
}

NodeView::Attr ParseAttr(const Field& field) {
  NodeView::Attr attr;
  attr.whole = field.whole;
  FieldReader reader(field.content);
  for (Field part; reader.Next(&part);) {
    if (part.number == kKey) attr.name = part.content;
    if (part.number == kValue) attr.value = part.content;
  }
  return attr;
}

NodeView ParseNode(const Field& field) {
  NodeView node;
  node.whole = field.whole;
  FieldReader reader(field.content);
  for (Field part; reader.Next(&part);) {
    switch (part.number) {
      case kName:
        node.name = part.content;
        break;
      case kOp:
        node.op = part.content;
        break;
      case kInput:
        node.inputs.push_back(part.content);
        break;
      case kDevice:
        node.device = part.content;
        break;
      case kAttr:
        node.attrs.push_back(ParseAttr(part));
        break;
      default:
        node.others.push_back(part.whole);
    }
  }
  return node;
}

// Field `number` of the attribute's value.
std::optional<Field> Part(const NodeView::Attr* attr, int number) {
  if (attr == nullptr) return std::nullopt;
  std::optional<Field> found;
  FieldReader reader(attr->value);
  for (Field part; reader.Next(&part);) {
    if (part.number == number) found = part;
  }
  return found;
}

void AppendAttr(std::string* node, std::string_view name, std::string_view value) {
  std::string entry;
  AppendBytesField(&entry, kKey, name);
  AppendBytesField(&entry, kValue, value);
  AppendBytesField(node, kAttr, entry);
}

}  // namespace

uint64_t FieldReader::Varint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (rest_.empty()) Malformed();
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return value;
  }
  Malformed();
}

std::string_view FieldReader::Take(uint64_t size) {
  if (size > rest_.size()) Malformed();
  const std::string_view taken = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return taken;
}

bool FieldReader::Next(Field* field) {
  if (rest_.empty()) return false;
  const std::string_view all = rest_;
  const uint64_t tag = Varint();
  constexpr uint64_t kMostNumber = (uint64_t{1} << 29) - 1;
  if (tag >> 3 == 0 || tag >> 3 > kMostNumber) Malformed();
  *field = {};
  field->number = static_cast<int>(tag >> 3);
  switch (tag & 7) {
    case 0:
      field->varint = Varint();
      break;
    case 1:
      field->content = Take(8);
      break;
    case 2:
      field->content = Take(Varint());
      break;
    case 5:
      field->content = Take(4);
      break;
    default:
      Malformed();
  }
  field->whole = all.substr(0, all.size() - rest_.size());
  return true;
}

const NodeView::Attr* NodeView::Find(std::string_view attr) const {
  // Of several entries of a map with one key the last counts.
  for (size_t i = attrs.size(); i-- > 0;) {
    if (attrs[i].name == attr) return &attrs[i];
  }
  return nullptr;
}

std::optional<TF_DataType> NodeView::Type(std::string_view attr) const {
  const std::optional<Field> part = Part(Find(attr), kAttrType);
  if (!part) return std::nullopt;
  return static_cast<TF_DataType>(part->varint);
}

std::optional<std::string_view> NodeView::String(std::string_view attr) const {
  const std::optional<Field> part = Part(Find(attr), kAttrString);
  if (!part) return std::nullopt;
  return part->content;
}

std::optional<std::string_view> NodeView::Tensor(std::string_view attr) const {
  const std::optional<Field> part = Part(Find(attr), kAttrTensor);
  if (!part) return std::nullopt;
  return part->content;
}

std::optional<float> NodeView::Float(std::string_view attr) const {
  const std::optional<Field> part = Part(Find(attr), kAttrFloat);
  if (!part || part->content.size() != sizeof(float)) return std::nullopt;
  float value = 0;
  std::memcpy(&value, part->content.data(), sizeof(value));
  return value;
}

std::optional<bool> NodeView::Bool(std::string_view attr) const {
  const std::optional<Field> part = Part(Find(attr), kAttrBool);
  if (!part) return std::nullopt;
  return part->varint != 0;
}

GraphView ParseGraph(std::string_view bytes) {
  GraphView graph;
  FieldReader reader(bytes);
  for (Field field; reader.Next(&field);) {
    if (field.number == kGraphNode) {
      graph.nodes.push_back(ParseNode(field));
    } else {
      graph.others.push_back(field.whole);
    }
  }
  return graph;
}

void AppendNames(std::string* node, std::string_view name, std::string_view op,
                 std::string_view device) {
  AppendBytesField(node, kName, name);
  AppendBytesField(node, kOp, op);
  AppendBytesField(node, kDevice, device);
}

void AppendInput(std::string* node, std::string_view input) {
  AppendBytesField(node, kInput, input);
}

void AppendTypeAttr(std::string* node, std::string_view name, TF_DataType type) {
  std::string value;
  AppendVarintField(&value, kAttrType, type);
  AppendAttr(node, name, value);
}

void AppendTypesAttr(std::string* node, std::string_view name,
                     const std::vector<TF_DataType>& types) {
  std::string numbers, list, value;
  for (const TF_DataType type : types) AppendVarint(&numbers, type);
  AppendBytesField(&list, kAttrType, numbers);
  AppendBytesField(&value, kAttrList, list);
  AppendAttr(node, name, value);
}

void AppendFloatAttr(std::string* node, std::string_view name, float value) {
  std::string bytes(1, static_cast<char>(kAttrFloat << 3 | 5));
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
  AppendAttr(node, name, bytes);
}

void AppendStringAttr(std::string* node, std::string_view name, std::string_view text) {
  std::string value;
  AppendBytesField(&value, kAttrString, text);
  AppendAttr(node, name, value);
}

void AppendNode(std::string* graph, std::string_view node) {
  AppendBytesField(graph, kGraphNode, node);
}

}  // namespace opencl
