// Programs compare the names of functions, and files hold them. So the hash is TensorFlow's own,
// down to the order in which parts are mixed: MurmurHash2 of 64 bits over names and serialized
// messages.
#include "executor/api/graph/function_hash.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <string_view>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "graph/tensor/tensor_proto.h"
#include "graph/wire/wire.h"

namespace tenon::api {
namespace {

constexpr uint64_t kSeed = 0xDECAFCAFFE;

uint64_t Hash(std::string_view bytes, uint64_t seed = kSeed) {
  constexpr uint64_t kMultiplier = 0xc6a4a7935bd1e995;
  constexpr int kShift = 47;
  uint64_t h = seed ^ (bytes.size() * kMultiplier);
  while (bytes.size() >= 8) {
    uint64_t k;
    std::memcpy(&k, bytes.data(), 8);
    k *= kMultiplier;
    k ^= k >> kShift;
    h = (h ^ (k * kMultiplier)) * kMultiplier;
    bytes.remove_prefix(8);
  }
  if (!bytes.empty()) {
    uint64_t rest = 0;
    std::memcpy(&rest, bytes.data(), bytes.size());
    h = (h ^ rest) * kMultiplier;
  }
  h = (h ^ (h >> kShift)) * kMultiplier;
  return h ^ (h >> kShift);
}

uint64_t Combine(uint64_t a, uint64_t b) {
  return a ^ (b + 0x9e3779b97f4a7800 + (a << 10) + (a >> 4));
}

uint64_t HashOfMessage(const google::protobuf::MessageLite& message, uint64_t seed = kSeed) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream out(&stream);
    out.SetSerializationDeterministic(true);
    message.SerializeToCodedStream(&out);
  }
  return Hash(bytes, seed);
}

// The elements as tensor_content holds them: those of strings are all lengths, then all bytes.
std::string ContentOf(const Tensor& tensor) {
  if (tensor.dtype() != DataType::kString)
    return std::string(static_cast<const char*>(tensor.data()), tensor.bytes());
  std::string content;
  WireWriter lengths(&content);
  for (int64_t i = 0; i < tensor.num_elements(); ++i) lengths.RawVarint(tensor.StringAt(i).size());
  for (int64_t i = 0; i < tensor.num_elements(); ++i) content.append(tensor.StringAt(i));
  return content;
}

// Whatever the form in which the tensor is written.
uint64_t HashOfTensor(const pb::TensorProto& proto) {
  const absl::StatusOr<Tensor> tensor = TensorFromWire(proto.SerializeAsString());
  if (!tensor.ok()) return HashOfMessage(proto);
  pb::TensorProto whole;
  whole.set_dtype(proto.dtype());
  *whole.mutable_tensor_shape() = proto.tensor_shape();
  whole.set_tensor_content(ContentOf(*tensor));
  return HashOfMessage(whole);
}

// Functions in attributes are nested as deep as messages may be.
uint64_t HashOfAttr(const pb::AttrValue& value) {  // NOLINT(misc-no-recursion)
  if (value.has_tensor()) return HashOfTensor(value.tensor());
  if (!value.has_func()) return HashOfMessage(value);
  uint64_t h = Hash(value.func().name());
  const std::map<std::string, pb::AttrValue> attrs(value.func().attr().begin(),
                                                   value.func().attr().end());
  for (const auto& [name, attr] : attrs) h = Combine(HashOfAttr(attr), Hash(name, h));
  return h;
}

// Values that are not set count as empty ones.
uint64_t HashOfAttrDef(const pb::OpDef::AttrDef& attr) {
  uint64_t h = Hash(attr.type(), Hash(attr.name()));
  h = Hash(attr.description(), Combine(HashOfAttr(attr.default_value()), h));
  h = Combine(static_cast<uint64_t>(attr.has_minimum()), h);
  h = Combine(static_cast<uint64_t>(attr.minimum()), h);
  return Combine(HashOfAttr(attr.allowed_values()), h);
}

uint64_t HashOfSignature(const pb::OpDef& op) {
  std::map<std::string, const pb::OpDef::AttrDef*> attrs;
  for (const pb::OpDef::AttrDef& attr : op.attr()) attrs[attr.name()] = &attr;
  uint64_t h = kSeed;
  for (const auto& [name, attr] : attrs) h = Combine(HashOfAttrDef(*attr), Hash(name, h));
  const std::set<std::string> control(op.control_output().begin(), op.control_output().end());
  for (const std::string& name : control) h = Combine(h, Hash(name));
  pb::OpDef bare = op;
  bare.clear_attr();
  bare.clear_control_output();
  return HashOfMessage(bare, h);
}

uint64_t HashOfNode(const pb::NodeDef& node) {
  uint64_t h = Hash(node.device(), Hash(node.op(), Hash(node.name())));
  std::set<std::string> control;
  for (const std::string& input : node.input()) {
    if (absl::StartsWith(input, "^")) {
      control.insert(input);
    } else {
      h = Hash(input, h);
    }
  }
  for (const std::string& input : control) h = Hash(input, h);
  std::map<std::string, const pb::AttrValue*> attrs;
  for (const auto& [name, value] : node.attr()) {
    if (!absl::StartsWith(name, "_")) attrs[name] = &value;
  }
  for (const auto& [name, value] : attrs) h = Combine(HashOfAttr(*value), Hash(name, h));
  return h;
}

uint64_t HashOfNodes(const pb::FunctionDef& function) {
  std::map<std::string, const pb::NodeDef*> nodes;
  for (const pb::NodeDef& node : function.node_def()) nodes[node.name()] = &node;
  uint64_t h = kSeed;
  for (const auto& [name, node] : nodes) h = Combine(HashOfNode(*node), Hash(name, h));
  return h;
}

template <typename Map>
uint64_t HashOfTexts(const Map& map, uint64_t h) {
  const std::map<std::string, std::string> sorted(map.begin(), map.end());
  for (const auto& [name, text] : sorted) h = Hash(text, Hash(name, h));
  return h;
}

uint64_t HashOfFunction(const pb::FunctionDef& function) {
  uint64_t h = HashOfSignature(function.signature());
  const std::map<std::string, pb::AttrValue> attrs(function.attr().begin(), function.attr().end());
  for (const auto& [name, attr] : attrs) h = Combine(HashOfAttr(attr), Hash(name, h));
  h = Combine(HashOfNodes(function), h);
  return HashOfTexts(function.control_ret(), HashOfTexts(function.ret(), h));
}

}  // namespace

std::string FunctionHashText(const pb::FunctionDef& function) {
  const uint64_t hash = HashOfFunction(function);
  std::string text;
  absl::WebSafeBase64Escape({reinterpret_cast<const char*>(&hash), sizeof(hash)}, &text);
  // Neither character may stand in the name of an op.
  return absl::StrReplaceAll(text, {{"-", "a"}, {"_", "A"}, {"=", ""}});
}

}  // namespace tenon::api
