// Well-formedness of GraphDef messages that are kept as bytes: what protobuf's own parser would
// refuse, found without building message objects.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tenon {

// Messages of the GraphDef family whose fields nest or carry text.
enum class WireMessage : uint8_t {
  kOpaque,  // only the framing of its fields is checked
  kNodeDef,
  kAttrEntry,  // of map<string, AttrValue>
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

struct WireFault {
  std::string_view at;  // where in the checked bytes (empty view with a valid pointer)
  std::string message;  // "malformed AttrValue", "messages are nested more than 100 deep" …
};

// How many messages may be inside each other.
struct DepthLimit {
  int64_t most;
  int64_t around = 0;  // those that the checked one is inside of, which count
};

// What is wrong with a file of which messages are deeper inside each other.
std::string TooDeep(int64_t most);

// The first fault of `bytes` as a message of this type. Not recursive. Time is linear; blobs
// (tensor_content, strings of bytes) are not read.
std::optional<WireFault> CheckWire(WireMessage type, std::string_view bytes, DepthLimit depth);

// Whether protobuf would accept `text` in a string field.
bool IsUtf8(std::string_view text);

}  // namespace tenon
