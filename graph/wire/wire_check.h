// Checks GraphDef messages that stay bytes: finds what protobuf's own parser would refuse, without
// building message objects.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tenon {

// The messages of the GraphDef family that have fields with messages, text or packed numbers.
enum class WireMessage : uint8_t {
  kOpaque,  // only the framing of its fields is checked
  kNodeDef,
  kAttrEntry,  // an entry of map<string, AttrValue>
  kAttrValue,
  kAttrList,
  kTensorShape,
  kShapeDim,
  kTensor,
  kNameAttrList,
  kVariant,
  kResource,
  kDtypeAndShape,
  kFullType,
  kStrings12,  // fields 1 and 2 are text: map<string, string>, ExperimentalDebugInfo, GradientDef
  kFunctionLibrary,
  kFunctionDef,
  kArgAttrsEntry,
  kArgAttrs,
  kOpDef,
  kArgDef,
  kAttrDef,
  kOpDeprecation,
};

// The first fault of a message, in the order of the bytes.
struct WireFault {
  std::string_view at;  // an empty view of the checked bytes, at the place of the fault
  std::string message;  // "malformed AttrValue", "messages are nested more than 100 deep" …
};

// A limit on the nesting of messages. The checked message is one level itself, but is let pass at
// any level: only messages within it are refused.
struct DepthLimit {
  int64_t most;        // levels that are allowed
  int64_t around = 0;  // levels around the checked message
};

// Returns the message for a file whose messages are nested more than `most` deep.
std::string TooDeep(int64_t most);

// Returns the first fault of `bytes` as a message of this type; nullopt if there is none. A fault
// is malformed framing, text that is not UTF-8, packed numbers that do not come out even, or
// nesting beyond `depth`. Fields that the type does not know, or that have another wire type than
// it says, may hold anything. Does not recurse. Takes linear time; does not read blobs
// (tensor_content, byte strings). Thread-safe.
std::optional<WireFault> CheckWire(WireMessage type, std::string_view bytes, DepthLimit depth);

// Whether `text` is valid UTF-8, as protobuf demands of string fields.
bool IsUtf8(std::string_view text);

}  // namespace tenon
