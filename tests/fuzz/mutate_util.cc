#include "tests/fuzz/mutate_util.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/wire/wire.h"

namespace tenon::testing {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr std::array<std::string_view, 12> kBadInputs = {
    "", "^", ":", ":0", "x:", "x:-1", "^x", "^x:0", "a b:0", "x:1:2", "\xff\xfe", "no/such/node:3"};
constexpr std::array<std::string_view, 8> kBadDevices = {
    "/APU:0",         "nonsense", "/device:CPU:99999999999", "/job:other/device:CPU:0",
    "/device:NONE:0", "/",        "/device:CPU:*",           "//"};
constexpr std::array<std::string_view, 10> kPorts = {
    ":1",  ":2", ":7", ":255", ":65536", ":2147483647", ":4294967296", ":99999999999999999999",
    ":-1", ":x"};

// All set fields of a message and of those inside it; stops at `limit` to stay quick on large
// graphs.
void Collect(Message* message, std::vector<std::pair<Message*, const FieldDescriptor*>>* out,
             size_t limit) {
  std::vector<Message*> open = {message};
  while (!open.empty() && out->size() < limit) {
    Message* m = open.back();
    open.pop_back();
    const Reflection* reflection = m->GetReflection();
    std::vector<const FieldDescriptor*> fields;
    reflection->ListFields(*m, &fields);
    for (const FieldDescriptor* f : fields) {
      out->emplace_back(m, f);
      if (f->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
      if (!f->is_repeated()) {
        open.push_back(reflection->MutableMessage(m, f));
        continue;
      }
      for (int i = 0; i < reflection->FieldSize(*m, f); ++i)
        open.push_back(reflection->MutableRepeatedMessage(m, f, i));
    }
  }
}

std::string Field(uint32_t number, std::string_view bytes) {
  std::string out;
  WireWriter(&out).Bytes(number, bytes);
  return out;
}

// name and attr { "k": inner }, as a node's fields 1, 2 and 5.
std::string NodeAround(std::string_view attr_value) {
  const std::string entry = Field(1, "k") + Field(2, attr_value);
  return Field(1, Field(1, "deep") + Field(2, "NoOp") + Field(5, entry));
}

}  // namespace

int64_t Mutator::Extreme() {
  constexpr std::array<int64_t, 14> kValues = {0,
                                               1,
                                               -1,
                                               2,
                                               -2147483648LL,
                                               7,
                                               2147483647,
                                               4294967296,
                                               1000000,
                                               std::numeric_limits<int64_t>::max(),
                                               -7,
                                               255,
                                               1LL << 62,
                                               std::numeric_limits<int64_t>::min()};
  return kValues[Below(kValues.size())];
}

void Mutator::DamageInput(pb::GraphDef* graph) {
  if (graph->node_size() == 0) return;
  pb::NodeDef* node = graph->mutable_node(static_cast<int>(Below(graph->node_size())));
  const std::string other = graph->node(static_cast<int>(Below(graph->node_size()))).name();
  const int which = node->input_size() == 0 ? 0 : static_cast<int>(Below(node->input_size()));
  std::string* input = node->input_size() == 0 ? node->add_input() : node->mutable_input(which);
  switch (Below(6)) {
    case 0:
      *input = kBadInputs[Below(kBadInputs.size())];
      break;
    case 1:
      *input = absl::StrCat(other, kPorts[Below(kPorts.size())]);
      break;
    case 2:
      input->append(kPorts[Below(kPorts.size())]);
      break;
    case 3:
      *input = other;
      break;  // perhaps a cycle
    case 4:
      *node->add_input() = *input;
      break;
    default:
      *input = absl::StrCat("^", other);
      break;
  }
}

void Mutator::DamageNode(pb::GraphDef* graph) {
  if (graph->node_size() == 0) return;
  const int n = static_cast<int>(Below(graph->node_size()));
  const int other = static_cast<int>(Below(graph->node_size()));
  pb::NodeDef* node = graph->mutable_node(n);
  switch (Below(8)) {
    case 0:
      node->set_name(graph->node(other).name());
      break;
    case 1:
      node->set_op(graph->node(other).op());
      break;
    case 2:
      node->set_device(std::string(kBadDevices[Below(kBadDevices.size())]));
      break;
    case 3:
      *node->mutable_attr() = graph->node(other).attr();
      break;
    case 4:
      graph->mutable_node()->DeleteSubrange(n, 1);
      break;
    case 5:
      *graph->add_node() = graph->node(other);
      break;
    case 6:
      graph->mutable_node()->SwapElements(n, other);
      break;
    default:
      (*node->mutable_attr())["_class"].mutable_list()->add_s(
          absl::StrCat("loc:@", graph->node(other).name(), Below(2) ? "" : "x"));
      break;
  }
}

void Mutator::DamageValue(Message* m, const FieldDescriptor* f) {
  const Reflection* r = m->GetReflection();
  const int i = f->is_repeated() ? static_cast<int>(Below(r->FieldSize(*m, f))) : 0;
  const auto text = [&](std::string s) {
    Damage(&s);
    return s;
  };
  switch (f->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT64:
      f->is_repeated() ? r->SetRepeatedInt64(m, f, i, Extreme()) : r->SetInt64(m, f, Extreme());
      break;
    case FieldDescriptor::CPPTYPE_INT32:
      f->is_repeated() ? r->SetRepeatedInt32(m, f, i, static_cast<int32_t>(Extreme()))
                       : r->SetInt32(m, f, static_cast<int32_t>(Extreme()));
      break;
    case FieldDescriptor::CPPTYPE_ENUM: {
      const int value = Below(4) == 0 ? static_cast<int>(Extreme())
                                      : static_cast<int>(Below(40) + 100 * Below(2));
      f->is_repeated() ? r->SetRepeatedEnumValue(m, f, i, value) : r->SetEnumValue(m, f, value);
      break;
    }
    case FieldDescriptor::CPPTYPE_BOOL:
      if (!f->is_repeated()) r->SetBool(m, f, !r->GetBool(*m, f));
      break;
    case FieldDescriptor::CPPTYPE_FLOAT:
      if (!f->is_repeated())
        r->SetFloat(m, f, Below(2) ? std::numeric_limits<float>::quiet_NaN() : -1e38f);
      break;
    case FieldDescriptor::CPPTYPE_STRING:
      if (f->is_repeated()) {
        r->SetRepeatedString(m, f, i, text(r->GetRepeatedString(*m, f, i)));
      } else {
        r->SetString(m, f, text(r->GetString(*m, f)));
      }
      break;
    default:
      r->ClearField(m, f);
      break;
  }
}

void Mutator::DamageField(Message* message) {
  std::vector<std::pair<Message*, const FieldDescriptor*>> fields;
  Collect(message, &fields, 20000);
  if (fields.empty()) return;
  const auto [m, f] = fields[Below(fields.size())];
  const Reflection* r = m->GetReflection();
  if (Below(3) != 0) return DamageValue(m, f);
  if (f->is_repeated() && !f->is_map() && r->FieldSize(*m, f) > 0) {
    r->RemoveLast(m, f);
  } else {
    r->ClearField(m, f);
  }
}

void Mutator::DamageOnce(pb::GraphDef* graph) {
  switch (Below(4)) {
    case 0:
      return DamageInput(graph);
    case 1:
      return DamageNode(graph);
    default: {
      // Most damage inside one node, some to the library or anything else.
      if (graph->node_size() == 0 || Below(4) == 0) return DamageField(graph);
      return DamageField(graph->mutable_node(static_cast<int>(Below(graph->node_size()))));
    }
  }
}

void Mutator::Damage(pb::GraphDef* graph) {
  for (uint64_t i = Below(3) + 1; i > 0; --i) DamageOnce(graph);
}

void Mutator::DamageOnce(std::string* bytes) {
  if (bytes->empty()) {
    bytes->push_back(static_cast<char>(Below(256)));
    return;
  }
  const size_t at = Below(bytes->size());
  const size_t length = Below(std::min<size_t>(bytes->size() - at, 64)) + 1;
  switch (Below(7)) {
    case 0:
      (*bytes)[at] = static_cast<char>((*bytes)[at] ^ (1 << Below(8)));
      break;
    case 1:
      (*bytes)[at] = static_cast<char>(Below(256));
      break;
    case 2:
      (*bytes)[at] = Below(2) ? '\xff' : '\0';
      break;
    case 3:
      bytes->resize(at);
      break;
    case 4:
      bytes->erase(at, length);
      break;
    case 5:
      bytes->insert(at, bytes->substr(at, length));
      break;
    default:
      std::swap((*bytes)[at], (*bytes)[Below(bytes->size())]);
      break;
  }
}

void Mutator::Damage(std::string* bytes) {
  for (uint64_t i = Below(3) + 1; i > 0; --i) DamageOnce(bytes);
}

// The length of a message goes before it: built from the inside out, in reverse, so that the time
// is linear.
std::string DeepBinary(int depth) {
  std::string value;
  WireWriter(&value).Varint(3, 1);
  std::vector<std::string> heads;
  size_t size = value.size();
  const auto wrap = [&](uint32_t number, std::string_view before) {
    std::string head(before);
    WireWriter writer(&head);
    writer.RawVarint(number << 3 | 2);
    writer.RawVarint(size);
    size += head.size();
    heads.push_back(std::move(head));
  };
  for (int i = 0; i < depth; ++i) {
    wrap(2, Field(1, "k"));  // the entry's value
    wrap(2, Field(1, "f"));  // NameAttrList.attr
    wrap(10, "");            // AttrValue.func
  }
  std::string nest;
  nest.reserve(size);
  for (auto head = heads.rbegin(); head != heads.rend(); ++head) nest += *head;
  return NodeAround(nest + value);
}

std::string DeepText(int depth) {
  std::string text = "node {\n  name: \"deep\"\n  op: \"NoOp\"\n  attr { key: \"k\" value { ";
  for (int i = 0; i < depth; ++i) text += "func { name: \"f\" attr { key: \"k\" value { ";
  text += "i: 1 ";
  for (int i = 0; i < depth; ++i) text += "} } } ";
  return text + "} }\n}\n";
}

std::string DeepVariant(int depth) {
  std::vector<std::string> heads;
  size_t size = 0;
  for (int i = 0; i < depth; ++i) {
    for (const uint32_t number :
         {3, 15}) {  // from the inside: VariantTensorDataProto.tensors, TensorProto.variant_val
      std::string head;
      WireWriter writer(&head);
      writer.RawVarint(number << 3 | 2);
      writer.RawVarint(size);
      size += head.size();
      heads.push_back(std::move(head));
    }
  }
  std::string nest;
  nest.reserve(size);
  for (auto head = heads.rbegin(); head != heads.rend(); ++head) nest += *head;
  return NodeAround(Field(8, nest));
}

std::string DeepGroup(int depth) {
  return std::string(static_cast<size_t>(depth), '\x63') +
         std::string(static_cast<size_t>(depth), '\x64');
}

int FuzzIterations(int fallback) {
  const char* wanted = std::getenv("TENON_FUZZ_ITERATIONS");
  return wanted == nullptr ? fallback : std::max(1, std::atoi(wanted));
}

}  // namespace tenon::testing
