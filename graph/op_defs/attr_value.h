// The value of an attribute, as a view of AttrValue wire bytes. Accessors decode on demand.
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
  kNone,  // the value is not set
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

// Returns "int", "type" …, the name in error messages and OpDef specs.
std::string_view AttrKindName(AttrKind kind);

// A function with attributes of its own: the value of a `func` attribute. Views of the attribute's
// bytes.
struct FuncAttr {
  std::string_view name;
  std::string_view attrs_wire;  // the bytes of the whole NameAttrList
};

// A cheap view, valid as long as its bytes: a graph's storage, or the string that made it.
// Thread-safe. Accessors decode at each call. Of several values in the bytes the last alone counts;
// several messages of one kind are not merged.
// INVALID_ARGUMENT "has a value of type 'int' where 'float' is expected" for a value of another
// kind, for no value, for bytes that are no AttrValue, and for a data type or shape that does not
// exist. DT_INVALID counts as a data type. DATA_LOSS for malformed bytes within a list, shape or
// function. Messages do not name the attribute: the caller adds the name.
class AttrValue {
 public:
  AttrValue() = default;
  explicit AttrValue(std::string_view wire) : wire_(wire) {}

  // The AttrValue bytes; empty where nothing is set.
  std::string_view wire() const { return wire_; }
  // kNone where nothing is set, and for malformed bytes.
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
  // The name of the attribute of a call that fills this one in.
  absl::StatusOr<std::string_view> AsPlaceholder() const;

  // Return the elements in order. An empty list has no element kind, so each of these accepts it.
  // Each also accepts empty bytes: for TensorFlow an attribute without a value is an empty list.
  absl::StatusOr<std::vector<std::string_view>> AsStringList() const;
  absl::StatusOr<std::vector<int64_t>> AsIntList() const;
  absl::StatusOr<std::vector<float>> AsFloatList() const;
  absl::StatusOr<std::vector<bool>> AsBoolList() const;
  absl::StatusOr<std::vector<DataType>> AsTypeList() const;
  absl::StatusOr<std::vector<PartialShape>> AsShapeList() const;
  absl::StatusOr<std::vector<std::string_view>> AsTensorWireList() const;
  absl::StatusOr<std::vector<FuncAttr>> AsFuncList() const;
  // The kind of the elements of a list; kNone for an empty list and for other values.
  AttrKind list_kind() const;

 private:
  std::string_view wire_;
};

// Return the AttrValue bytes of a new value. An AttrValue of the bytes is valid as long as the
// string.
namespace attr {
std::string String(std::string_view v);
std::string Int(int64_t v);
std::string Float(float v);
std::string Bool(bool v);
std::string Type(DataType v);
std::string Shape(const PartialShape& v);
std::string TensorWire(std::string_view tensor_proto);
std::string Func(std::string_view name);
std::string Placeholder(std::string_view name);
std::string StringList(absl::Span<const std::string_view> v);
std::string IntList(absl::Span<const int64_t> v);
std::string FloatList(absl::Span<const float> v);
std::string BoolList(absl::Span<const bool> v);
std::string TypeList(absl::Span<const DataType> v);
std::string FuncList(absl::Span<const std::string_view> names);
std::string ShapeList(absl::Span<const PartialShape> v);
}  // namespace attr

}  // namespace tenon
