// The numbers of the fields of protobuf messages that this folder reads and writes, and the one
// message that several of its files read whole. Private to graph/functions/.
#pragma once

#include <cstdint>
#include <string_view>

namespace tenon {

// FunctionDef, and the ArgAttrs in its map arg_attr.
inline constexpr uint32_t kSignature = 1, kFunctionNode = 3, kFunctionRet = 4, kFunctionAttr = 5;
inline constexpr uint32_t kFunctionControlRet = 6, kArgAttr = 7, kArgUniqueId = 8;
inline constexpr uint32_t kArgAttrsAttr = 1;
// FunctionDefLibrary.
inline constexpr uint32_t kLibraryFunction = 1, kGradient = 2, kRegisteredGradient = 3;
// GradientDef (a function, its gradient), RegisteredGradient (a gradient, the name nodes give it).
inline constexpr uint32_t kPairFirst = 1, kPairSecond = 2;
// OpDef.
inline constexpr uint32_t kOpName = 1, kInputArg = 2, kOutputArg = 3;
// ArgDef.
inline constexpr uint32_t kArgName = 1, kArgType = 3;
// NodeDef.
inline constexpr uint32_t kNodeName = 1, kNodeOp = 2, kNodeInput = 3, kNodeDevice = 4;
inline constexpr uint32_t kNodeAttr = 5, kNodeDebugInfo = 6;
// Map entries.
inline constexpr uint32_t kKey = 1, kValue = 2;
// AttrValue, AttrValue.ListValue and NameAttrList.
inline constexpr uint32_t kAttrList = 1, kAttrPlaceholder = 9, kAttrFunc = 10, kListFunc = 9;
inline constexpr uint32_t kFuncName = 1, kFuncAttr = 2;

// The two names of a GradientDef or a RegisteredGradient, as views of the message. A name that the
// message lacks is empty.
struct GradientPair {
  std::string_view first, second;
};
GradientPair ParseGradientPair(std::string_view wire);

}  // namespace tenon
