#include "plugin/pjrt/element_type.h"

#include <algorithm>
#include <iterator>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace tenon::pjrt {
namespace {

struct TypePair {
  DataType here;
  abi::ElementType there;
};
// Quantized types are integers to PJRT. From there the plain integer comes back, as it stands
// first.
constexpr TypePair kTypes[] = {
    {DataType::kBool, abi::kPred},
    {DataType::kInt8, abi::kS8},
    {DataType::kInt16, abi::kS16},
    {DataType::kInt32, abi::kS32},
    {DataType::kInt64, abi::kS64},
    {DataType::kUint8, abi::kU8},
    {DataType::kUint16, abi::kU16},
    {DataType::kUint32, abi::kU32},
    {DataType::kUint64, abi::kU64},
    {DataType::kHalf, abi::kF16},
    {DataType::kFloat, abi::kF32},
    {DataType::kDouble, abi::kF64},
    {DataType::kBfloat16, abi::kBF16},
    {DataType::kComplex64, abi::kC64},
    {DataType::kComplex128, abi::kC128},
    {DataType::kFloat8E5m2, abi::kF8E5M2},
    {DataType::kFloat8E4m3fn, abi::kF8E4M3FN},
    {DataType::kFloat8E4m3b11fnuz, abi::kF8E4M3B11FNUZ},
    {DataType::kFloat8E5m2fnuz, abi::kF8E5M2FNUZ},
    {DataType::kFloat8E4m3fnuz, abi::kF8E4M3FNUZ},
    {DataType::kQint8, abi::kS8},
    {DataType::kQuint8, abi::kU8},
    {DataType::kQint16, abi::kS16},
    {DataType::kQuint16, abi::kU16},
    {DataType::kQint32, abi::kS32},
};

}  // namespace

absl::StatusOr<abi::ElementType> ToElementType(DataType type) {
  const auto* const it = std::find_if(std::begin(kTypes), std::end(kTypes),
                                      [&](const TypePair& pair) { return pair.here == type; });
  if (it != std::end(kTypes)) return it->there;
  return absl::UnimplementedError(
      absl::StrCat("no PJRT buffer holds elements of type ", DataTypeName(type)));
}

DataType ToDataType(abi::ElementType type) {
  const auto* const it = std::find_if(std::begin(kTypes), std::end(kTypes),
                                      [&](const TypePair& pair) { return pair.there == type; });
  return it == std::end(kTypes) ? DataType::kInvalid : it->here;
}

}  // namespace tenon::pjrt
