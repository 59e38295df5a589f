// Decides, without parsing into objects, whether protobuf would accept the bytes of a message: wire
// types, nested messages, UTF-8, packed numbers. Tables say for each message what its fields hold.

#include "graph/wire/wire_check.h"

#include <array>
#include <cstring>
#include <optional>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "graph/wire/wire.h"

namespace tenon {
namespace {

enum class Rule : uint8_t { kMessage, kText, kPackedVarint, kPacked32, kPacked64 };

// The rule for a field of wire type kBytes. Fields without a rule may hold anything.
struct FieldRule {
  uint8_t number;
  Rule rule;
  WireMessage message = WireMessage::kOpaque;
};

struct MessageRules {
  std::string_view name;
  absl::Span<const FieldRule> fields;
};

using M = WireMessage;
using R = Rule;

// Field numbers are those of TensorFlow's .proto files. Fields of type `bytes` have no rule: any
// bytes are good there.
constexpr FieldRule kNodeDefFields[] = {{1, R::kText},
                                        {2, R::kText},
                                        {3, R::kText},
                                        {4, R::kText},
                                        {5, R::kMessage, M::kAttrEntry},
                                        {6, R::kMessage, M::kStrings12},
                                        {7, R::kMessage, M::kFullType}};
constexpr FieldRule kAttrEntryFields[] = {{1, R::kText}, {2, R::kMessage, M::kAttrValue}};
constexpr FieldRule kAttrValueFields[] = {{1, R::kMessage, M::kAttrList},
                                          {7, R::kMessage, M::kTensorShape},
                                          {8, R::kMessage, M::kTensor},
                                          {9, R::kText},
                                          {10, R::kMessage, M::kNameAttrList}};
constexpr FieldRule kAttrListFields[] = {{3, R::kPackedVarint},
                                         {4, R::kPacked32},
                                         {5, R::kPackedVarint},
                                         {6, R::kPackedVarint},
                                         {7, R::kMessage, M::kTensorShape},
                                         {8, R::kMessage, M::kTensor},
                                         {9, R::kMessage, M::kNameAttrList}};
constexpr FieldRule kTensorShapeFields[] = {{2, R::kMessage, M::kShapeDim}};
constexpr FieldRule kShapeDimFields[] = {{2, R::kText}};
constexpr FieldRule kTensorFields[] = {{2, R::kMessage, M::kTensorShape},
                                       {5, R::kPacked32},
                                       {6, R::kPacked64},
                                       {7, R::kPackedVarint},
                                       {9, R::kPacked32},
                                       {10, R::kPackedVarint},
                                       {11, R::kPackedVarint},
                                       {12, R::kPacked64},
                                       {13, R::kPackedVarint},
                                       {14, R::kMessage, M::kResource},
                                       {15, R::kMessage, M::kVariant},
                                       {16, R::kPackedVarint},
                                       {17, R::kPackedVarint}};
constexpr FieldRule kNameAttrListFields[] = {{1, R::kText}, {2, R::kMessage, M::kAttrEntry}};
constexpr FieldRule kVariantFields[] = {{1, R::kText}, {3, R::kMessage, M::kTensor}};
constexpr FieldRule kResourceFields[] = {{1, R::kText},
                                         {2, R::kText},
                                         {3, R::kText},
                                         {5, R::kText},
                                         {6, R::kMessage, M::kDtypeAndShape}};
constexpr FieldRule kDtypeAndShapeFields[] = {{2, R::kMessage, M::kTensorShape}};
constexpr FieldRule kFullTypeFields[] = {{2, R::kMessage, M::kFullType}, {3, R::kText}};
constexpr FieldRule kStrings12Fields[] = {{1, R::kText}, {2, R::kText}};
constexpr FieldRule kFunctionLibraryFields[] = {{1, R::kMessage, M::kFunctionDef},
                                                {2, R::kMessage, M::kStrings12},
                                                {3, R::kMessage, M::kStrings12}};
constexpr FieldRule kFunctionDefFields[] = {
    {1, R::kMessage, M::kOpDef},     {3, R::kMessage, M::kNodeDef},
    {4, R::kMessage, M::kStrings12}, {5, R::kMessage, M::kAttrEntry},
    {6, R::kMessage, M::kStrings12}, {7, R::kMessage, M::kArgAttrsEntry},
    {8, R::kMessage, M::kOpaque}};
constexpr FieldRule kArgAttrsEntryFields[] = {{2, R::kMessage, M::kArgAttrs}};
constexpr FieldRule kArgAttrsFields[] = {{1, R::kMessage, M::kAttrEntry}};
constexpr FieldRule kOpDefFields[] = {{1, R::kText},
                                      {2, R::kMessage, M::kArgDef},
                                      {3, R::kMessage, M::kArgDef},
                                      {4, R::kMessage, M::kAttrDef},
                                      {5, R::kText},
                                      {6, R::kText},
                                      {8, R::kMessage, M::kOpDeprecation},
                                      {20, R::kText}};
constexpr FieldRule kArgDefFields[] = {{1, R::kText},
                                       {2, R::kText},
                                       {4, R::kText},
                                       {5, R::kText},
                                       {6, R::kText},
                                       {7, R::kMessage, M::kDtypeAndShape},
                                       {17, R::kMessage, M::kFullType}};
constexpr FieldRule kAttrDefFields[] = {{1, R::kText},
                                        {2, R::kText},
                                        {3, R::kMessage, M::kAttrValue},
                                        {4, R::kText},
                                        {7, R::kMessage, M::kAttrValue}};
constexpr FieldRule kOpDeprecationFields[] = {{2, R::kText}};

// In the order of WireMessage.
constexpr std::array<MessageRules, 22> kRules = {{
    {"message", {}},
    {"NodeDef", kNodeDefFields},
    {"attr entry", kAttrEntryFields},
    {"AttrValue", kAttrValueFields},
    {"AttrValue list", kAttrListFields},
    {"TensorShapeProto", kTensorShapeFields},
    {"TensorShapeProto dimension", kShapeDimFields},
    {"TensorProto", kTensorFields},
    {"NameAttrList", kNameAttrListFields},
    {"VariantTensorDataProto", kVariantFields},
    {"ResourceHandleProto", kResourceFields},
    {"DtypeAndShape", kDtypeAndShapeFields},
    {"FullTypeDef", kFullTypeFields},
    {"entry of two strings", kStrings12Fields},
    {"FunctionDefLibrary", kFunctionLibraryFields},
    {"FunctionDef", kFunctionDefFields},
    {"arg_attr entry", kArgAttrsEntryFields},
    {"ArgAttrs", kArgAttrsFields},
    {"OpDef", kOpDefFields},
    {"OpDef argument", kArgDefFields},
    {"OpDef attribute", kAttrDefFields},
    {"OpDeprecation", kOpDeprecationFields},
}};

const FieldRule* FindRule(const MessageRules& rules, uint32_t number) {
  // Most messages have a rule for each number from 1 on.
  const size_t guess = number - 1;
  if (guess < rules.fields.size() && rules.fields[guess].number == number)
    return &rules.fields[guess];
  for (const FieldRule& rule : rules.fields) {
    if (rule.number == number) return &rule;
  }
  return nullptr;
}

bool PackedOk(Rule rule, std::string_view bytes) {
  if (rule == Rule::kPacked32) return bytes.size() % 4 == 0;
  if (rule == Rule::kPacked64) return bytes.size() % 8 == 0;
  // Every varint ends within ten bytes: only runs of continuation bits need a look.
  size_t run = 0;
  for (const char b : bytes) {
    run = (static_cast<uint8_t>(b) & 0x80) != 0 ? run + 1 : 0;
    if (run == 10) return false;
  }
  return run == 0;
}

struct Open {
  WireReader reader;
  WireMessage type;
  std::string_view bytes;
};

}  // namespace

bool IsUtf8(std::string_view text) {
  size_t i = 0;
  const auto follows = [&](size_t n) {
    if (text.size() - i <= n) return false;
    for (size_t k = 1; k <= n; ++k) {
      if ((static_cast<uint8_t>(text[i + k]) & 0xc0) != 0x80) return false;
    }
    return true;
  };
  while (i < text.size()) {
    // Eight characters of ASCII at a time.
    uint64_t eight;
    if (text.size() - i >= sizeof(eight)) {
      std::memcpy(&eight, text.data() + i, sizeof(eight));
      if ((eight & 0x8080808080808080u) == 0) {
        i += sizeof(eight);
        continue;
      }
    }
    const auto b = static_cast<uint8_t>(text[i]);
    if (b < 0x80) {
      ++i;
      continue;
    }
    const size_t n = b >= 0xf0 ? 3 : b >= 0xe0 ? 2 : 1;
    // 0xc0 and 0xc1 would begin overlong forms, and 0xf5 code points above U+10FFFF.
    if (b < 0xc2 || b > 0xf4 || !follows(n)) return false;
    const auto second = static_cast<uint8_t>(text[i + 1]);
    // Refuses overlong forms, surrogates and code points above U+10FFFF.
    if ((b == 0xe0 && second < 0xa0) || (b == 0xed && second > 0x9f) ||
        (b == 0xf0 && second < 0x90) || (b == 0xf4 && second > 0x8f)) {
      return false;
    }
    i += n + 1;
  }
  return true;
}

std::string TooDeep(int64_t most) {
  return absl::StrCat("messages are nested more than ", most, " deep (--max-depth)");
}

std::optional<WireFault> CheckWire(WireMessage type, std::string_view bytes, DepthLimit depth) {
  absl::InlinedVector<Open, 8> open;
  open.push_back({WireReader(bytes), type, bytes});
  WireField f;
  while (!open.empty()) {
    Open& top = open.back();
    const MessageRules& rules = kRules[static_cast<size_t>(top.type)];
    if (!top.reader.Next(&f)) {
      if (!top.reader.ok()) {
        return WireFault{top.bytes.substr(top.reader.offset(), 0),
                         absl::StrCat("malformed ", rules.name)};
      }
      open.pop_back();
      continue;
    }
    const FieldRule* rule = f.type == WireType::kBytes ? FindRule(rules, f.number) : nullptr;
    if (rule == nullptr) continue;
    if (rule->rule == Rule::kMessage) {
      // `open` is a stack on the heap, so depth costs memory, not stack; the limit is the user's.
      if (depth.around + static_cast<int64_t>(open.size()) >= depth.most)
        return WireFault{f.raw.substr(0, 0), TooDeep(depth.most)};
      open.push_back({WireReader(f.bytes), rule->message, f.bytes});
    } else if (rule->rule == Rule::kText ? !IsUtf8(f.bytes) : !PackedOk(rule->rule, f.bytes)) {
      return WireFault{f.raw.substr(0, 0),
                       absl::StrCat(rule->rule == Rule::kText ? "text that is not UTF-8 in field "
                                                              : "malformed numbers in field ",
                                    f.number, " of ", rules.name)};
    }
  }
  return std::nullopt;
}

}  // namespace tenon
