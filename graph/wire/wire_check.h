// Checks GraphDef messages that stay bytes: finds what protobuf's own parser would refuse, without
// building message objects.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tenon {

// The messages of the GraphDef family whose fields nest or carry text.
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
};

// The first fault of a message.
struct WireFault {
  std::string_view at;  // an empty view at the place of the fault
  std::string message;  // "malformed AttrValue", "messages are nested more than 100 deep" …
};

// A limit on the nesting of messages.
struct DepthLimit {
  int64_t most;
  int64_t around = 0;  // the messages around the checked one, which count
};

// The message for a file whose messages are nested more than `most` deep.
std::string TooDeep(int64_t most);

// Returns the first fault of `bytes` as a message of this type; nullopt if there is none. Does not
// recurse. Takes linear time; does not read blobs (tensor_content, byte strings).
std::optional<WireFault> CheckWire(WireMessage type, std::string_view bytes, DepthLimit depth);

// Whether `text` is valid UTF-8, as protobuf demands of string fields.
bool IsUtf8(std::string_view text);

}  // namespace tenon
