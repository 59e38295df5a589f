// One attribute's value, as a view of its AttrValue wire bytes. Decoded on demand; never owns.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/tensor/dtype.h"
#include "graph/tensor/shape.h"

namespace tenon {

enum class AttrKind : uint8_t {
  kNone,  // no value set
  kString,
  kInt,
  kFloat,
  kBool,
  kType,
  kShape,
  kTensor,
  kFunc,
  kPlaceholder,
  kList,
};

// "int", "type" … as error messages and OpDef specs name them.
std::string_view AttrKindName(AttrKind kind);

// A name with attributes of its own: the value of a `func` attribute.
struct FuncAttr {
  std::string_view name;
  std::string_view attrs_wire;  // the NameAttrList itself, raw: the name and the `attr` map entries
};

// A cheap view; valid as long as the bytes behind it (a graph's storage, or the string that made
// it). Accessors return INVALID_ARGUMENT "has type 'int' where 'float' is expected" for a value of
// another kind, and DATA_LOSS for malformed bytes. Message texts do not name the attribute: the
// caller knows it.
class AttrValue {
 public:
  AttrValue() = default;
  explicit AttrValue(std::string_view wire) : wire_(wire) {}

  std::string_view wire() const { return wire_; }
  AttrKind kind() const;

  absl::StatusOr<std::string_view> AsString() const;
  absl::StatusOr<int64_t> AsInt() const;
  absl::StatusOr<float> AsFloat() const;
  absl::StatusOr<bool> AsBool() const;
  absl::StatusOr<DataType> AsType() const;
  absl::StatusOr<PartialShape> AsShape() const;
  // The TensorProto's wire bytes; graph/tensor/tensor_proto.h decodes them.
  absl::StatusOr<std::string_view> AsTensorWire() const;
  absl::StatusOr<FuncAttr> AsFunc() const;

  // An empty list has no element kind: each of these accepts it, and no value at all, which is an
  // empty list for TensorFlow.
  absl::StatusOr<std::vector<std::string_view>> AsStringList() const;
  absl::StatusOr<std::vector<int64_t>> AsIntList() const;
  absl::StatusOr<std::vector<float>> AsFloatList() const;
  absl::StatusOr<std::vector<bool>> AsBoolList() const;
  absl::StatusOr<std::vector<DataType>> AsTypeList() const;
  absl::StatusOr<std::vector<PartialShape>> AsShapeList() const;
  absl::StatusOr<std::vector<std::string_view>> AsTensorWireList() const;
  absl::StatusOr<std::vector<FuncAttr>> AsFuncList() const;
  // Kind of a list's elements: kNone when it is empty. `this` must be a list.
  AttrKind list_kind() const;

 private:
  std::string_view wire_;
};

// Wire bytes of new values.
namespace attr {
std::string String(std::string_view v);
std::string Int(int64_t v);
std::string Float(float v);
std::string Bool(bool v);
std::string Type(DataType v);
std::string Shape(const PartialShape& v);
std::string TensorWire(std::string_view tensor_proto);
std::string Func(std::string_view name);
std::string StringList(absl::Span<const std::string_view> v);
std::string IntList(absl::Span<const int64_t> v);
std::string FloatList(absl::Span<const float> v);
std::string BoolList(absl::Span<const bool> v);
std::string TypeList(absl::Span<const DataType> v);
std::string ShapeList(absl::Span<const PartialShape> v);
}  // namespace attr

}  // namespace tenon
